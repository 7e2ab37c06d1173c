"""What no section can see alone: names that stand twice, and sources that are not there."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from connectors.targets.registry import target_name
from jobs.config.scalars import did_you_mean, short
from jobs.config.templates import TemplateSection
from jobs.config.workloads import WorkloadSection

Section = TypeVar("Section")


def placed(place: str, key: str, sections: Sequence[Section]) -> list[tuple[str, Section]]:
    """Each section of a list with the path that leads to it, which begins with `place`."""
    return [(f"{place}{key}[{i}]", section) for i, section in enumerate(sections)]


def contradictions(
    sources: Iterable[str], workloads: Iterable[tuple[str, WorkloadSection]], templates: Iterable[tuple[str, TemplateSection]]
) -> list[str]:
    """A sentence for each source that is not there, and each workload or target that stands twice; each with its path."""
    known = tuple(sources)
    asked = [(place, workload.source) for place, workload in workloads]
    asked += [(f"{place}.workload", template.source) for place, template in templates if template.source is not None]
    found = [f"{place}.source: {_no_source(name, known)}" for place, name in asked if name not in known]
    names = [(f"{place}.name", workload.name) for place, workload in workloads]
    targets = [
        (f"{place}.pools[{i}].targets[{k}]", target_name(target))
        for place, workload in workloads
        for i, pool in enumerate(workload.pools)
        for k, target in enumerate(pool.targets)
    ]
    return [*found, *_twice("workload", names), *_twice("target", targets)]


def _no_source(name: str, known: tuple[str, ...]) -> str:
    remedy = did_you_mean(name, known) or f"; there is {', '.join(known)}"
    return f"there is no source {short(name)}{remedy}"


def _twice(what: str, names: list[tuple[str, str]]) -> list[str]:
    first: dict[str, str] = {}
    found = []
    for place, name in names:
        before = first.setdefault(name, place)
        if before != place:
            found.append(f"{place}: the {what} {name} stands at {before} already; each {what} may be configured once")
    return found
