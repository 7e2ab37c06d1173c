"""Whether what is asked of a pool's capacity is there, still of what is served, and not contradicted by configured figures."""

from collections.abc import Iterator
from datetime import datetime

from forecaster.errors import StoreError
from forecaster.ports import Store
from forecaster.profile_best import Choice
from forecaster.units import spell_number
from forecaster.workload import Pool, Workload
from jobs.capacity.drifting import drifts
from jobs.capacity.known import choice_of, chosen_into, newest_of_each, what_is_missing
from jobs.capacity.lengths import measured_lengths
from jobs.capacity.overview import contradiction, is_measured
from jobs.checking.finding import Finding, State
from jobs.config.workloads import PoolSection, WorkloadSection


def with_profiles(section: WorkloadSection, store: Store | None, now: datetime) -> tuple[Workload, list[Finding]]:
    """The workload with the capacities that are known, and what is to be said of their sources; as configured without a store."""
    workload = section.to_core()
    if store is None:
        return workload, []
    try:
        choices, found = _choices(section, store, now), drifts(store, now)
    except StoreError as error:
        return workload, [_finding(section.name, State.FAILED, f"profiles were not read: {error}")]
    workload = chosen_into(workload, {pool.name: choices[pool.name] for pool in section.pools if pool.capacity.is_found})
    pairs = zip(section.pools, workload.pools, strict=True)
    findings = [finding for told, pool in pairs for finding in _of_pool(section.name, told, pool, choices[told.name])]
    drifted = (_finding(f"{name}: pool {pool}", State.WARNING, each.words) for (name, pool), each in found.items() if name == section.name)
    return workload, [*findings, *drifted]


def _choices(section: WorkloadSection, store: Store, now: datetime) -> dict[str, Choice]:
    entries = newest_of_each(store, [(section.name, pool.name) for pool in section.pools], now)
    return {
        pool.name: choice_of(
            pool.capacity.asked(),
            pool.serving.to_core(),
            entries.get((section.name, pool.name), ()),
            lambda: measured_lengths(store, section.name, int(section.step), now),
            now,
        )
        for pool in section.pools
    }


def _of_pool(workload: str, section: PoolSection, pool: Pool, choice: Choice) -> Iterator[Finding]:
    where, used = f"{workload}: pool {pool.name}", choice.used
    if not section.capacity.is_found:
        yield from _beside_figures(where, section, choice)
        return
    if used is None or used.capacity is None:
        missing = what_is_missing(section.capacity.asked(), choice, f"--workload {workload} --pool {pool.name}")
        yield _finding(where, State.WARNING, f"its capacity is not known: {missing}")
        return
    if pool.capacity != used.capacity:
        yield _finding(
            where, State.WARNING, "its profile and its slo contradict each other, so that it is held: mend slo.service, or measure again"
        )
    elif used.stale:
        yield _finding(where, State.WARNING, f"its profile is stale, since {'; '.join(used.stale)}: measure again, or correct `serving`")
    else:
        doubts = "".join(f": {doubt}" for doubt in used.doubts[:1])
        carries = f"{spell_number(used.capacity.rpm)} requests/min a replica" if used.capacity.rpm is not None else "known"
        yield _finding(where, State.OK, f"{carries}, of {used.capacity.source}, confidence {used.confidence}{doubts}")


def _beside_figures(where: str, section: PoolSection, choice: Choice) -> Iterator[Finding]:
    """What was measured of a pool whose figures are configured."""
    for source, _ in choice.beside:
        apart = contradiction(section.capacity.to_core(), source.capacity) if is_measured(source) and source.capacity is not None else ""
        if apart and source.capacity is not None:
            remedy = f"correct the one, or measure again; the configured figures hold until then ({source.capacity.source})"
            yield _finding(where, State.WARNING, f"a measured profile contradicts its capacity by more than 20 %: {apart}: {remedy}")
            return


def _finding(where: str, state: State, sentence: str) -> Finding:
    return Finding(what="capacity", where=where, state=state, sentence=sentence)
