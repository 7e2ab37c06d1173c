"""What the quick loop works with: the section of the configuration, opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.levers.recording import RecordingLever
from connectors.levers.registry import open_levers
from connectors.live.exposition import parse_question
from connectors.live.pages import Asked, Pages
from forecaster.ladder import LeverValue, is_same
from forecaster.ports import Lever, MetricSource
from forecaster.tiers import Rules
from jobs.config.live_signals import PageSignalSection, SourceSignalSection
from jobs.config.paths import beside
from jobs.config.tiers import AdmissionSection, TiersSection
from jobs.fleet import Fleet
from jobs.levers.asking import Asking, SourceSignal


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """levers: by their names in the configuration. moves: whether they are moved, not only read. fleet: whose replicas admission asks."""

    mode: str
    moves: bool
    every_s: float
    rules: Rules
    levers: Mapping[str, Lever]
    pages: Pages
    asked: tuple[Asked, ...]
    sources: tuple[SourceSignal, ...]
    asking: Asking
    admission: tuple[AdmissionSection, ...]
    fleet: Fleet


def open_desk(tiers: TiersSection, fleet: Fleet, sources: Mapping[str, MetricSource], folder: Path, *, dry: bool = False) -> Desk:
    """The section as it works. dry: nothing is moved, whatever the mode. Opens no connection yet."""
    levers = open_levers({name: beside(config, folder) for name, config in tiers.levers.items()})
    moved = tiers.mode == "auto" and not dry
    return Desk(
        mode=tiers.mode,
        moves=moved,
        every_s=tiers.every,
        rules=tiers.to_core(),
        levers=levers if moved else {name: RecordingLever(lever) for name, lever in levers.items()},
        pages=Pages(),
        asked=asked_of(tiers),
        sources=sources_of(tiers, sources),
        asking=Asking(),
        admission=tiers.admission,
        fleet=fleet,
    )


def asked_of(tiers: TiersSection) -> tuple[Asked, ...]:
    """The signals that pages of metrics answer."""
    return tuple(
        Asked(signal=name, pages=one.pages, question=parse_question(one.query))
        for name, one in tiers.signals.items()
        if isinstance(one, PageSignalSection)
    )


def sources_of(tiers: TiersSection, sources: Mapping[str, MetricSource]) -> tuple[SourceSignal, ...]:
    """The signals that sources answer."""
    return tuple(
        SourceSignal(signal=name, source=sources[one.source], expression=one.query)
        for name, one in tiers.signals.items()
        if isinstance(one, SourceSignalSection)
    )


def values_of(tiers: TiersSection) -> dict[str, tuple[LeverValue, ...]]:
    """What rules and ladders set each lever to, in their order; a lever that admission alone moves has no such value."""
    values: dict[str, list[LeverValue]] = {name: [] for name in tiers.moved()}
    for ladder in tiers.to_core().ladders:
        for step in ladder.steps:
            for lever, value in step.levers.items():
                if not any(is_same(value, other) for other in values[lever]):
                    values[lever].append(value)
    return {name: tuple(found) for name, found in values.items()}
