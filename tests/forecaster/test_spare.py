"""N + k: replicas that may fail without the load noticing, in plans, by live load and under a budget."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.apportion import Contender, apportioned
from forecaster.budget import Budget, likely, odds
from forecaster.calendar import FloorWindow
from forecaster.claim import Claim
from forecaster.correct import correct
from forecaster.decision import Observation
from forecaster.guard import guard
from forecaster.look import Look, look
from forecaster.margin import Margin
from forecaster.plan import Plan, plan
from forecaster.queueing import WaitSlo
from forecaster.reasons import Code
from forecaster.series import Signal
from forecaster.spot import present
from forecaster.workload import Policy, Pool, Shape, Workload
from tests.forecaster.nowcasts import knowing, nowcast_of
from tests.values import NOW, case_of, demand_of, live_of, peak_of, pool_of, seen_of

HOUR = timedelta(hours=1)
ALL_DAY = FloorWindow(days=frozenset(range(7)), start_min=0, end_min=1_440, zone="UTC", min_replicas=22)
loads = st.lists(st.integers(0, 2_000).map(float), min_size=6, max_size=30)
spares = st.integers(0, 8)


def spared(spare: int, **more: object) -> Pool:
    return replace(pool_of(), spare=spare, **more)  # type: ignore[arg-type]  # tests name the fields they vary


def planned(load: list[float], spare: int, policy: Policy | None = None, *, before: float = 0.0, peak: float | None = None) -> Plan:
    policy, pool = policy or Policy(), spared(spare, before=before)
    needed = replace(demand_of(load, start=NOW - HOUR), margin=pool.margin)
    needed = needed if peak is None else replace(needed, peaks=(peak_of(needed, peak),))
    return plan(needed, Workload(name="chat", pools=(pool,), policy=policy), pool, NOW - HOUR)


def seen(rpm: list[float], the_plan: Plan | None, spare: int, *, queue: float | None = None) -> Look:
    live = (live_of(rpm), *(() if queue is None else (live_of([queue] * 5, signal=Signal.QUEUE_DEPTH),)))
    demands = () if the_plan is None or the_plan.demand is None else (the_plan.demand,)
    return look(Observation(at=NOW, live=live), demands, spared(spare), Policy())


def replicas(the_plan: Plan) -> list[int]:
    assert the_plan.demand is not None
    steps = range(the_plan.demand.load.shape[1])
    return [floor.replicas for i in steps if (floor := the_plan.floor_at(the_plan.demand.step_start(i))) is not None]


@given(loads, spares, st.sampled_from(Shape), st.none() | st.integers(1, 250))
def test_a_plan_has_exactly_k_more_wherever_the_load_binds_and_none_where_there_is_no_load(
    load: list[float], spare: int, shape: Shape, peak: int | None
) -> None:
    policy = Policy(shape=shape)
    bare, with_spare = (planned(load, k, policy, peak=peak) for k in (0, spare))
    assert replicas(with_spare) == [n + spare if n else 0 for n in replicas(bare)]


@given(loads, spares, st.integers(0, 30), st.integers(30, 60))
def test_bounds_and_windows_have_no_spare_on_top(load: list[float], spare: int, least: int, most: int) -> None:
    policy = Policy(minimum=least, maximum=most, windows=(ALL_DAY,))
    bare, found = replicas(planned(load, 0)), replicas(planned(load, spare, policy))
    assert found == [min(most, max(n + spare if n else 0, 22, least)) for n in bare]
    assert max(found) <= most


@given(loads, st.integers(0, 500), spares)
def test_more_load_or_more_spare_lowers_no_floor_of_a_plan(load: list[float], more: int, spare: int) -> None:
    here = replicas(planned(load, spare))
    for other in (planned([rpm + more for rpm in load], spare), planned(load, spare + 1)):
        assert all(a <= b for a, b in zip(here, replicas(other), strict=True))


def test_a_plan_tells_how_many_are_for_the_load_and_how_many_are_spare() -> None:
    (floor, *_) = planned([115.0] * 6, 2).floors
    assert (floor.replicas, floor.reason.code) == (14, Code.SIGNAL_BINDS)
    assert floor.reason.detail.endswith("a replica carries 10; 12 for the load and 2 spare")


def test_a_promise_about_waits_is_kept_by_those_for_the_load_and_the_spare_ones_stand_on_top() -> None:
    slo = WaitSlo(wait_p95_s=1.0, service_s=6.0)
    found = []
    for spare in (0, 2):
        pool = spared(spare, slo=slo)
        needed = replace(demand_of([20.0] * 6), margin=pool.margin)
        (floor, *_) = plan(needed, Workload(name="chat", pools=(pool,), policy=Policy()), pool, NOW).floors
        found.append(floor)
    assert {floor.reason.code for floor in found} == {Code.QUEUEING_BINDS}
    assert found[1].replicas == found[0].replicas + 2 > 4


@given(st.integers(1, 2_000), st.integers(1, 2_000), spares)
def test_live_load_is_answered_with_exactly_k_more(load: int, rpm: int, spare: int) -> None:
    bare, found = (
        correct(made, seen([float(rpm)] * 180, made, k), Policy()) for k, made in ((k, planned([float(load)] * 40, k)) for k in (0, spare))
    )
    assert found.floor == bare.floor + spare
    assert found.need == pytest.approx(bare.need + spare)


@given(st.integers(1, 2_000), st.integers(1, 2_000), spares)
def test_a_nowcast_is_answered_with_exactly_k_more(load: int, rpm: int, spare: int) -> None:
    learned = nowcast_of(weights=(0.5, 0.25, 0.25))
    bare, found = (
        correct(made, seen([float(rpm)] * 180, made, k), Policy())
        for k, made in ((k, knowing(planned([float(load)] * 40, k), learned)) for k in (0, spare))
    )
    assert found.floor == bare.floor + spare


@given(st.integers(0, 1_000), st.integers(0, 1_000), spares)
def test_a_backlog_is_answered_with_exactly_k_more(rpm: int, queue: int, spare: int) -> None:
    bare, found = (seen([float(rpm)] * 10, None, k, queue=float(queue)).need for k in (0, spare))
    assert bare is not None
    assert found == (bare + spare if bare else 0)


def test_a_lull_without_load_fades_to_zero_and_has_no_spare() -> None:
    made = planned([200.0] * 140, 3)
    (floor, *_) = made.floors
    assert floor.replicas == 23
    late = NOW + 4 * HOUR
    idle = look(Observation(at=late, live=(live_of([0.0] * 300, until=late),)), (made.demand,) if made.demand else (), spared(3), Policy())
    found = correct(made, idle, Policy())
    assert found.floor == 0
    assert Code.FLOOR_DECAYED in {reason.code for reason in found.reasons}


def test_without_a_plan_live_load_has_its_spare_and_the_fallback_has_none() -> None:
    policy = Policy(minimum=0, fallback=12, allow_below_original=True)
    for rpm, floor in ((95.0, 12), (115.0, 14), (0.0, 12)):
        decision = guard(case_of(None, seen([rpm] * 10, None, 2), policy=policy, seen=seen_of(original=0)))
        assert decision.floor == floor  # 10 and 2 are not more than the fallback, 12 and 2 are


def test_a_floor_never_exceeds_max_for_its_spare() -> None:
    policy = Policy(maximum=13)
    made = planned([115.0] * 40, 5, policy)
    assert max(replicas(made)) == 13
    assert guard(case_of(made, seen([115.0] * 180, made, 5), policy=policy)).floor == 13


def test_a_jitter_around_a_whole_number_is_no_reason_to_move_with_spare_either() -> None:
    made = planned([60.3] * 40, 2)
    assert correct(made, seen([59.7] * 180, made, 2), Policy()).need == pytest.approx(8.03)


def test_what_is_away_of_spot_replicas_is_asked_for_first_and_the_spare_ones_after() -> None:
    pool = replace(pool_of(lead_s=600), spare=2, preempted_per_hour=3.0)  # one half is away
    assert present(pool).margin == Margin(spare=2)
    assert present(pool).capacity.rpm == pytest.approx(5)


@given(st.integers(10, 400), st.integers(1, 5))
def test_spare_replicas_are_worth_least_under_a_budget(load: int, spare: int) -> None:
    needed = replace(demand_of([float(load)] * 6), margin=Margin(spare=spare))
    asked = -(-load // 10) + spare
    worth = likely(odds(needed), 0, asked)
    assert (worth[-spare:] == 0).all()
    assert (worth[:-spare] > 0).all()
    assert all(a >= b for a, b in pairwise(worth))


def test_a_replica_that_max_left_to_the_load_is_not_taken_for_a_spare_one() -> None:
    needed = replace(demand_of([115.0] * 6), margin=Margin(spare=3))
    assert np.flatnonzero(likely(odds(needed), 0, 13) == 0).tolist() == [12]  # 12 for the load, and 1 of the 3 that max left


def test_a_budget_gives_what_loads_ask_for_before_any_spare_replica_of_the_same_priority() -> None:
    claim = Claim(budget="h100")
    chat = Contender(name="chat", claim=claim, minimum=0, plan=planned([100.0] * 40, 4))
    batch = Contender(name="batch", claim=claim, minimum=0, plan=planned([100.0] * 40, 0))
    (first, second), (short,) = apportioned(Budget(name="h100", gpus=20), [chat, batch], NOW)
    assert first is not None
    assert second is not None
    assert (first.floors[-1].replicas, second.floors[-1].replicas) == (10, 10)
    assert short.needed == 24
