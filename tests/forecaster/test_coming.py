"""What will not be met is told hours ahead, by when it is needed and what stands in the way."""

from dataclasses import replace
from datetime import timedelta

from forecaster.coming import unmet
from forecaster.reasons import ALERTS, Code
from tests.values import NOW, plan_of, seen_of

CALM_THEN_BUSY = [20.0] * 60 + [420.0] * 12 + [480.0] * 12  # 2 replicas, 42 after five hours, then 48


def test_a_ceiling_below_a_floor_to_come_is_told_with_the_hour_and_the_object() -> None:
    (told,) = unmet(plan_of(CALM_THEN_BUSY), seen_of(ceiling=32), NOW)
    assert (told.code, told.before, told.after) == (Code.CEILING_AHEAD, 42, 32)
    assert told.detail == (
        "42 replicas are asked for from 2026-03-02T13:00:00Z on recording:chat, which takes 32 (the most to come is 48): "
        "raise its maximum before"
    )
    assert told.code in ALERTS


def test_a_ceiling_that_is_high_enough_and_one_that_is_not_there_are_no_news() -> None:
    assert unmet(plan_of(CALM_THEN_BUSY), seen_of(ceiling=48), NOW) == ()
    assert unmet(plan_of(CALM_THEN_BUSY), seen_of(ceiling=None), NOW) == ()


def test_what_is_past_is_told_no_more() -> None:
    falling = [480.0] * 6 + [20.0] * 60
    assert unmet(plan_of(falling), seen_of(ceiling=32), NOW)
    assert unmet(plan_of(falling), seen_of(ceiling=32), NOW + timedelta(minutes=30)) == ()


def test_a_shortage_of_now_is_told_for_the_floors_that_need_more_than_is_ready() -> None:
    seen = replace(seen_of(ceiling=60), ready=22, shortage="no stock of p5 in eu-west-1a")
    (told,) = unmet(plan_of(CALM_THEN_BUSY), seen, NOW)
    assert told.code is Code.SHORTAGE_AHEAD
    assert "42 replicas are asked for from 2026-03-02T13:00:00Z" in told.detail
    assert "22 are ready and more do not come now (no stock of p5 in eu-west-1a)" in told.detail
    assert unmet(plan_of([20.0] * 12), seen, NOW) == ()
