"""From a configuration to a fleet: the one place that knows every connector."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from connectors.executors.registry import open_executor
from connectors.sources.registry import OpenedSource, open_source
from connectors.stores.opening import open_store
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import Target, open_targets, target_name
from forecaster.cost import Prices
from forecaster.errors import ConfigRejected
from forecaster.lineage import Lineage
from forecaster.ports import ScaleTarget, StartSource
from forecaster.workload import Mode
from jobs.capacity.variant import Variant
from jobs.config.budgets import budgets_of, without_budget
from jobs.config.contradictions import placed
from jobs.config.document import Config
from jobs.config.paths import beside
from jobs.config.policy import AUTO_LEVEL
from jobs.config.workloads import WorkloadSection
from jobs.fleet import Fleet, Member, ModelChoice
from jobs.templates import expand

Rehearse = Literal["by-mode", "all", "none"]
_SQLITE = "sqlite:///"


@contextmanager
def open_fleet(config: Config, folder: Path, *, rehearse: Rehearse = "by-mode") -> Iterator[Fleet]:
    """The fleet of a configuration whose relative paths start at `folder`; its connections are closed at the end.

    Rehearsed targets are observed for real and never written: those of workloads in mode `observe`, or all, or none. What keeps a
    template from its workloads is a problem of the fleet and stops no other. Raises ConfigRejected or StoreError.
    """
    with ExitStack() as closing:
        store = open_store(store_url(config, folder))
        closing.callback(store.close)
        sources = closing.enter_context(open_sources(config, folder))
        executor = open_executor(config.executor)
        closing.callback(executor.close)
        expansions = expand(config, folder)
        problems = tuple(problem for expanded in expansions for problem in expanded.problems)
        sections = (*config.workloads, *(section for expanded in expansions for section in expanded.workloads))
        faults = without_budget(config.budgets, placed("", "workloads", sections))
        if faults:  # of workloads that templates made: what stands in the file itself was refused when it was read
            raise ConfigRejected("\n".join(faults))
        by_name = {section.name: section for section in sections}
        targets = open_targets([beside(target, folder) for section in sections for pool in section.pools for target in pool.targets])
        yield Fleet(
            members=tuple(
                Member(
                    workload=section.to_core(),
                    step_s=int(section.step),
                    queries=section.queries(),
                    conditions=section.conditions(),
                    source=sources[section.source],
                    targets=_targets(section, targets, recorded=_is_recorded(section.policy.mode, rehearse)),
                    live=_targets(section, targets, recorded=_is_recorded(Mode.AUTO, rehearse)),
                    continues=_older(section, by_name, (section.name,)),
                    prices=_prices(section, config),
                    starts=_start_sources(section, targets),
                    hpas=_hpas(section, folder),
                    follows=section.policy.level == AUTO_LEVEL,
                    task=None if section.task is None else section.task.to_core(),
                    servings={pool.name: pool.serving.to_core() for pool in section.pools},
                    asked={pool.name: pool.capacity.asked() for pool in section.pools},
                    latencies=section.latencies(),
                    variants=tuple(_variants(section, config)),
                    gpus={pool.name: pool.gpus_per_replica for pool in section.pools},
                )
                for section in sections
            ),
            store=store,
            executor=executor,
            model=ModelChoice(name=config.forecast.model, members=config.forecast.members, watched=config.forecast.watched),
            fallback=config.forecast.fallback,
            history_s=int(config.forecast.history),
            horizon_s=int(config.forecast.horizon),
            envelope=config.envelope.to_core(),
            budgets=budgets_of(config.budgets),
            keep=config.keep.to_core(),
            rules=config.operating_point.to_core(),
            workers=config.apply.workers,
            problems=problems,
            events=tuple(event.to_core() for event in config.events),
        )


@contextmanager
def open_sources(config: Config, folder: Path) -> Iterator[dict[str, OpenedSource]]:
    """The sources of a configuration by name; their connections are closed at the end."""
    with ExitStack() as closing:
        sources = {name: open_source(beside(source, folder)) for name, source in config.sources.items()}
        for source in sources.values():
            closing.callback(source.close)
        yield sources


def store_url(config: Config, folder: Path) -> str:
    """The store's address; a relative SQLite file lies beside the configuration, wherever the command was started."""
    if not config.store.startswith(_SQLITE):
        return config.store
    path = config.store.removeprefix(_SQLITE)
    return f"{_SQLITE}{folder / path}" if path else config.store


def _older(section: WorkloadSection, by_name: dict[str, WorkloadSection], trail: tuple[str, ...]) -> tuple[Lineage, ...]:
    """The older names of a workload with theirs in turn; one that a template makes to follow itself is not followed."""
    return tuple(
        Lineage(
            name=older.name,
            share_ratio=older.share,
            continues=_older(by_name[older.name], by_name, (*trail, older.name)) if older.name in by_name else (),
        )
        for older in section.continues
        if older.name not in trail
    )


def _prices(section: WorkloadSection, config: Config) -> dict[str, Prices]:
    """What each pool costs; nothing where no prices were said."""
    if config.prices is None:
        return {}
    general = config.prices.to_core()
    return {pool.name: general if pool.gpu_hour is None else replace(general, gpu_hour=pool.gpu_hour) for pool in section.pools}


def _variants(section: WorkloadSection, config: Config) -> Iterator[Variant]:
    """The variants with what they do not say taken from the pool whose place they would take."""
    prices = _prices(section, config)
    for told in section.variants:
        pool = next(pool for pool in section.pools if told.pool in {None, pool.name})
        price = prices.get(pool.name)
        yield Variant(
            name=told.name,
            pool=pool.name,
            capacity=told.capacity.to_core(),
            asked=told.capacity.asked(),
            serving=told.serving.to_core(),
            lead_time=(told.lead_time or pool.lead_time).to_core(),
            prices=price if price is None or told.gpu_hour is None else replace(price, gpu_hour=told.gpu_hour),
            gpus_per_replica=told.gpus_per_replica or pool.gpus_per_replica,
            task=None if (task := told.task or section.task) is None else task.to_core(),
        )


def _is_recorded(mode: Mode, rehearse: Rehearse) -> bool:
    return rehearse == "all" or (rehearse == "by-mode" and mode is Mode.OBSERVE)


def _targets(section: WorkloadSection, targets: dict[str, Target], *, recorded: bool) -> dict[str, ScaleTarget]:
    names = [target_name(target) for pool in section.pools for target in pool.targets]
    return {name: RecordingTarget(targets[name]) if recorded else targets[name] for name in names}


def _start_sources(section: WorkloadSection, targets: dict[str, Target]) -> dict[str, StartSource]:
    """The targets that tell how replicas came up, rehearsed or not: looking writes nothing."""
    names = [target_name(target) for pool in section.pools if pool.lead_time.measured for target in pool.targets]
    told = ((name, targets[name]) for name in names)
    return {name: target for name, target in told if isinstance(target, StartSource)}


def _hpas(section: WorkloadSection, folder: Path) -> dict[str, KubernetesHpaConfig]:
    """The HPAs among the targets of a workload, whose own targets are read and never written."""
    targets = (target for pool in section.pools for target in pool.targets)
    return {target_name(target): beside(target, folder) for target in targets if isinstance(target, KubernetesHpaConfig)}
