"""The `templates` section: one workload for each object that carries a label, since nobody writes 10,000 by hand."""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from connectors.kube.connection import KubeConnection
from connectors.targets.discovery import Found, HpaSelector
from connectors.targets.registry import TargetConfig
from jobs.config.causes import causes
from jobs.config.policy import SECTION
from jobs.config.workloads import WorkloadSection

_PLACEHOLDER = re.compile(r"\{(?:(name|namespace)|label:([A-Za-z0-9._/-]+))\}")
_MISSPELT = re.compile(r"\{\s*[A-Za-z_]+\s*(?::[^{}\"'=~!,]*)?\}")
"""Braces around one word, with or without a colon. No query is written so: matchers of PromQL hold = or !."""
_SAMPLE = "1"  # a name, a text and a number alike


class BodyRejected(ValueError):
    """A template's workload cannot be used, whatever its placeholders stand for. `faults` are pydantic's, their paths inside of it."""

    def __init__(self, faults: list[ErrorDetails]) -> None:
        super().__init__("it can be no workload")
        self.faults = faults


def _possible(body: dict[str, Any]) -> dict[str, Any]:
    """Refuse now what would be wrong with every workload; what only a placeholder decides is judged when it has its value."""
    for text in _texts(body):
        for found in _MISSPELT.finditer(text):
            if not _PLACEHOLDER.fullmatch(found[0]):
                msg = f"{found[0]} is no placeholder; there are {{name}}, {{namespace}} and {{label:KEY}}"
                raise ValueError(msg)
    try:
        _workload(body, lambda _: _SAMPLE)
    except ValidationError as error:
        faults = [fault for fault in causes(error.errors()) if not _decided_later(body, fault["loc"])]
        if faults:
            raise BodyRejected(faults) from error
    return body


class TemplateSection(BaseModel):
    """One workload for each object that is found."""

    model_config = SECTION
    for_each: HpaSelector
    """Which objects. They are looked up whenever the configuration is opened. No default."""
    workload: Annotated[dict[str, Any], AfterValidator(_possible), WithJsonSchema({"type": "object"})]
    """A workload as in `workloads`, in whose texts {name}, {namespace} and {label:KEY} stand for those of the object. Quote a text that
    begins with a brace. No default."""

    @property
    def source(self) -> str | None:
        """Which source its workloads read from, None where a placeholder decides."""
        source = str(self.workload.get("source"))
        return None if _PLACEHOLDER.search(source) else source

    def workload_of(self, found: Found) -> WorkloadSection:
        """The workload of one object. Raises ValueError where it lacks a label, ValidationError where a value of its does not fit."""

        def meant(placeholder: re.Match[str]) -> str:
            kind, label = placeholder.groups()
            if label is None:
                return found.name if kind == "name" else found.namespace
            if label not in found.labels:
                msg = f"it has no label {label}, which the template asks for; add the label, or narrow label_selector"
                raise ValueError(msg)
            return found.labels[label]

        return _in_cluster(_workload(self.workload, meant), self.for_each.cluster)


def _in_cluster(workload: WorkloadSection, cluster: KubeConnection) -> WorkloadSection:
    """The workload with its Kubernetes targets in that cluster, unless they name one: what was found there is written there."""

    def placed(target: TargetConfig) -> TargetConfig:
        reached = getattr(target, "cluster", None)  # a name where the kind is a node group of a cloud
        lacks = isinstance(reached, KubeConnection) and "cluster" not in target.model_fields_set
        return target.model_copy(update={"cluster": cluster}) if lacks else target

    pools = tuple(pool.model_copy(update={"targets": tuple(placed(target) for target in pool.targets)}) for pool in workload.pools)
    return workload.model_copy(update={"pools": pools})


def _workload(body: dict[str, Any], meant: Callable[[re.Match[str]], str]) -> WorkloadSection:
    return WorkloadSection.model_validate(_filled(body, meant), by_alias=True, by_name=False)


def _filled(value: Any, meant: Callable[[re.Match[str]], str]) -> Any:  # noqa: ANN401 - any YAML value
    match value:
        case dict():
            return {key: _filled(item, meant) for key, item in value.items()}
        case list():
            return [_filled(item, meant) for item in value]
        case str():
            return _PLACEHOLDER.sub(meant, value)
        case _:
            return value


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any YAML value
    match value:
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case str():
            yield value


def _decided_later(body: Any, path: tuple[int | str, ...]) -> bool:  # noqa: ANN401 - any YAML value
    """Whether a placeholder stands where the fault is. Parts of the path that are no keys say which kind of union was taken."""
    for part in path:
        match body:
            case dict() if part in body:
                body = body[part]
            case list() if isinstance(part, int) and part < len(body):
                body = body[part]
            case _:
                pass
    return isinstance(body, str) and _PLACEHOLDER.search(body) is not None
