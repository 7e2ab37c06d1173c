"""Faults on live load against the plan, replayed minute by minute over a generated day: docs/scenarios.md says who reported each."""

from dataclasses import replace

import numpy as np

from forecaster.decision import Ruling, RulingKind
from forecaster.reasons import Code
from tests.forecaster.replayed import (
    AUTO,
    DAY_MIN,
    MIDNIGHT,
    Day,
    at,
    floors,
    late_ratio,
    lived,
    lowered,
    noisy,
    planned,
    usual_day,
    with_seen,
)

USUAL = usual_day()
PLAN = planned(USUAL)
EIGHT, NOON = 8 * 60, 12 * 60


def plan_at(hour: int, minute: int = 0) -> int:
    floor = PLAN.floor_at(MIDNIGHT.replace(hour=hour, minute=minute))
    assert floor is not None
    return floor.replicas


def test_k02_a_source_that_comes_and_goes_all_morning_never_dips_the_floor() -> None:
    seen = USUAL.copy()
    for start in range(EIGHT, NOON, 30):
        seen[start : start + 17] = np.nan
        seen[start + 17] = 3.0  # the first value after each outage is low
    day = lived(Day(plans=(PLAN,), rpm=USUAL, seen=seen, first=EIGHT - 10, hpa_target=None), 200)
    assert lowered(day) == 0
    assert late_ratio(day, USUAL) == 0


def test_k31_a_forecast_far_too_high_costs_hours_and_not_the_day() -> None:
    quiet = noisy(0.3 * USUAL, 0.1)
    day = lived(Day(plans=(PLAN,), rpm=quiet, first=NOON, start=MIDNIGHT), 60)
    assert late_ratio(day, quiet) == 0
    assert at(day, 12, 59).floor <= 0.5 * plan_at(12, 59)


def test_l02_live_metrics_that_die_at_eight_still_get_the_fleet_its_morning_ramp() -> None:
    """The autoscaler is as blind as we are: the floor alone carries the day from 40 to 400 requests a minute."""
    day = lived(with_seen(Day(plans=(PLAN,), rpm=USUAL, first=EIGHT - 30, hpa_target=None, queue_seen=False), EIGHT), 240)
    blind = [m for m in day if m.at.hour >= 9]
    assert all(m.floor >= plan_at(m.at.hour, m.at.minute) for m in blind)
    assert all(Code.LOAD_UNKNOWN in {reason.code for reason in m.decision.alerts} for m in blind)
    assert late_ratio(day, USUAL) == 0


def test_l02_without_live_metrics_the_evening_lowers_nothing_until_they_are_back() -> None:
    base = Day(plans=(PLAN,), rpm=USUAL, first=18 * 60)
    day = lived(with_seen(base, 18 * 60, 21 * 60), 240)
    assert {m.floor for m in day if m.at.hour < 21} == {at(day, 18).floor}
    assert at(day, 21, 30).floor <= plan_at(21, 15)


def test_l25_workers_that_are_cold_and_slow_change_no_capacity_and_no_floor() -> None:
    slow = np.full(DAY_MIN, 10.0)
    slow[EIGHT : EIGHT + 30] = 4.0
    cold, warm = (lived(Day(plans=(PLAN,), rpm=USUAL, first=EIGHT - 10, replica_rpm=rpm, queue_seen=False), 60) for rpm in (slow, 10.0))
    assert floors(cold) == floors(warm)


def test_l26_a_prefix_cache_that_is_lost_raises_the_floor_by_the_backlog_that_it_leaves() -> None:
    lost = np.full(DAY_MIN, 10.0)
    lost[NOON:] = 6.0
    blind, seeing = (
        lived(Day(plans=(PLAN,), rpm=USUAL, first=NOON - 10, replica_rpm=lost, queue_seen=queue), 60) for queue in (False, True)
    )
    assert set(floors(blind)) == {50}
    assert max(floors(seeing)) > 55
    assert any(Code.QUEUE_DRAIN in m.codes for m in seeing)
    assert sum(m.late for m in seeing) <= sum(m.late for m in blind)
    assert seeing[-1].backlog == 0


def test_l38_a_load_that_is_bounded_by_the_fleet_still_raises_the_floor_through_its_queue() -> None:
    """What is served never exceeds what runs, so it cannot tell that twice as much came; the queue can."""
    launch = USUAL.copy()
    launch[NOON:] *= 2.5
    bounded, queued = (
        lived(Day(plans=(PLAN,), rpm=launch, first=NOON - 10, served=True, hpa_target=None, queue_seen=queue), 90)
        for queue in (False, True)
    )
    assert max(floors(bounded)) < max(floors(queued))
    assert max(floors(queued)) >= 100
    assert queued[-1].backlog < bounded[-1].backlog


