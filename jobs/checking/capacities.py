"""Whether measured capacities are there, still of what is served, and not contradicted by configured ones."""

from collections.abc import Iterator
from datetime import datetime

from forecaster.errors import StoreError
from forecaster.ports import Store
from forecaster.workload import Pool, Workload
from jobs.capacity.known import Known, imported_into, known, newest_of
from jobs.capacity.overview import contradiction
from jobs.checking.finding import Finding, State
from jobs.config.workloads import PoolSection, WorkloadSection


def with_profiles(section: WorkloadSection, store: Store | None, now: datetime) -> tuple[Workload, list[Finding]]:
    """The workload with the capacities that were imported, and what is to be said of its profiles; as configured without a store."""
    workload = section.to_core()
    if store is None:
        return workload, []
    try:
        entries = newest_of(store, [(section.name, pool.name) for pool in section.pools], now)
    except StoreError as error:
        return workload, [_finding(section.name, State.FAILED, f"profiles were not read: {error}")]
    found = {
        pool.name: known(entries[section.name, pool.name], pool.serving.to_core(), now)
        for pool in section.pools
        if (section.name, pool.name) in entries
    }
    workload = imported_into(workload, frozenset(pool.name for pool in section.pools if pool.capacity.is_imported), found)
    pairs = zip(section.pools, workload.pools, strict=True)
    findings = [finding for told, pool in pairs for finding in _of_pool(section.name, told, pool, found.get(told.name))]
    return workload, findings


def _of_pool(workload: str, section: PoolSection, pool: Pool, found: Known | None) -> Iterator[Finding]:
    where = f"{workload}: pool {pool.name}"
    if found is None:
        if section.capacity.is_imported:
            remedy = f"run `forecaster capacity import FILE... --workload {workload} --pool {pool.name}`"
            yield _finding(where, State.WARNING, f"takes its capacity from an imported profile, and none was imported: {remedy}")
        return
    measured = found.capacity
    if measured is None:
        yield _finding(where, State.WARNING, f"its profile proves no capacity: {found.found}; import another")
        return
    stale = "; ".join(found.stale)
    if stale:
        yield _finding(where, State.WARNING, f"its profile is stale, since {stale}: measure again, or correct `serving`")
    if section.capacity.is_imported and pool.capacity != measured:
        yield _finding(
            where, State.WARNING, "its profile and its slo contradict each other, so that it is held: mend slo.service, or measure again"
        )
    apart = "" if section.capacity.is_imported else contradiction(section.capacity.to_core(), measured)
    if apart:
        remedy = f"correct the one, or measure again; the configured figures hold until then ({found.entry.profile.source})"
        yield _finding(where, State.WARNING, f"a measured profile contradicts its capacity by more than 20 %: {apart}: {remedy}")
    if not stale and not apart and section.capacity.is_imported and pool.capacity == measured:
        yield _finding(where, State.OK, f"{measured.rpm:,.0f} requests/min a replica, of {measured.source}, confidence {found.confidence}")


def _finding(where: str, state: State, sentence: str) -> Finding:
    return Finding(what="capacity", where=where, state=state, sentence=sentence)
