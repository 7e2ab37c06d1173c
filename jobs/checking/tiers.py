"""The `tiers` section: its levers, what they watch, and the pools that admission follows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from connectors.levers.registry import open_levers
from connectors.targets.registry import Target
from forecaster.errors import StoreError, TargetError
from forecaster.ports import MetricSource, Store
from forecaster.series import Signal
from jobs.checking.capacities import with_profiles
from jobs.checking.finding import Finding, State
from jobs.checking.levers import check_held, check_lever
from jobs.checking.signals import check_signals
from jobs.config.paths import beside
from jobs.config.tiers import AdmissionSection, TiersSection
from jobs.config.workloads import WorkloadSection
from jobs.levers.desk import values_of
from jobs.levers.once import AUTO
from jobs.levers.state import Held, recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stands around the section: the store where there is one to read, sources and targets by name, every workload."""

    folder: Path
    now: datetime
    store: Store | None
    sources: Mapping[str, MetricSource]
    targets: Mapping[str, Target]
    sections: Sequence[WorkloadSection]


def check_tiers(tiers: TiersSection, around: Around) -> Iterator[Finding]:
    """Every lever, every signal, every admission."""
    auto, held = tiers.mode == AUTO, _held(around.store)
    levers, values = open_levers({name: beside(config, around.folder) for name, config in tiers.levers.items()}), values_of(tiers)
    for name, lever in levers.items():
        yield from check_lever(name, lever, values.get(name), held.get(name), auto=auto, now=around.now)
    yield from check_held(held, levers, auto=auto)
    yield from check_signals(tiers, around.sources, around.now)
    for section in tiers.admission:
        yield from _admission(section, around)


def _held(store: Store | None) -> Mapping[str, Held]:
    """What mode auto remembers; nothing where the store cannot say, which has a finding of its own."""
    try:
        return {} if store is None else recall(store, AUTO).held
    except StoreError:
        return {}


def _admission(section: AdmissionSection, around: Around) -> Iterator[Finding]:
    found = next((one for one in around.sections if one.name == section.workload), None)
    if found is None:
        yield _finding(section, State.FAILED, f"there is no workload {section.workload}: correct admission.workload")
        return
    workload, _ = with_profiles(found, around.store, around.now)
    pool = next((pool for pool in workload.pools if pool.name == section.pool), None)
    if pool is None:
        yield _finding(section, State.FAILED, f"{section.workload} has no pool {section.pool}: correct admission.pool")
        return
    lacks = [str(signal) for signal in (Signal.RPM, Signal.CONCURRENCY) if pool.capacity.of(signal) is None]
    if lacks:
        told = f"its capacity has no {' and no '.join(lacks)}, which limits are made of"
        yield _finding(section, State.FAILED, f"{told}: set them in the pool's capacity, or import a profile that has them")
        return
    yield _ready(section, [around.targets[name] for name in pool.targets if name not in pool.nodes], around.now)


def _ready(section: AdmissionSection, targets: Sequence[Target], now: datetime) -> Finding:
    """Whether anybody tells of ready replicas."""
    for target in targets:
        try:
            ready = target.observe(now).ready
        except TargetError as error:
            return _finding(section, State.FAILED, f"ready replicas are unknown, so its limits would stay as they are: {error}")
        if ready is not None:
            return _finding(section, State.OK, f"{ready} ready replicas, as {target.name} tells")
    told = "none of its targets tells how many replicas are ready, so its limits would stay as they are"
    return _finding(section, State.WARNING, f"{told}: grant what the page of the target lists for reading them")


def _finding(section: AdmissionSection, state: State, sentence: str) -> Finding:
    return Finding(what="admission", where=f"{section.workload}/{section.pool}", state=state, sentence=sentence)
