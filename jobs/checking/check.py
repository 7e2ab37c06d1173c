"""Every check in its order; one that fails stops no other."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from connectors.sources.registry import OpenedSource, SourceConfig
from connectors.stores.opening import open_store
from connectors.targets.registry import Target, open_targets, target_name
from forecaster.errors import ConfigRejected
from forecaster.ports import Store
from forecaster.workload import Mode
from jobs.checking.capacities import with_profiles
from jobs.checking.finding import CONFIGURATION, Finding, State
from jobs.checking.leases import check_lease
from jobs.checking.policies import check_policy
from jobs.checking.promotions import promotion
from jobs.checking.reach import HeardSource, silent_sources
from jobs.checking.sources import Past, check_load, check_presets, check_task
from jobs.checking.stores import check_store
from jobs.checking.targets import check_starts, check_write, observe
from jobs.checking.tiers import Around, check_tiers
from jobs.config.document import Config
from jobs.config.live_signals import SourceSignalSection
from jobs.config.paths import beside
from jobs.config.reading import read_config
from jobs.config.workloads import WorkloadSection
from jobs.templates import Expanded, expand
from jobs.wiring import open_sources, store_url


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """What the checks of a workload ask: sources and targets by name, the store where there is one to read.

    heard: the same sources as workloads ask them.
    """

    config: Config
    now: datetime
    store: Store | None
    sources: Mapping[str, OpenedSource]
    heard: Mapping[str, HeardSource]
    configs: Mapping[str, SourceConfig]
    targets: Mapping[str, Target]


_Check: TypeAlias = Callable[[_Opened, WorkloadSection], Iterator[Finding]]


def check_all(path: Path, now: datetime) -> tuple[Finding, ...]:
    """What works as of `now` and what does not: configuration, store, lease, templates, sources, and every workload with its targets."""
    try:
        config = read_config(path)
    except ConfigRejected as error:
        return tuple(_finding(CONFIGURATION, path.name, State.FAILED, line) for line in str(error).splitlines())
    kept, readable = check_store(store_url(config, path.parent))
    expansions = expand(config, path.parent)
    sections = (*config.workloads, *(section for expanded in expansions for section in expanded.workloads))
    with ExitStack() as closing:
        opened = _open(closing, config, path.parent, sections, now=now, readable=readable)
        with ThreadPoolExecutor(max_workers=config.apply.workers) as pool:
            checked = list(pool.map(partial(_check_workload, opened), sections))
        tiers = _check_tiers(opened, path.parent, sections)
    silent = silent_sources(opened.heard, sections)
    findings = [
        f for section, (load, rest) in zip(sections, checked, strict=True) for f in (*(load if section.source not in silent else ()), *rest)
    ]
    before = (_read(path, config, sections), kept, *check_lease(config, path.parent))
    return (*before, *_templates(expansions), *_idle(config, sections), *silent.values(), *findings, *tiers)


def _open(
    closing: ExitStack, config: Config, folder: Path, sections: tuple[WorkloadSection, ...], *, now: datetime, readable: bool
) -> _Opened:
    store = open_store(store_url(config, folder)) if readable else None
    if store is not None:
        closing.callback(store.close)
    targets = [beside(target, folder) for section in sections for pool in section.pools for target in pool.targets]
    sources = closing.enter_context(open_sources(config, folder))
    return _Opened(
        config=config,
        now=now,
        store=store,
        sources=sources,
        heard={name: HeardSource(source) for name, source in sources.items()},
        configs={name: beside(source, folder) for name, source in config.sources.items()},
        targets=open_targets(targets),
    )


def _check_workload(opened: _Opened, section: WorkloadSection) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What its source says, and all the rest."""
    return _walled(_load, opened, section), _walled(_targets, opened, section)


def _walled(check: _Check, opened: _Opened, section: WorkloadSection) -> tuple[Finding, ...]:
    try:
        return tuple(check(opened, section))
    except Exception as error:  # noqa: BLE001 - the wall between workloads: whatever breaks one must not hide the others
        return (_finding("workload", section.name, State.FAILED, f"cannot be checked: {str(error) or type(error).__name__}"),)


def _check_tiers(opened: _Opened, folder: Path, sections: tuple[WorkloadSection, ...]) -> tuple[Finding, ...]:
    """The section `tiers`, where there is one."""
    if opened.config.tiers is None:
        return ()
    around = Around(folder=folder, now=opened.now, store=opened.store, sources=opened.sources, targets=opened.targets, sections=sections)
    try:
        return tuple(check_tiers(opened.config.tiers, around))
    except Exception as error:  # noqa: BLE001 - the same wall as between workloads
        return (_finding("tiers", "tiers", State.FAILED, f"cannot be checked: {str(error) or type(error).__name__}"),)


def _load(opened: _Opened, section: WorkloadSection) -> Iterator[Finding]:
    past = Past(source=opened.heard[section.source], store=opened.store, now=opened.now)
    yield from check_load(section, opened.config.forecast, past)
    yield from check_presets(section, opened.configs[section.source], opened.config.forecast, past)
    yield from check_task(section, past)


def _targets(opened: _Opened, section: WorkloadSection) -> Iterator[Finding]:
    seen, promoted = {}, promotion(section, opened.store, opened.now)
    mode = section.policy.mode if promoted is None else Mode.AUTO
    names = {target_name(target): pool.lead_time.measured for pool in section.pools for target in pool.targets}
    for name, measured in names.items():
        finding, found = observe(opened.targets[name], opened.now)
        yield finding
        if found is not None:
            seen[name] = found
            yield from _rights(opened.targets[name], mode, starts=measured)
    known, capacities = with_profiles(section, opened.store, opened.now)
    yield from capacities
    yield from check_policy(section, opened.config, seen, promoted, known)


def _rights(target: Target, mode: Mode, *, starts: bool) -> Iterator[Finding]:
    finding = check_write(target, mode)
    if finding is not None:
        yield finding
    if starts:
        yield from check_starts(target)


def _read(path: Path, config: Config, sections: tuple[WorkloadSection, ...]) -> Finding:
    if not sections:
        sentence = "there is no workload: nothing is forecast; write one under workloads, or a template that finds some"
        return _finding(CONFIGURATION, path.name, State.WARNING, sentence)
    counts = f"workloads: {len(sections)}, sources: {len(config.sources)}, templates: {len(config.templates)}"
    return _finding(CONFIGURATION, path.name, State.OK, counts)


def _templates(expansions: tuple[Expanded, ...]) -> Iterator[Finding]:
    for expanded in expansions:
        if expanded.found == 0:
            sentence = "no HPA carries this label; label one, or correct label_selector and namespaces"
            yield _finding("template", expanded.selector, State.WARNING, sentence)
        elif expanded.found is not None:
            earlier = f"; {expanded.earlier} are targets of a workload before it" if expanded.earlier else ""
            sentence = f"{expanded.found} found, {len(expanded.workloads)} workloads made{earlier}"
            yield _finding("template", expanded.selector, State.OK, sentence)
        for problem in expanded.problems:
            yield _finding("template", expanded.selector, State.FAILED, problem)


def _idle(config: Config, sections: tuple[WorkloadSection, ...]) -> Iterator[Finding]:
    signals = () if config.tiers is None else config.tiers.signals.values()
    used = {section.source for section in sections} | {signal.source for signal in signals if isinstance(signal, SourceSignalSection)}
    for name in config.sources:
        if name not in used:
            yield _finding("source", name, State.WARNING, "no workload reads from it, so it was not asked")


def _finding(what: str, where: str, state: State, sentence: str) -> Finding:
    return Finding(what=what, where=where, state=state, sentence=sentence)
