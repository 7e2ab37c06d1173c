"""Who else writes a field of ours, and what to change so that it lets go.

The API server keeps the book of writers in metadata.managedFields, by the name that each gives itself (`kubectl`, `helm`, Argo CD and Flux
give the names below; the Terraform provider is HashiCorp to most objects and Terraform to `kubernetes_manifest`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import FIELD_MANAGER, Json
from connectors.kube.paths import Path, pointer, spell
from connectors.targets.marks import FLOOR

UNKNOWN_WRITER = "an unknown writer"
ANOTHER_FORECASTER = "another Forecaster"

_ARGO = frozenset({"argocd-controller", "argocd-application-controller"})
_FLUX = frozenset({"kustomize-controller", "helm-controller"})
_TRACKING = "argocd.argoproj.io/tracking-id"
_INSTANCES = ("argocd.argoproj.io/instance", "app.kubernetes.io/instance")
_KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/name"
_HELM_RELEASE = "helm.toolkit.fluxcd.io/name"
_RELEASE = "meta.helm.sh/release-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who wrote the field after us, and what to change so that it lets go; None where nobody can say. repeats: it does so by itself."""

    name: str
    remedy: str | None
    repeats: bool = False


@runtime_checkable
class Owned(Protocol):
    """A target that can tell who holds its field beside us."""

    name: str

    def owner(self) -> Writer | None:
        """Who wrote it last, None = we did, or nobody can say. Raises as `ScaleTarget.observe` does."""


def second_writer(value: Json, path: Path, *, mark: str = FLOOR) -> Writer:
    """Who holds the field of an object whose value there is not what we last wrote. mark: the annotation that says what that was."""
    book = _read(value)
    entries = [entry for entry in book.metadata.managed_fields if _owns(entry.fields_v1, path)]
    others = [entry for entry in entries if entry.manager != FIELD_MANAGER]
    # our own name on a value that we did not write is not ours
    ours = ANOTHER_FORECASTER if entries else UNKNOWN_WRITER
    name = max(others, key=lambda entry: entry.time).manager if others else ours
    return Writer(name=name, remedy=remedy(name, value, path, mark=mark))


def owner_of(value: Json, path: Path, *, mark: str = FLOOR) -> Writer | None:
    """Who wrote the field last, as the book has it; None where that is us, or nobody."""
    entries = [entry for entry in _read(value).metadata.managed_fields if _owns(entry.fields_v1, path)]
    last = max(entries, key=lambda entry: (entry.time, entry.manager == FIELD_MANAGER), default=None)
    if last is None or last.manager == FIELD_MANAGER:
        return None
    writing = _writing(last.manager, value, path, mark)
    repeats = last.manager in _ARGO | _FLUX or last.manager.startswith("keda") or bool(writing.book.metadata.owner_references)
    said = _first_said(writing, _SAYINGS[1:])  # what a person set once is no quarrel before there is a floor of ours
    return Writer(name=last.manager, remedy=said, repeats=repeats)


def remedy(manager: str, value: Json, path: Path, *, mark: str = FLOOR) -> str | None:
    """What to change so that the writer of that name lets go of the field, by the writer, else by whose object it is."""
    return _first_said(_writing(manager, value, path, mark), _SAYINGS)


def _writing(manager: str, value: Json, path: Path, mark: str) -> "_Writing":
    api_version, kind = str(value.get("apiVersion", "")), str(value.get("kind", ""))
    return _Writing(manager=manager, path=path, mark=mark, book=_read(value), api_version=api_version, kind=kind)


