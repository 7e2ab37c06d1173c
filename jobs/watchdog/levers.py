"""Levers that have outlived their end: found by their marks on objects, or by a configuration, and put back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import ValidationError

from connectors.kube.cluster import Cluster, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.levers.kubernetes_field import KubernetesFieldLeverConfig, MarkedField, marked_fields
from connectors.levers.recording import RecordingLever
from connectors.levers.registry import open_levers
from forecaster.errors import ConfigRejected, TargetError
from forecaster.levers import shown
from forecaster.ports import Lever
from jobs.give_back import Released, tried

PREFIX = "lever:"
"""What a kind of object is written after whose levers are looked for: `lever:GROUP/VERSION/PLURAL`."""
_NOWHERE = MarkedField(namespace="none", name="none", mark="", field="spec.none", until=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverLook:
    """What one look at levers came to. good: those whose end has not come. expired: by name."""

    good: int = 0
    expired: Mapping[str, Lever]
    failures: tuple[Released, ...] = ()


def lever_kind(text: str) -> ObjectRef:
    """The objects that `lever:GROUP/VERSION/PLURAL` names, in no namespace yet. Raises ConfigRejected."""
    api_version, _, plural = text.removeprefix(PREFIX).rpartition("/")
    try:
        ref = _config(api_version, plural, _NOWHERE, KubeConnection()).ref
    except ValidationError as error:
        example = "lever:gateway.envoyproxy.io/v1alpha1/backendtrafficpolicies, or lever:v1/configmaps"
        raise ConfigRejected(f"{text} names no kind of object: write lever:GROUP/VERSION/PLURAL, as in {example}") from error
    return replace(ref, namespace="", name="")


def look_at_levers(kinds: Sequence[ObjectRef], namespaces: Sequence[str], connection: KubeConnection, now: datetime) -> LeverLook:
    """Find the fields that we hold; a namespace or kind that cannot be listed stops no other.

    now: the instant that the end is compared with; an earlier one than the clock's is a grace.
    """
    cluster, good = Cluster(connection), 0
    configs: dict[str, KubernetesFieldLeverConfig] = {}
    failures: list[Released] = []
    for kind in kinds:
        for namespace in namespaces or ("",):
            listed = replace(kind, namespace=namespace)
            try:
                found = marked_fields(listed, cluster)
            except TargetError as error:
                failures.append(Released(sentence=f"levers on {listed} were not looked through: {error}", failed=True))
                continue
            failures += [_unread(listed, one) for one in found if one.field is None]
            over = [one for one in found if one.until is not None and one.until <= now]
            good += sum(one.until is not None and one.until > now for one in found)
            opened = [_config(_api_version(kind), kind.plural, one, connection) for one in over]
            configs |= {config.lever: config for config in opened}
    return LeverLook(good=good, expired=open_levers(configs), failures=tuple(failures))


def put_back(levers: Mapping[str, Lever], now: datetime, *, rehearsed: bool) -> tuple[Released, ...]:
    """Put each back that has outlived its end; one that fails stops no other. rehearsed: nothing is written."""
    hands = {name: RecordingLever(lever) if rehearsed else lever for name, lever in levers.items()}
    outcomes = (put_back_expired(name, lever, now) for name, lever in hands.items())
    return tuple(outcome for outcome in outcomes if outcome is not None)


def put_back_expired(name: str, lever: Lever, now: datetime) -> Released | None:
    """Put the original back where the end has come; None where it has not, or where we hold nothing."""

    def once() -> Released | None:
        seen = lever.observe(now)
        if seen.until is None or now < seen.until:
            return None
        moved = lever.release(seen)
        told = "would be put back" if isinstance(lever, RecordingLever) else "put back"
        note = "" if moved.note is None else f"; {moved.note}"
        return Released(sentence=f"{name}: {told}, {shown(moved.before)} -> {shown(moved.after)}{note}", failed=False)

    return tried(name, once)


def _config(api_version: str, plural: str, one: MarkedField, connection: KubeConnection) -> KubernetesFieldLeverConfig:
    return KubernetesFieldLeverConfig(
        type="kubernetes-field",
        api_version=api_version,
        kind="ConfigMap" if plural == "configmaps" else plural.capitalize(),
        plural=plural,
        namespace=one.namespace or None,
        name=one.name,
        field=one.field or "",
        cluster=connection,
    )


def _api_version(kind: ObjectRef) -> str:
    return f"{kind.group}/{kind.version}" if kind.group else kind.version


def _unread(listed: ObjectRef, one: MarkedField) -> Released:
    where = f"{listed.resource} {one.namespace}/{one.name}" if one.namespace else f"{listed.resource} {one.name}"
    told = f"the annotation {one.mark} of {where} does not say what to put back: set the field right and remove the annotation"
    return Released(sentence=told, failed=True)
