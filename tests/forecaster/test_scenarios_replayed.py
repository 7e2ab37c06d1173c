"""Faults on how a floor moves, replayed minute by minute over a generated day: docs/scenarios.md says who reported each."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.calendar import FloorWindow
from forecaster.queueing import WaitSlo
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
)
from tests.values import pool_of

USUAL = usual_day()
PLAN = planned(USUAL)
EVERY_DAY = frozenset(range(7))
EIGHT, NOON = 8 * 60, 12 * 60


def window(start_min: int, end_min: int, replicas: int) -> FloorWindow:
    return FloorWindow(days=EVERY_DAY, start_min=start_min, end_min=end_min, zone="UTC", min_replicas=replicas)


def flat(replicas: float, minutes: int = DAY_MIN) -> np.ndarray:
    """A load that so many replicas carry."""
    return np.full(minutes, 10.0 * replicas)


def test_k23_over_a_busy_noon_the_ceiling_binds_with_an_alert_and_the_evening_comes_back_down() -> None:
    policy = replace(AUTO, hold_s=1_200.0)
    day = lived(Day(plans=(planned(USUAL, policy),), rpm=USUAL, policy=policy, first=17 * 60 + 30, ceiling=40), 300)
    assert at(day, 17, 30).floor == 40
    assert Code.CEILING_BELOW_FLOOR in {reason.code for reason in at(day, 17, 30).decision.alerts}
    assert max(floors(day)) == 40
    assert at(day, 22).floor < 20
    assert not at(day, 22).decision.alerts


def test_k25_overlapping_windows_hold_the_larger_minute_by_minute_and_let_go_in_turn() -> None:
    policy = replace(AUTO, windows=(window(120, 180, 30), window(150, 210, 20)), hold_s=0.0)
    day = lived(Day(plans=(planned(USUAL, policy),), rpm=USUAL, policy=policy, first=110), 110)
    stood = {minute: at(day, minute // 60, minute % 60).floor for minute in (119, 120, 150, 179, 180, 209, 210)}
    assert list(stood.values()) == [6, 30, 30, 30, 20, 20, 6]


def test_k26_every_step_of_a_ramp_is_written_however_small() -> None:
    slow = flat(40) + np.linspace(0, 60, DAY_MIN)  # six replicas over a day: each step is far inside of a tolerance of 10 %
    plan = planned(slow)
    day = lived(Day(plans=(plan,), rpm=slow, first=300), 300)
    asked = [floor.replicas for m in day if (floor := plan.floor_at(m.at)) is not None]
    assert floors(day) == asked
    assert len(set(asked)) >= 2


def test_k27_a_ramp_from_5_to_50_goes_in_steps_of_its_quota_and_does_not_flap() -> None:
    policy = replace(AUTO, raise_per_min=5)
    ramp = np.concatenate([np.full(EIGHT, 40.0), np.full(DAY_MIN - EIGHT, 400.0)])
    day = lived(Day(plans=(planned(ramp, policy),), rpm=ramp, policy=policy, first=EIGHT - 30), 90)
    assert [floor for i, floor in enumerate(floors(day)) if i == 0 or floor != floors(day)[i - 1]] == [5, 30, 35, 40, 45, 50]
    assert Code.RAISE_LIMITED in at(day, 7, 50).codes


def test_k28_two_days_meet_at_midnight_without_a_gap_and_the_first_already_asks_for_the_second() -> None:
    early = np.concatenate([np.full(DAY_MIN, 40.0), np.full(DAY_MIN, 400.0)])  # a batch that begins at midnight
    today, tomorrow = planned(early), planned(early[DAY_MIN:], start=MIDNIGHT + timedelta(days=1))
    day = lived(Day(plans=(today, tomorrow), rpm=early, first=DAY_MIN - 30), 60)
    assert at(day, 23, 40).floor == 5
    assert at(day, 23, 50).floor == 50
    assert set(floors(day)[20:]) == {50}
    assert {m.decision.plan_id for m in day} == {today.id, tomorrow.id}
    assert late_ratio(day, early) == 0


def test_k29_a_floor_of_0_stands_over_an_idle_night_and_ends_before_the_first_request() -> None:
    policy = replace(AUTO, minimum=0, allow_below_original=True, hold_s=0.0)
    idle = np.where(np.arange(DAY_MIN) < EIGHT, 0.0, 200.0)
    day = lived(Day(plans=(planned(idle, policy),), rpm=idle, policy=policy, first=EIGHT - 60), 90)
    assert at(day, 7, 30).floor == 0
    assert at(day, 7, 50).floor == 25


def test_k30_a_plan_that_expires_in_mid_morning_leaves_fallback_and_live_load_and_says_so_at_every_turn() -> None:
    policy = replace(AUTO, expiry_s=10 * 3_600, fallback=8)
    day = lived(Day(plans=(planned(USUAL, policy),), rpm=USUAL, policy=policy, first=9 * 60 + 50), 60)
    after = [m for m in day if m.at.hour >= 10]
    assert all(Code.PLAN_STALE in {reason.code for reason in m.decision.alerts} for m in after)
    assert after[-1].floor >= USUAL[10 * 60 + 45] / 10  # what the load itself needs, not the fallback of 8
    assert after[-1].floor < 50
    assert late_ratio(day, USUAL) == 0


def test_k32_what_a_window_asked_for_is_given_back_when_it_ends_though_the_target_lowers_nothing_by_itself() -> None:
    policy = replace(AUTO, windows=(window(60, 120, 30),), hold_s=0.0)
    day = lived(Day(plans=(planned(USUAL, policy),), rpm=USUAL, policy=policy, first=55, hpa_target=None), 90)
    assert (at(day, 1).floor, at(day, 1, 59).floor, at(day, 2).floor) == (30, 30, 6)
    assert at(day, 2, 1).ready == 6


def test_l19_replicas_that_do_not_come_never_double_the_floor() -> None:
    """Load is 1.6 times the forecast, no replica ever comes, and requests pile up for hours."""
    day = lived(Day(plans=(PLAN,), rpm=1.6 * USUAL, first=EIGHT, hpa_target=None, arrive=False), 240)
    assert day[-1].backlog > 50_000  # within 5 minutes that would take 1,000 replicas
    assert max(floors(day)) == np.ceil(1.6 * USUAL.max() / 10)
    assert Code.PENDING_COUNTED in day[-1].codes


def test_l19_a_backlog_is_not_asked_for_again_by_the_minute_while_its_replicas_start() -> None:
    surge = USUAL.copy()
    surge[NOON : NOON + 60] *= 2.2
    day = lived(Day(plans=(PLAN,), rpm=surge, first=NOON - 30, hpa_target=None), 100)
    counted = [reason for m in day for reason in m.decision.reasons if reason.code is Code.PENDING_COUNTED]
    assert counted
    assert max(floors(day)) < max(reason.before for reason in counted if reason.before is not None)
    assert day[-1].backlog == 0


def test_l20_a_day_has_the_same_floors_under_whatever_autoscaler() -> None:
    days = [lived(Day(plans=(PLAN,), rpm=USUAL, first=EIGHT, hpa_target=target), 120) for target in (0.4, 0.7, None)]
    assert floors(days[0]) == floors(days[1]) == floors(days[2])


@pytest.mark.parametrize(("wobble", "moves"), [(0.04, False), (0.5, True)])
def test_l21_a_need_that_wobbles_around_a_whole_number_moves_the_floor_up_once_and_not_down(wobble: float, moves: bool) -> None:
    at_min = np.arange(DAY_MIN)
    median = flat(6 / 1.25) + 10 * wobble / 1.25 * np.sign(np.sin(2 * np.pi * at_min / 80))
    day = lived(Day(plans=(planned(median),), rpm=median * 0.9, first=300), 400)
    assert bool(lowered(day)) == moves
    assert set(floors(day)) == {6, 7} if moves else floors(day)[-1] == 7


def test_l22_one_noisy_minute_lowers_nothing_and_is_forgotten_within_half_an_hour() -> None:
    calm = flat(7.8)
    calm[400] = 300.0
    day = lived(Day(plans=(planned(flat(7.8)),), rpm=calm, first=390), 60)
    assert floors(day)[0] == floors(day)[-1] == 10
    assert min(floors(day)) == 10
    assert sum(m.floor > 10 for m in day) <= 30


def test_l22_a_noisy_minute_does_not_end_a_lull_of_hours() -> None:
    quiet = 0.3 * USUAL[NOON] * np.ones(DAY_MIN)
    quiet[NOON + 130] = 0.7 * USUAL[NOON]
    plan = planned(np.full(DAY_MIN, USUAL[NOON]))
    day = lived(Day(plans=(plan,), rpm=quiet, first=NOON + 100), 60)
    assert day[-1].floor < plan.floors[0].replicas
    assert all(Code.FLOOR_DECAYED in m.codes for m in day[-20:])


def test_l23_a_hold_shorter_than_the_averaging_span_does_not_make_floors_thrash() -> None:
    """Live load is averaged over 3 minutes and held for 1: noise of 20 % a minute passes under a plan at P95."""
    policy = replace(AUTO, hold_s=60.0)
    load = noisy(flat(20), 0.2)
    day = lived(Day(plans=(planned(flat(20), policy),), rpm=load, policy=policy, first=300), 240)
    assert lowered(day) <= 4
    assert min(floors(day)) >= 25


def test_l24_a_ceiling_lowered_in_mid_day_below_the_minimum_binds_with_an_alert_and_no_error() -> None:
    policy = replace(AUTO, minimum=9)
    low, high = (
        lived(Day(plans=(planned(USUAL, policy),), rpm=USUAL, policy=policy, first=NOON, ceiling=ceiling), 5) for ceiling in (5, 80)
    )
    assert set(floors(low)) == {5}
    assert all(Code.CEILING_BELOW_FLOOR in {reason.code for reason in m.decision.alerts} for m in low)
    assert set(floors(high)) == {50}


def test_l29_no_decision_of_a_launch_raises_by_more_than_five_minutes_worth_of_its_cap() -> None:
    policy = replace(AUTO, raise_per_min=4)
    launch = USUAL.copy()
    launch[NOON:] *= 6
    day = lived(Day(plans=(PLAN,), rpm=launch, policy=policy, first=NOON - 60), 90)
    steps = np.diff(floors(day))
    assert steps.max() == 20
    assert steps[steps > 0][1:].max() == 4


def test_a_pool_that_keeps_its_waits_short_does_so_all_day() -> None:
    slo = WaitSlo(wait_p95_s=1.0, service_s=6.0)
    small, pool = USUAL / 20, replace(pool_of(), slo=slo)
    day = lived(Day(plans=(planned(small, pool=pool),), rpm=small, pool=pool, first=6 * 60), 300)
    assert all(slo.wait_s(m.floor, load / 10) <= slo.wait_p95_s for m, load in zip(day, small[360:660], strict=True))