def _first_said(writing: "_Writing", sayings: tuple[Callable[["_Writing"], str | None], ...]) -> str | None:
    return next((said for said in (say(writing) for say in sayings) if said is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """A writer's name, the field, and what the object tells of its owners."""

    manager: str
    path: Path
    mark: str
    book: "_Object"
    api_version: str
    kind: str

    @property
    def texts(self) -> Mapping[str, str]:
        """Labels and annotations, which tools mark as theirs."""
        return self.book.metadata.labels | self.book.metadata.annotations

    @property
    def group(self) -> str:
        """The API group, "" for the core."""
        return self.api_version.rpartition("/")[0]


def _keda(writing: _Writing) -> str | None:
    owner = next((owner.name for owner in writing.book.metadata.owner_references if owner.kind == "ScaledObject"), None)
    if owner is not None:
        return f"set minReplicaCount of the ScaledObject {owner}, which owns this object, and make the ScaledObject the target"
    return "set minReplicaCount of the ScaledObject and make it the target" if writing.manager.startswith("keda") else None


def _argo(writing: _Writing) -> str | None:
    named = writing.texts.get(_TRACKING, "").partition(":")[0] or next(
        (writing.texts[key] for key in _INSTANCES if key in writing.texts), ""
    )
    if writing.manager not in _ARGO and _TRACKING not in writing.texts:
        return None
    entry = f'{{group: "{writing.group}", kind: {writing.kind}, jsonPointers: ["{pointer(writing.path)}"]}}'
    return (
        f"add to spec.ignoreDifferences of the Argo CD Application{f' {named}' if named else ''}: {entry}, "
        f"and RespectIgnoreDifferences=true to its spec.syncPolicy.syncOptions"
    )


def _flux(writing: _Writing) -> str | None:
    release = writing.texts.get(_HELM_RELEASE)
    if writing.manager == "helm-controller" or (writing.manager not in _FLUX and release is not None):
        rule = f'{{paths: ["{pointer(writing.path)}"], target: {{kind: {writing.kind}}}}}'
        whose = f" {release}" if release else ""
        return f"leave {spell(writing.path)} out of the values of the HelmRelease{whose}, or add to its spec.driftDetection.ignore: {rule}"
    if writing.manager == "kustomize-controller" or _KUSTOMIZATION in writing.texts:
        return (
            f"take {spell(writing.path)} out of the manifest that Flux applies, or annotate the manifest with "
            f"kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"
        )
    return None


def _helm(writing: _Writing) -> str | None:
    if writing.manager != "helm" and _RELEASE not in writing.texts:
        return None
    release = writing.texts.get(_RELEASE)
    return (
        f"leave {spell(writing.path)} out of the values of the Helm release{f' {release}' if release else ''}: an upgrade writes it again"
    )


def _terraform(writing: _Writing) -> str | None:
    if not writing.manager.lower().startswith(("terraform", "hashicorp")):
        return None
    return f"add the argument of {spell(writing.path)} to lifecycle.ignore_changes of the Terraform resource, or to its computed_fields"


def _person(writing: _Writing) -> str | None:
    if not writing.manager.startswith("kubectl"):
        return None
    where = f"{writing.kind.lower()} {writing.book.metadata.name} -n {writing.book.metadata.namespace}"
    return f"a person set it with kubectl; to hand it back: kubectl annotate {where} {writing.mark}-"


def _forecaster(writing: _Writing) -> str | None:
    return "let one Forecaster alone have this object among its targets" if writing.manager == ANOTHER_FORECASTER else None


def _owner(writing: _Writing) -> str | None:
    owner = next(iter(writing.book.metadata.owner_references), None)
    return None if owner is None else f"the {owner.kind} {owner.name} owns this object and may write it: set the value there"


_SAYINGS: tuple[Callable[[_Writing], str | None], ...] = (_person, _forecaster, _terraform, _keda, _argo, _flux, _helm, _owner)
"""Names that are nobody else's come first: what a person did by hand is not undone in Argo CD."""


def _owns(fields: Json, path: Path) -> bool:
    """Whether a writer's set of fields holds this one. Sets are nested by `f:KEY`, also where the key is of an annotation."""
    for key in path:
        if f"f:{key}" not in fields:
            return False
        fields = fields[f"f:{key}"]
    return True


def _read(value: Json) -> "_Object":
    """What an object tells of its writers; nothing where it tells it in no form that we know."""
    try:
        return _Object.model_validate(value)
    except ValidationError:
        return _Object()


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Owned(_Part):
    kind: str
    name: str


class _Entry(_Part):
    manager: str = UNKNOWN_WRITER
    time: str = ""
    fields_v1: Json = Field(default_factory=dict, alias="fieldsV1")


class _Metadata(_Part):
    name: str = ""
    namespace: str = ""
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    owner_references: tuple[_Owned, ...] = ()
    managed_fields: tuple[_Entry, ...] = ()


class _Object(_Part):
    metadata: _Metadata = _Metadata()
