"""Plans within a budget of GPUs: cut instant by instant, and what is missing told hours ahead."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from forecaster.apportion import Contender, apportioned
from forecaster.budget import Budget
from forecaster.case import Case
from forecaster.claim import Claim, Room
from forecaster.decision import Ruling, RulingKind
from forecaster.guard import guard
from forecaster.plan import Plan
from forecaster.reasons import ALERTS, Code
from tests.values import NOW, STEP_S, case_of, decided, look_of, plan_of

CHAT = [160.0] * 60 + [240.0] * 12 + [160.0] * 12  # 16 replicas, 24 from 13:00 to 14:00
BATCH = [120.0] * 66 + [180.0] * 12 + [120.0] * 6  # 12 replicas, 18 from 13:30 to 14:30


def contender(
    name: str, load: list[float] | None, *, minimum: int = 0, priority: int = 0, gpus: int = 1, standing: int = 0, late: float | None = None
) -> Contender:
    made = None if load is None else replace(plan_of(load), workload=name)
    claim = Claim(budget="h100", gpus_per_replica=gpus, priority=priority)
    return Contender(name=name, claim=claim, minimum=minimum, plan=made, standing=standing, late_price=late)


def floors(plan: Plan | None) -> list[int]:
    assert plan is not None
    found = (plan.floor_at(NOW + timedelta(seconds=STEP_S * i)) for i in range(84))
    return [floor.replicas for floor in found if floor is not None]


H100 = Budget(name="h100", gpus=32)


def test_l28_a_budget_smaller_than_the_sum_of_plans_is_given_by_priority_and_the_shortfall_is_told_hours_ahead() -> None:
    (chat, batch), (short,) = apportioned(H100, [contender("chat", CHAT, priority=1), contender("batch", BATCH, minimum=12)], NOW)
    assert floors(chat) == [16] * 60 + [20] * 12 + [16] * 12
    assert floors(batch) == [12] * 66 + [12] * 6 + [16] * 6 + [12] * 6
    assert (short.needed, short.gets) == (42, (20, 12))
    assert short.told == (
        "2026-03-02T13:30:00Z: 42 h100 needed, 32 in quota: batch gets 12 of 18, chat 20 of 24 "
        "(too few from 2026-03-02T13:00:00Z until 2026-03-02T14:30:00Z)"
    )
    assert chat is not None
    (reason,) = (reason for reason in chat.reasons if reason.code is Code.BUDGET_BINDS)
    assert (reason.before, reason.after, reason.detail) == (24, 20, short.told)
    assert Code.BUDGET_BINDS in ALERTS


def test_every_cut_floor_says_what_it_was_to_be() -> None:
    (chat, _), _ = apportioned(H100, [contender("chat", CHAT, priority=1), contender("batch", BATCH, minimum=12)], NOW)
    assert chat is not None
    floor = chat.floor_at(NOW + timedelta(hours=5, minutes=30))
    assert floor is not None
    assert (floor.reason.code, floor.reason.before, floor.reason.after) == (Code.BUDGET_BINDS, 24, 20)
    assert floor.reason.detail == "budget h100 of 32 GPUs gives 20 of 24"


def test_a_span_that_is_cut_to_one_number_tells_of_the_most_that_it_was_to_be() -> None:
    rising = [160.0] * 60 + [220.0] * 4 + [240.0] * 8 + [160.0] * 12
    (chat, _), _ = apportioned(H100, [contender("chat", rising, priority=1), contender("batch", BATCH, minimum=12)], NOW)
    assert chat is not None
    cut = {floor.reason.detail for floor in chat.floors if floor.replicas == 20}
    assert cut == {"budget h100 of 32 GPUs gives 20 of 24"}


def test_plans_that_fit_are_the_very_same() -> None:
    contenders = [contender("chat", CHAT), contender("batch", BATCH)]
    plans, short = apportioned(Budget(name="h100", gpus=42), contenders, NOW)
    assert all(after is before.plan for after, before in zip(plans, contenders, strict=True))
    assert short == ()


def test_equal_pools_are_cut_alike_and_a_price_of_late_requests_tips_the_scale_only_where_all_have_one() -> None:
    (one, other), _ = apportioned(H100, [contender("a", [200.0] * 84), contender("b", [200.0] * 84)], NOW)
    assert floors(one) == floors(other) == [16] * 84
    (one, other), _ = apportioned(H100, [contender("a", [200.0] * 84, late=9.0), contender("b", [200.0] * 84, late=1.0)], NOW)
    assert floors(one)[0] > 16 > floors(other)[0]
    (one, other), _ = apportioned(H100, [contender("a", [200.0] * 84, late=9.0), contender("b", [200.0] * 84)], NOW)
    assert floors(one) == floors(other)


def test_replicas_take_as_many_gpus_as_they_have() -> None:
    (chat, _), (short,) = apportioned(H100, [contender("chat", [40.0] * 84, gpus=8), contender("batch", [80.0] * 84, priority=1)], NOW)
    assert floors(chat) == [3] * 84
    assert short.needed == 40
    assert "chat gets 3 of 4, batch 8 of 8" in short.told


def test_a_pool_without_a_plan_stays_where_it_is_and_others_have_what_it_leaves() -> None:
    (none, chat), _ = apportioned(H100, [contender("lost", None, standing=14), contender("chat", CHAT, priority=5)], NOW)
    assert none is None
    assert floors(chat) == [16] * 60 + [18] * 12 + [16] * 12


def test_minimums_beyond_the_budget_stand_and_are_told() -> None:
    pools = [contender("chat", CHAT, minimum=24), contender("batch", BATCH, minimum=18)]
    (chat, batch), (short,) = apportioned(H100, pools, NOW)
    assert max(floors(chat)) == 24
    assert max(floors(batch)) == 18
    assert "what pools keep at least takes 42" in short.told


def test_what_is_past_is_not_cut() -> None:
    later = NOW + timedelta(hours=6)
    (chat, _), short = apportioned(H100, [contender("chat", CHAT, priority=1), contender("batch", BATCH, minimum=12)], later)
    assert floors(chat) == [16] * 60 + [24] * 12 + [16] * 12
    assert [each.start for each in short] == [later]


def test_any_larger_budget_lowers_no_floor_of_a_plan() -> None:
    rng = np.random.default_rng(5)
    loads = [list(rng.uniform(0, 200, 30).round()) for _ in range(4)]
    pools = [contender(str(i), load, minimum=i, priority=i % 2, gpus=1 + i % 3) for i, load in enumerate(loads)]
    before = [[0] * 30] * 4
    for gpus in range(10, 150, 7):
        plans, _ = apportioned(Budget(name="h100", gpus=gpus), pools, NOW)
        now = [floors(plan) for plan in plans]
        assert all(a <= b for old, new in zip(before, now, strict=True) for a, b in zip(old, new, strict=True))
        before = now


def within(most: int, need: float | None, **more: object) -> Case:
    return case_of(plan_of([100.0] * 12), look_of(need, ratio=1.0), room=Room(budget="h100", gpus=32, most=most), **more)  # type: ignore[arg-type]  # any field of a case


def test_l28_a_raise_by_live_load_beyond_what_is_left_of_the_budget_is_cut_and_told() -> None:
    decision = guard(within(12, 20.0))
    assert (decision.floor, decision.wanted) == (12, 20)
    (reason,) = (reason for reason in decision.reasons if reason.code is Code.BUDGET_BINDS)
    assert reason.detail == "budget h100 of 32 GPUs leaves 12 replicas, 20 were asked for"
    assert reason in decision.alerts
    assert guard(within(20, 20.0)).floor == 20


def test_an_unknown_load_is_lowered_by_no_budget() -> None:
    stood = (decided(18, at=NOW - timedelta(minutes=1)),)
    assert guard(within(12, None, recent=stood)).floor == 18


def test_a_persons_override_stands_beyond_the_budget() -> None:
    override = Ruling(at=NOW - timedelta(minutes=5), workload="chat", kind=RulingKind.OVERRIDE, author="eva", reason="launch", replicas=25)
    assert guard(within(12, 20.0, rulings=(override,))).floor == 25


def test_nodes_are_asked_for_ahead_of_what_their_plan_has_later() -> None:
    rising = plan_of([100.0, 100.0, 200.0, 200.0])
    case = case_of(rising, look_of(9.0, ratio=1.0), room=Room(budget="h100", gpus=32, most=10), ahead_s=900.0)
    assert guard(case).floor == 20
