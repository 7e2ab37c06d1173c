"""Templates become workloads: the objects of each are looked up, and one that cannot be had stops no other."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.targets.discovery import Found, discover
from connectors.targets.registry import TargetConfig, target_name
from forecaster.errors import TargetError
from jobs.config.contradictions import unspoken
from jobs.config.document import Config
from jobs.config.faults import sentences
from jobs.config.paths import beside
from jobs.config.scalars import short
from jobs.config.schema import config_schema
from jobs.config.templates import TemplateSection
from jobs.config.workloads import WorkloadSection

_BODY = ("templates", 0, "workload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """What became of one template.

    found: how many objects carry the label, None when nobody could say. earlier: how many of those a workload before it writes to already,
    which goes first. problems: one sentence for each thing that went wrong.
    """

    selector: str
    found: int | None
    workloads: tuple[WorkloadSection, ...] = ()
    earlier: int = 0
    problems: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Taken:
    """The names and targets that workloads have already. Whoever names one first has it: `workloads` before templates, in order."""

    names: set[str] = field(default_factory=set)
    targets: dict[str, TargetConfig] = field(default_factory=dict)

    def take(self, workload: WorkloadSection) -> None:
        self.names.add(workload.name)
        self.targets.update(_targets(workload))

    def has_all(self, workload: WorkloadSection) -> bool:
        """Whether its targets are those very objects; an object of that name in another cluster is another one."""
        return all(self.targets.get(name) == target for name, target in _targets(workload).items())


def expand(config: Config, folder: Path) -> tuple[Expanded, ...]:
    """Every template's workloads as of now, one entry a template. Relative paths begin at `folder`."""
    taken = _Taken()
    for workload in config.workloads:
        taken.take(workload)
    clusters: dict[KubeConnection, Cluster] = {}
    expansions = []
    for template in config.templates:
        selector, connection = template.for_each.label_selector, beside(template.for_each.cluster, folder)
        try:
            found = discover(template.for_each, clusters.setdefault(connection, Cluster(connection)))
        except TargetError as error:
            expansions.append(Expanded(selector=selector, found=None, problems=(f"the HPAs with {selector} are unknown: {error}",)))
        else:
            expansions.append(_expanded(template, found, taken, config))
    return tuple(expansions)


def _expanded(template: TemplateSection, found: tuple[Found, ...], taken: _Taken, config: Config) -> Expanded:
    workloads: list[WorkloadSection] = []
    problems: list[str] = []
    earlier = 0
    for one in found:
        try:
            workload = template.workload_of(one)
        except ValueError as error:
            problems += _faults(one, error)
            continue
        if taken.has_all(workload):
            earlier += 1
            continue
        refusal = _refusal(workload, taken, config)
        if refusal is None:
            taken.take(workload)
            workloads.append(workload)
        else:
            problems.append(f"{_spell(one)} is left out: {refusal}")
    return Expanded(
        selector=template.for_each.label_selector, found=len(found), workloads=tuple(workloads), earlier=earlier, problems=tuple(problems)
    )


def _refusal(workload: WorkloadSection, taken: _Taken, config: Config) -> str | None:
    """Why a workload cannot stand beside those there are, None where it can."""
    if workload.source not in config.sources:
        return f"there is no source {short(workload.source)}; there is {', '.join(config.sources)}"
    if (said := unspoken(workload, config.sources)) is not None:
        return f"preset {said}"
    if workload.name in taken.names:
        return f"another workload is called {workload.name}; put {{namespace}} and {{name}} into the template's name"
    shared = [name for name in _targets(workload) if name in taken.targets]
    return f"another workload writes to {shared[0]}; one object has one workload" if shared else None


def _faults(one: Found, error: ValueError) -> list[str]:
    """What the values of one object make wrong, a sentence each."""
    if isinstance(error, ValidationError):
        return [f"{_spell(one)} is left out: {fault}" for fault in sentences(error.errors(), config_schema(), at=_BODY)]
    return [f"{_spell(one)} is left out: {error}"]


def _targets(workload: WorkloadSection) -> dict[str, TargetConfig]:
    return {target_name(target): target for pool in workload.pools for target in pool.targets}


def _spell(one: Found) -> str:
    return f"the HPA {one.namespace}/{one.name}"
