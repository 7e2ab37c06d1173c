"""What no section can see alone: names that stand twice, and sources and workloads that are not there."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.registry import SourceConfig
from connectors.targets.registry import target_name
from jobs.config.events import EventSection
from jobs.config.scalars import did_you_mean, short
from jobs.config.templates import TemplateSection
from jobs.config.workloads import WorkloadSection

Section = TypeVar("Section")


def placed(place: str, key: str, sections: Sequence[Section]) -> list[tuple[str, Section]]:
    """Each section of a list with the path that leads to it, which begins with `place`."""
    return [(f"{place}{key}[{i}]", section) for i, section in enumerate(sections)]


def contradictions(
    sources: Mapping[str, SourceConfig],
    workloads: Sequence[tuple[str, WorkloadSection]],
    templates: Sequence[tuple[str, TemplateSection]],
    events: Sequence[tuple[str, EventSection]] = (),
    *,
    whole: bool = True,
    priced: bool = True,
) -> list[str]:
    """A sentence for each source or workload that is not there, and each workload, target or event that stands twice; with its path.

    whole: these are all workloads that there are, but for those of templates. priced: a currency is said; without one no pool has a price.
    """
    known = tuple(sources)
    asked = [(place, workload.source) for place, workload in workloads]
    asked += [(f"{place}.workload", template.source) for place, template in templates if template.source is not None]
    found = [f"{place}.source: {_no_source(name, known)}" for place, name in asked if name not in known]
    found += [f"{place}.presets: {said}" for place, workload in workloads if (said := unspoken(workload, sources)) is not None]
    names = [(f"{place}.name", workload.name) for place, workload in workloads]
    targets = [
        (f"{place}.pools[{i}].targets[{k}]", target_name(target))
        for place, workload in workloads
        for i, pool in enumerate(workload.pools)
        for k, target in enumerate(pool.targets)
    ]
    found += _strangers(events, [workload.name for _, workload in workloads]) if whole and not templates else []
    happenings = [(f"{place}.name", event.name) for place, event in events]
    found += [] if priced else _without_currency(workloads)
    return [*found, *_twice("workload", names), *_twice("target", targets), *_twice("event", happenings), *_circles(workloads)]


def unspoken(workload: WorkloadSection, sources: Mapping[str, SourceConfig]) -> str | None:
    """Which preset the workload's source cannot answer, None where it can answer all or is not there."""
    source = sources.get(workload.source)
    if source is None:
        return None
    for preset in (PRESETS[section.name] for section in workload.presets):
        if preset.source != source.type:
            told = f"{preset.name} is written for sources of type {preset.source}, and {workload.source} is of type {source.type}"
            return f"{told}; read from such a source, or write signals in the source's own language"
    return None


def _without_currency(workloads: Sequence[tuple[str, WorkloadSection]]) -> list[str]:
    """A sentence for each pool with a price of its own."""
    told = "is a price without a currency; say it in `prices`, with the price of the other pools"
    pools = ((f"{place}.pools[{i}]", pool) for place, workload in workloads for i, pool in enumerate(workload.pools))
    return [f"{place}.gpu_hour: {told}" for place, pool in pools if pool.gpu_hour is not None]


def _strangers(events: Sequence[tuple[str, EventSection]], known: list[str]) -> list[str]:
    """A sentence for each workload of an event that is not there."""
    there = f"; there is {', '.join(known) or 'none'}"
    return [
        f"{place}.workloads[{i}]: there is no workload {short(name)}{did_you_mean(name, known) or there}"
        for place, event in events
        for i, name in enumerate(event.workloads)
        if name not in known
    ]


def _circles(workloads: Sequence[tuple[str, WorkloadSection]]) -> list[str]:
    """A sentence for the first name that continues itself, by whatever detour."""
    older = {workload.name: [one.name for one in workload.continues] for _, workload in workloads}
    for place, workload in workloads:
        trails: list[tuple[str, ...]] = [(workload.name,)]
        while trails:
            trail = trails.pop()
            for name in older.get(trail[-1], ()):
                if name == workload.name:
                    shown = " continues ".join((*trail, name))
                    return [f"{place}.continues: {shown}; a history cannot begin with itself, take one of them out"]
                if name not in trail:
                    trails.append((*trail, name))
    return []


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
