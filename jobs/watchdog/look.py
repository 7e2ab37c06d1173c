"""One look of the watchdog: find what carries our marks, and give back what has outlived them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.kube.connection import KubeConnection
from connectors.targets.marked import Marked, marked
from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import Clients, Target
from forecaster.errors import TargetError, TargetMissing
from jobs.give_back import Released, give_back_expired
from jobs.watchdog.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which objects are looked at. namespaces: empty = all. lenient: a kind that the API server does not serve has no objects."""

    kinds: tuple[Kind, ...]
    namespaces: tuple[str, ...]
    cluster: KubeConnection
    lenient: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look came to. good: objects on which our word still holds. expired: those on which it does not, by name."""

    good: int
    expired: Mapping[str, Target]
    failures: tuple[Released, ...]


def look(where: Where, now: datetime) -> Look:
    """Find the objects that carry our marks; a namespace or kind that cannot be listed stops no other.

    now: the instant that valid-until is compared with; an earlier one than the clock's is a grace.
    """
    clients, good, failures = Clients(), 0, list[Released]()
    expired: dict[str, Target] = {}
    for kind in where.kinds:
        for namespace in where.namespaces or ("",):
            try:
                found = _found(kind, namespace, where, clients, now)
            except TargetError as error:
                place = f" in namespace {namespace}" if namespace else ""
                failures.append(Released(sentence=f"{kind.name}{place} was not looked through: {error}", failed=True))
                continue
            over = [one for one in found if one.valid_until is None or one.valid_until <= now]
            good += len(found) - len(over)
            targets = [kind.open(one.namespace, one.name, where.cluster, clients) for one in over]
            expired |= {target.name: target for target in targets}
    return Look(good=good, expired=expired, failures=tuple(failures))


def give_back_all(targets: Mapping[str, Target], now: datetime, *, rehearsed: bool) -> tuple[Released, ...]:
    """Put the original back on each that has outlived its valid-until; one that fails stops no other. rehearsed: nothing is written."""
    hands = {name: RecordingTarget(target) if rehearsed else target for name, target in targets.items()}
    outcomes = (give_back_expired(name, target, now) for name, target in hands.items())
    return tuple(outcome for outcome in outcomes if outcome is not None)


def _found(kind: Kind, namespace: str, where: Where, clients: Clients, now: datetime) -> tuple[Marked, ...]:
    listed = replace(kind.listed, namespace=namespace)
    try:
        return marked(listed, clients.cluster(where.cluster), now=now, prefix=kind.mark_prefix)
    except TargetMissing:
        if where.lenient:
            return ()
        raise
