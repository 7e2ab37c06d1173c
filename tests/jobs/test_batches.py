"""A fleet in batches: who goes together, and what travels."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
import pytest

from connectors.stores.memory import MemoryStore
from forecaster.capacity import Capacity
from forecaster.envelope import Envelope
from forecaster.errors import ExecutorFailed
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import FALLBACK_MODEL
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S, HOUR_S
from forecaster.workload import Policy, Pool, Workload
from jobs.batches import BATCH, batches
from jobs.fleet import Fleet, Member, ModelChoice
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.world import NOW

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class Steady:
    """A source of ten requests a minute, ever."""

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        load = np.full(int(window.length_s) // step_s, 10.0)
        return Series(signal=query.signal, start=window.start, step_s=step_s, mean=load, peak=load)

    def remarks(self, _query: Query, _window: Window, _now: datetime) -> tuple[()]:
        return ()


class Losing:
    """An executor that loses the second of what it is given."""

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        return _Results(map(function, chunks))


class _Results(Iterator[Result]):
    def __init__(self, results: Iterator[Result]) -> None:
        self._results, self._number = results, 0

    def __next__(self) -> Result:
        result = next(self._results)
        self._number += 1
        if self._number == 2:
            raise ExecutorFailed("a worker died")
        return result


def member(i: int, *, signals: int = 1, lead_s: float = 600) -> Member:
    pool = Pool(name="gpu", capacity=Capacity(rpm=1.0), lead_time=LeadTime(warm_s=lead_s, cold_s=lead_s), targets=())
    asked = (Signal.RPM, Signal.CONCURRENCY, Signal.TOKENS, Signal.QUEUE_DEPTH)[:signals]
    return Member(
        workload=Workload(name=f"workload {i}", pools=(pool,), policy=Policy()),
        step_s=HOUR_S,
        queries=tuple(Query(signal=signal, expression="value", unit=Unit.COUNT) for signal in asked),
        conditions=(),
        source=Steady(),
        targets={},
    )


def sizes(members: Iterable[Member]) -> list[int]:
    return [len(batch) for batch in batches(members)]


def test_a_small_fleet_is_one_batch_whatever_it_is_made_of() -> None:
    assert sizes([]) == []
    assert sizes(member(i, signals=1 + i % 3, lead_s=300.0 * (1 + i)) for i in range(10)) == [10]


def test_batches_are_of_one_size_and_none_is_larger_than_workers_take() -> None:
    assert sizes(map(member, range(BATCH))) == [BATCH]
    assert sizes(map(member, range(BATCH + 2))) == [BATCH // 2 + 1] * 2
    assert sizes(member(i, signals=3) for i in range(BATCH)) == [BATCH // 3] * 3 + [BATCH % 3]


def test_what_is_not_forecast_takes_no_room_in_a_batch() -> None:
    assert sizes(member(i, signals=4) for i in range(BATCH // 3)) == [BATCH // 3]


def test_every_member_is_in_one_batch() -> None:
    members = [member(i, lead_s=300.0 * (1 + i % 7)) for i in range(1_000)]
    assert sorted(draft.name for batch in batches(members) for draft in batch) == sorted(m.workload.name for m in members)


def test_alike_members_go_together_the_commonest_first() -> None:
    rare, common = [member(i, lead_s=3 * HOUR_S) for i in range(100)], [member(i) for i in range(100, 600)]
    first, *_, last = batches([*rare, *common])
    assert {draft.member.workload.pools[0].lead_time.warm_s for draft in first} == {600}
    assert 3 * HOUR_S in {draft.member.workload.pools[0].lead_time.warm_s for draft in last}


def test_the_first_batch_has_members_from_all_over_the_list() -> None:
    first, *_ = batches(map(member, range(4 * BATCH)))
    assert [draft.name for draft in first[:3]] == ["workload 0", "workload 4", "workload 8"]


@pytest.fixture(scope="module")
def lost() -> tuple[Fleet, dict[str, tuple[str, ...]]]:
    """A fleet of two batches of which the second was lost on the way, and what each workload has to say."""
    fleet = Fleet(
        members=tuple(map(member, range(BATCH + 2))),
        store=MemoryStore(),
        executor=Losing(),
        model=ModelChoice(name=FALLBACK_MODEL, members=(), watched=()),
        fallback=FALLBACK_MODEL,
        history_s=3 * DAY_S,
        horizon_s=DAY_S,
        envelope=Envelope(),
        workers=2,
    )
    return fleet, {draft.name: draft.problems for draft in forecast_fleet(fleet, NOW)}


def test_drafts_come_back_in_the_order_of_the_fleet(lost: tuple[Fleet, dict[str, tuple[str, ...]]]) -> None:
    fleet, problems = lost
    assert list(problems) == [member.workload.name for member in fleet.members]


def test_a_batch_that_is_lost_costs_no_other_its_forecast_or_plan(lost: tuple[Fleet, dict[str, tuple[str, ...]]]) -> None:
    fleet, problems = lost
    planned = {name for name in problems if fleet.store.plans(name, "gpu", Window(start=NOW, end=NOW + timedelta(hours=1)))}
    assert len(planned) == BATCH // 2 + 1
    assert {problems[name] for name in planned} == {()}
    assert {problems[name] for name in problems.keys() - planned} == {("a worker died",)}


def test_plans_are_made_anew_from_what_each_batch_has_kept(lost: tuple[Fleet, dict[str, tuple[str, ...]]]) -> None:
    fleet, problems = lost
    again = {draft.name: bool(draft.plans) for draft in plan_fleet(fleet, NOW + timedelta(minutes=5))}
    assert again == {name: told == () for name, told in problems.items()}


def test_what_comes_back_has_its_plans_and_no_grid_of_a_history_or_forecast(lost: tuple[Fleet, dict[str, tuple[str, ...]]]) -> None:
    fleet, _ = lost
    (draft,) = forecast_fleet(replace(fleet, members=fleet.members[:1]), NOW + timedelta(hours=2))
    assert (draft.brought, draft.histories, draft.forecasts, draft.believed) == ((), (), (), ())
    assert [known.ratio for known in draft.known] == [1.0]
    assert [len(outlook.daily_peaks) for outlook in draft.outlooks] == [2]
    assert len(draft.plans) == 1