def test_l39_a_gauge_that_is_stuck_holds_the_floor_at_what_it_says_and_never_higher() -> None:
    stuck = USUAL.copy()
    stuck[18 * 60 :] = USUAL[18 * 60]
    day = lived(Day(plans=(PLAN,), rpm=USUAL, seen=stuck, first=22 * 60), 120)
    assert max(floors(day)) <= np.ceil(1.25 * USUAL[18 * 60] / 10)
    assert min(floors(day)) >= USUAL[18 * 60] // 10
    low = Ruling(at=MIDNIGHT, workload="chat", kind=RulingKind.OVERRIDE, author="ada", reason="the gauge is stuck", replicas=3)
    assert lived(Day(plans=(PLAN,), rpm=USUAL, seen=stuck, first=22 * 60, rulings=(low,)), 2)[-1].floor >= USUAL[18 * 60] // 10


def test_l41_a_launch_of_three_times_the_forecast_breaks_the_glass_within_minutes_and_alerts() -> None:
    launch = USUAL.copy()
    launch[NOON : NOON + 120] *= 3
    day = lived(Day(plans=(PLAN,), rpm=launch, first=NOON - 10, hpa_target=None), 200)
    broken = next(m for m in day if Code.BREAK_GLASS in {reason.code for reason in m.decision.alerts})
    assert (broken.at - at(day, 12).at).total_seconds() <= 5 * 60
    assert at(day, 12, 10).floor >= 120
    assert at(day, 13).backlog == 0
    assert day[-1].floor <= 60  # an hour after the launch it is the plan's again


def test_l41_one_busy_minute_breaks_no_glass() -> None:
    blip = USUAL.copy()
    blip[NOON] *= 4
    day = lived(Day(plans=(PLAN,), rpm=blip, first=NOON - 10), 40)
    assert not any(Code.BREAK_GLASS in m.codes for m in day)


def test_l42_a_floor_far_too_high_decays_over_hours_without_a_jump() -> None:
    quiet = USUAL.copy()
    quiet[10 * 60 :] *= 0.25
    first, last = (lived(Day(plans=(PLAN,), rpm=quiet, first=hour * 60), 60) for hour in (11, 13))
    assert set(floors(first)) == {50}  # an hour of it is a break
    assert max(-np.diff(floors(last))) <= 2
    assert lowered(last) > 3
    assert late_ratio(last, quiet) == 0


def test_l42_a_floor_that_has_decayed_is_back_as_soon_as_the_load_is() -> None:
    quiet = USUAL.copy()
    quiet[9 * 60 : 14 * 60] *= 0.25
    day = lived(Day(plans=(PLAN,), rpm=quiet, first=13 * 60 + 50), 30)
    assert at(day, 13, 50).floor < 30
    assert at(day, 14, 5).floor >= 50


def test_l42_nothing_decays_while_load_is_unknown() -> None:
    quiet = 0.25 * USUAL
    seen = quiet.copy()
    seen[NOON:] = np.nan
    day = lived(Day(plans=(PLAN,), rpm=quiet, seen=seen, first=NOON - 5), 120)
    assert lowered([m for m in day if m.at.hour * 60 + m.at.minute >= NOON + 5]) == 0


def test_l43_a_lunch_break_does_not_undercut_the_floor() -> None:
    lunch = USUAL.copy()
    lunch[NOON : NOON + 100] *= 0.1
    day = lived(Day(plans=(PLAN,), rpm=lunch, first=NOON - 10), 130)
    assert set(floors(day)) == {50}
    assert late_ratio(day, lunch) == 0


def test_l44_with_no_plan_at_all_the_fleet_is_never_smaller_than_the_autoscalers_own() -> None:
    ours = lived(Day(plans=(), rpm=USUAL, first=EIGHT), 120)
    alone = lived(Day(plans=(), rpm=USUAL, first=EIGHT, policy=replace(AUTO, maximum=1)), 120)
    assert {m.floor for m in alone} == {1}
    assert all(a.ready + a.pending >= b.ready + b.pending for a, b in zip(ours, alone, strict=True))
    assert all(Code.PLAN_MISSING in m.codes for m in ours)
    assert late_ratio(ours, USUAL) <= late_ratio(alone, USUAL)
