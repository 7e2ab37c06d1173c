"""What contradicts itself between a workload's rules, its objects and the forecast: pure, from what was seen."""

from collections.abc import Iterator, Mapping

from forecaster.capacity import HOW_TO_TELL, Capacity
from forecaster.decision import Ruling, Seen
from forecaster.guard import bounds_of
from forecaster.modes import mode_words
from forecaster.series import LOAD_SIGNALS
from forecaster.workload import Mode, Policy, Pool, Workload
from jobs.checking.finding import Finding, State
from jobs.config.document import Config
from jobs.config.policy import AUTO_LEVEL
from jobs.config.scalars import spell_duration
from jobs.config.workloads import WorkloadSection


def check_policy(
    section: WorkloadSection, config: Config, seen: Mapping[str, Seen], promotion: Ruling | None = None, known: Workload | None = None
) -> list[Finding]:
    """One finding for each contradiction, or one that says what the policy comes to.

    seen: the targets that could be observed. promotion: what raises the configured mode, None = nothing does. known: the workload with
    what the store knows of its capacities, None = as configured.
    """
    workload = section.to_core() if known is None else known
    found = [*_times(workload, config), *(said for pool in workload.pools for said in _pool(section, workload, pool, seen))]
    if not found:
        found = [(State.OK, _comes_to(section, workload, promotion))]
    return [Finding(what="policy", where=workload.name, state=state, sentence=sentence) for state, sentence in found]


def _times(workload: Workload, config: Config) -> Iterator[tuple[State, str]]:
    horizon, every, expiry = (spell_duration(s) for s in (config.forecast.horizon, config.forecast.every, workload.policy.expiry_s))
    for pool in workload.pools:
        if pool.lead_time.plan_s >= config.forecast.horizon:
            late = f"pool {pool.name} needs {spell_duration(pool.lead_time.plan_s)} from request to ready, and the horizon is {horizon}"
            yield State.FAILED, f"{late}: no floor would be in time; lengthen forecast.horizon, or correct lead_time"
    if workload.policy.expiry_s < config.forecast.every:
        gap = f"plans expire after {expiry}, and the daemon makes one every {every}"
        yield State.WARNING, f"{gap}: the fallback holds in between; lengthen expiry"


def _pool(section: WorkloadSection, workload: Workload, pool: Pool, seen: Mapping[str, Seen]) -> Iterator[tuple[State, str]]:
    if not pool.always_on and pool.bulk is None and not _used(section, pool.capacity):
        signals = ", ".join(query.signal for query in section.queries() if query.signal in LOAD_SIGNALS)
        is_said = any(told.name == pool.name and told.capacity.is_found for told in section.pools)
        remedy = "what is said of its capacity tells what is missing" if is_said else HOW_TO_TELL
        yield State.WARNING, f"pool {pool.name} has no capacity for {signals}: it is held where it is; {remedy}"
    for name in pool.targets:
        if name in seen:
            yield from _bounds(workload.policy_of(pool), seen[name])


def _bounds(policy: Policy, seen: Seen) -> Iterator[tuple[State, str]]:
    least, most = bounds_of(policy, seen)
    held = f"is below the {seen.original} found on {seen.target}, which holds; set allow_below_original to go lower"
    if policy.minimum is not None and least > policy.minimum:
        yield State.WARNING, f"min {policy.minimum} {held}"
    if most is None:
        return
    if policy.maximum is not None and most > policy.maximum:
        yield State.WARNING, f"max {policy.maximum} {held}"
    whose = {seen.ceiling: f"the ceiling of {seen.target}", policy.maximum: "max"}.get(most, f"what was found on {seen.target}")
    asked = [("min", least), ("fallback", policy.fallback), *(("a window", window.min_replicas) for window in policy.windows)]
    for what, replicas in asked:
        if replicas is not None and replicas > most:
            yield (
                State.WARNING,
                f"{what} asks for {replicas} and {whose} is {most}: floors stop at {most}; raise the one or lower the other",
            )


def _used(section: WorkloadSection, capacity: Capacity) -> list[str]:
    return [str(query.signal) for query in section.queries() if query.signal in LOAD_SIGNALS and capacity.of(query.signal) is not None]


def _comes_to(section: WorkloadSection, workload: Workload, promotion: Ruling | None) -> str:
    policy = workload.policy
    mode = mode_words(policy.mode if promotion is None else Mode.AUTO, promotion)
    remedy = f"; `forecaster promote {workload.name}` says what is missing" if policy.mode is Mode.AUTO and promotion is None else ""
    used = dict.fromkeys(signal for pool in workload.pools for signal in _used(section, pool.capacity))
    lead_s = max(pool.lead_time.plan_s for pool in workload.pools)
    level = f"P{policy.level * 100:g}" + (" until `tune` recommends a level" if section.policy.level == AUTO_LEVEL else "")
    return f"mode {mode}: floors follow {' and '.join(used)} at {level}, {spell_duration(lead_s)} ahead{remedy}"
