"""What was asked for a lead time ago and is not ready is named, asked for no second time over, and made up for elsewhere."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.capacity import Capacity
from forecaster.decision import Action, Decision, Seen
from forecaster.guard import guard
from forecaster.overdue import Overdue, due_of, is_shortage, stand_in
from forecaster.overdue import overdue as missing
from forecaster.reasons import ALERTS, Code
from forecaster.workload import Policy, Pool, Workload
from tests.values import NOW, case_of, decided, look_of, plan_of, pool_of, seen_of

MINUTE = timedelta(minutes=1)
LEAD_S = 600.0


def overdue(past: tuple[Decision, ...], seen: Seen) -> Overdue | None:
    return missing(due_of(past, LEAD_S, NOW), seen)


def ready_of(ready: int, *, shortage: str | None = None) -> Seen:
    return replace(seen_of(floor=8), ready=ready, pending=8 - ready, shortage=shortage)


def test_what_was_asked_for_all_along_and_is_not_ready_is_overdue() -> None:
    found = overdue((decided(8, at=NOW - 12 * MINUTE),), ready_of(5))
    assert found is not None
    assert (found.replicas, found.asked, found.ready, found.due) == (3, 8, 5, NOW - 2 * MINUTE)
    assert found.told == "3 of 8 replicas are overdue since 2026-03-02T07:58:00Z"


def test_the_lead_time_counts_from_the_first_floor_that_asked_for_as_many() -> None:
    past = (
        decided(4, at=NOW - 60 * MINUTE),
        decided(8, at=NOW - 40 * MINUTE),
        decided(9, at=NOW - 12 * MINUTE),
        decided(8, at=NOW - MINUTE),
    )
    found = overdue(past, ready_of(5))
    assert found is not None
    assert (found.replicas, found.due) == (3, NOW - 30 * MINUTE)


def test_all_ready_is_nothing_overdue() -> None:
    assert overdue((decided(8, at=NOW - 12 * MINUTE),), ready_of(8)) is None


def test_replicas_whose_lead_time_has_not_passed_are_not_overdue() -> None:
    past = (decided(5, at=NOW - 30 * MINUTE), decided(8, at=NOW - MINUTE))
    assert overdue(past, ready_of(5)) is None
    found = overdue(past, ready_of(4))
    assert found is not None
    assert found.replicas == 1


def test_what_nobody_asks_for_any_more_is_not_overdue() -> None:
    assert overdue((decided(8, at=NOW - 30 * MINUTE), decided(5, at=NOW - MINUTE)), ready_of(5)) is None


def test_where_nobody_can_say_nothing_is_overdue() -> None:
    long_ago = decided(8, at=NOW - 30 * MINUTE)
    assert overdue((long_ago,), seen_of(floor=8)) is None
    assert overdue((decided(8, at=NOW - 5 * MINUTE),), ready_of(1)) is None
    assert overdue((replace(long_ago, action=Action.LEAVE),), ready_of(1)) is None


@pytest.mark.parametrize(("ready", "shortage", "expected"), [(19, None, False), (17, None, True), (20, "no stock", True)])
def test_one_broken_replica_is_no_shortage_and_a_provider_that_says_so_is(ready: int, shortage: str | None, expected: bool) -> None:
    seen = replace(seen_of(floor=20), ready=ready, pending=0, shortage=shortage)
    assert is_shortage(overdue((decided(20, at=NOW - 12 * MINUTE),), seen), seen) is expected


def test_k43_readiness_by_the_end_of_the_lead_time_is_verified_and_said_with_the_providers_own_words() -> None:
    past = (decided(8, at=NOW - 12 * MINUTE),)
    case = case_of(plan_of([80.0] * 12), look_of(7.0), seen=ready_of(5, shortage="no stock of p5 in eu-west-1a"), past=past, recent=past)
    decision = guard(case)
    assert decision.floor == 8
    (said,) = (reason for reason in decision.reasons if reason.code is Code.OVERDUE)
    assert said.detail == "3 of 8 replicas are overdue since 2026-03-02T07:58:00Z: no stock of p5 in eu-west-1a"
    assert Code.OVERDUE in ALERTS


def standing_in() -> Workload:
    main = replace(pool_of(), name="h100", targets=("recording:h100",))
    spare = Pool(
        name="a100",
        capacity=Capacity(rpm=4.0),
        lead_time=main.lead_time,
        targets=("recording:a100",),
        stands_in_for="h100",
        share_ratio=0.1,
    )
    return Workload(name="chat", pools=(spare, main), policy=Policy())


def test_a_pool_stands_in_after_the_one_that_it_stands_in_for_is_decided_on() -> None:
    assert [pool.name for pool in standing_in().in_order] == ["h100", "a100"]


def test_l30_a_pool_on_other_gpus_makes_up_for_what_is_overdue_by_what_each_carries() -> None:
    h100, a100 = standing_in().in_order
    ratio = a100.capacity.over(h100.capacity)
    assert ratio is not None
    assert ratio == pytest.approx(0.4)
    found = Overdue(replicas=3, asked=8, ready=5, due=NOW, shortage="no stock")
    case = case_of(plan_of([20.0] * 12), look_of(1.0), stands_in=stand_in("h100", found, ratio))
    decision = guard(case)
    assert decision.floor == 2 + 8  # 3 x 10 RPM over 4 RPM
    (said,) = (reason for reason in decision.reasons if reason.code is Code.STANDS_IN)
    assert said.detail.startswith("stands in for pool h100, where 3 of 8 replicas are overdue")


@pytest.mark.parametrize(
    ("change", "word"),
    [({"stands_in_for": "b200"}, "must name a pool"), ({"capacity": Capacity(tokens=9.0)}, "signal that both pools")],
)
def test_a_stand_in_that_cannot_be_is_refused(change: dict[str, object], word: str) -> None:
    spare, main = standing_in().pools
    with pytest.raises(ValueError, match=word):
        Workload(name="chat", pools=(replace(spare, **change), main), policy=Policy())  # type: ignore[arg-type]  # any field of Pool
