"""What the last minutes say of the lead window: nothing unless every signal is known, and never below the least of the forecast."""

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.ahead import Ahead, ahead, ahead_reasons, asked_ahead, may_lower, seen_at
from forecaster.calendar import FloorWindow
from forecaster.demand import Demand
from forecaster.nowcast import Nowcast, Seen, steps_ahead
from forecaster.plan import plan
from forecaster.reasons import Code
from forecaster.series import Floats, Signal
from forecaster.units import epoch_s
from forecaster.workload import Blend, Policy, Shape
from tests.forecaster.nowcasts import nowcast_of
from tests.values import CARRY_RPM, NOW, demand_of, peak_of, workload_of

MINUTES = 130
PLAIN = nowcast_of(weights=(0.0, 0.0, 0.0), spread=(math.log(1e-9), 0.0))
"""Its quantile at any level is the largest median."""
USUAL = Seen(deviations=(0.0, 0.0, 0.0), load=100.0)


def seen(load: Floats, median: Floats | None = None, *, step_s: int = 60, late_s: int = 0, nowcast: Nowcast = PLAIN) -> Seen | None:
    """What is seen NOW of buckets of which the last ended `late_s` before."""
    ends_s = epoch_s(NOW) - late_s - step_s * np.arange(load.size)[::-1]
    return seen_at(nowcast, load, np.full(load.size, 100.0) if median is None else median, ends_s, step_s, NOW)


def nowcasting(
    load: list[float], nowcasts: tuple[Nowcast | None, ...] = (PLAIN,), *, least: float = 0.0, median_ratio: float = 0.8
) -> Demand:
    made = demand_of(load, median_ratio=median_ratio)
    return replace(made, nowcasts=nowcasts, least=np.full((1, len(load)), least))


def hourly(medians: list[float], *, window_h: int = 1) -> Demand:
    """Medians of hour buckets, of which the first began NOW."""
    row = np.array([medians])
    return replace(
        nowcasting([0.0]), step_s=3_600, load=row, expected=row, expected_max=row, least=np.zeros_like(row), window_s=window_h * 3_600
    )


def need(demand: Demand, minutes: float = 0) -> float:
    (told,) = ahead(demand, [(Signal.RPM, USUAL)], NOW + timedelta(minutes=minutes))
    return told.need * CARRY_RPM


# what is seen


def test_each_span_is_compared_with_the_median_of_its_own_minutes() -> None:
    load, median = np.full(MINUTES, 100.0), np.full(MINUTES, 100.0)
    load[-5:], load[-15:-5] = 400.0, 200.0
    median[:-120] = 9_999.0  # no span goes back as far
    found = seen(load, median)
    assert found is not None
    of = [400.0, (5 * 400 + 10 * 200) / 15, (5 * 400 + 10 * 200 + 105 * 100) / 120]
    assert found.deviations == pytest.approx([PLAIN.deviation(mean, 100.0) for mean in of])
    assert found.load == pytest.approx(of[1])


def test_minutes_that_were_not_measured_or_not_forecast_count_on_neither_side() -> None:
    load, median = np.full(MINUTES, 100.0), np.full(MINUTES, 100.0)
    load[-4], median[-3] = np.nan, np.nan
    load[-3] = 9_000.0
    found = seen(load, median)
    assert found is not None
    assert found.deviations == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("span_min", [5, 15, 120])
@pytest.mark.parametrize("which", ["load", "median"])
def test_a_span_of_which_nothing_is_known_gives_no_opinion(span_min: int, which: str) -> None:
    """Whoever lacks the last 5 minutes lacks that span alone, and still says nothing."""
    load, median = np.full(MINUTES, 100.0), np.full(MINUTES, 100.0)
    (load if which == "load" else median)[-span_min:] = np.nan
    assert seen(load, median) is None


def test_buckets_longer_than_a_span_stand_for_it_until_the_next_one_has_ended() -> None:
    load = np.array([100.0, 100.0, 300.0])
    for late_s in (0, 1_800, 3_599):
        found = seen(load, step_s=3_600, late_s=late_s)
        assert found is not None
        assert found.deviations == pytest.approx([PLAIN.deviation(x, 100.0) for x in (300.0, 300.0, 200.0)])
        assert found.load == 300.0
    assert seen(load, step_s=3_600, late_s=3_600) is None


# what is asked


def test_the_largest_median_from_now_over_the_window_is_asked_about() -> None:
    """Three steps of five minutes."""
    rising = nowcasting([100.0, 200.0, 300.0, 400.0, 100.0, 100.0], median_ratio=1.0)
    assert [need(rising, minutes) for minutes in (0, 4.9, 5, 15)] == pytest.approx([300.0, 300.0, 400.0, 400.0])


def test_at_the_end_of_the_demand_the_window_is_what_is_left_of_it() -> None:
    assert need(nowcasting([300.0, 200.0, 100.0], median_ratio=1.0), 12) == pytest.approx(100.0)


def test_within_long_buckets_the_median_runs_straight_from_stamp_to_stamp() -> None:
    ramp = hourly([100.0, 220.0, 460.0, 0.0])
    assert [need(ramp, minutes) for minutes in (0, 15, 30, 60)] == pytest.approx([110.0, 140.0, 170.0, 240.0])


def test_a_top_between_two_long_buckets_is_not_missed_and_a_fall_is_followed_down() -> None:
    top = hourly([100.0, 400.0, 100.0, 100.0])
    assert [need(top, minutes) for minutes in (30, 58, 60, 90)] == pytest.approx([275.0, 400.0, 400.0, 250.0])


@pytest.mark.parametrize(("step_s", "steps", "ahead_s"), [(60, 15, 900), (300, 3, 900), (900, 2, 1_200), (3_600, 2, 3_900)])
def test_of_the_last_long_bucket_of_the_window_only_what_no_later_floor_carries_counts(step_s: int, steps: int, ahead_s: int) -> None:
    assert steps_ahead(steps, step_s) * step_s == pytest.approx(ahead_s)


def test_after_the_last_stamp_the_median_stays_as_it_was() -> None:
    assert need(hourly([100.0, 200.0]), 90) == pytest.approx(200.0)


def test_a_window_of_several_long_buckets_looks_at_all_of_their_stamps() -> None:
    far = hourly([100.0, 100.0, 400.0, 100.0, 100.0], window_h=2)
    assert [need(far, minutes) for minutes in (0, 30, 54, 55, 120)] == pytest.approx([125.0, 275.0, 395.0, 400.0, 400.0])


def test_the_level_is_that_of_the_demand() -> None:
    noisy = nowcasting([100.0] * 6, (nowcast_of(weights=(0.0, 0.0, 0.0)),), median_ratio=1.0)
    assert need(replace(noisy, level=0.95)) == pytest.approx(100.5 * math.exp(0.2) - 0.5)
    assert need(replace(noisy, level=0.5)) == pytest.approx(100.0)


@pytest.mark.parametrize("minutes", [-1, 31])
def test_outside_of_the_demand_nothing_is_said(minutes: int) -> None:
    assert ahead(nowcasting([100.0] * 6), [(Signal.RPM, USUAL)], NOW + timedelta(minutes=minutes)) == ()


def test_without_a_nowcast_or_a_least_or_anything_seen_nothing_is_said() -> None:
    known = nowcasting([100.0] * 6)
    assert ahead(known, [(Signal.RPM, USUAL)], NOW)
    for missing in (replace(known, nowcasts=(None,)), replace(known, nowcasts=()), replace(known, least=None)):
        assert ahead(missing, [(Signal.RPM, USUAL)], NOW) == ()
    assert ahead(known, [(Signal.RPM, None)], NOW) == ()
    assert ahead(known, [], NOW) == ()


def two_signals(nowcasts: tuple[Nowcast | None, ...] = (PLAIN, PLAIN)) -> Demand:
    """RPM asks for 8 replicas in the median, concurrency for 24."""
    rows = np.array([[80.0] * 6, [12.0] * 6])
    return replace(
        nowcasting([100.0] * 6),
        signals=(Signal.RPM, Signal.CONCURRENCY),
        load=rows,
        expected=rows,
        expected_max=rows,
        carry=(CARRY_RPM, 0.5),
        nowcasts=nowcasts,
        least=rows / 2,
    )


def test_every_signal_is_told_and_the_neediest_is_asked_for() -> None:
    told = ahead(two_signals(), [(Signal.RPM, USUAL), (Signal.CONCURRENCY, USUAL)], NOW)
    assert [(one.signal, one.least) for one in told] == [(Signal.RPM, 4.0), (Signal.CONCURRENCY, 12.0)]
    assert [one.need for one in told] == pytest.approx([8.0, 24.0])
    assert asked_ahead(told) == pytest.approx(24.0)


def test_one_unknown_signal_makes_all_of_it_unknown() -> None:
    """The one that is missing may be the one that needs most."""
    both = [(Signal.RPM, USUAL), (Signal.CONCURRENCY, USUAL)]
    for nowcasts, live in (
        ((PLAIN, None), both),
        ((None, PLAIN), both),
        ((PLAIN, PLAIN), both[:1]),
        ((PLAIN, PLAIN), [both[0], (Signal.CONCURRENCY, None)]),
    ):
        assert ahead(two_signals(nowcasts), live, NOW) == ()


def test_no_less_than_the_least_of_the_forecast_is_asked_for() -> None:
    (told,) = ahead(nowcasting([100.0] * 6, least=70.0, median_ratio=0.1), [(Signal.RPM, USUAL)], NOW)
    assert told.need == pytest.approx(1.0)
    assert told.least == 7.0
    assert asked_ahead((told,)) == 7.0


# whether a floor may go down


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Policy(), True),
        (Policy(blend=Blend(live_may_lower=False)), False),
        (Policy(shape=Shape.DAILY_PEAK), False),
        (Policy(minimum=90), False),
        (Policy(maximum=3), False),
        (Policy(windows=(FloorWindow(days=frozenset(range(7)), start_min=0, end_min=1_440, zone="UTC", min_replicas=90),)), False),
    ],
    ids=["a forecast", "told not to", "shape daily-peak", "a minimum", "a maximum", "a window"],
)
def test_live_load_lowers_a_floor_of_the_forecast_alone(policy: Policy, told: bool) -> None:
    workload = workload_of(policy)
    made = plan(demand_of([100.0] * 6), workload, workload.pools[0], NOW).floor_at(NOW)
    assert made is not None
    assert may_lower(made, policy) is told


def test_a_floor_that_the_days_peak_has_lifted_is_one_of_the_forecast() -> None:
    workload, demand = workload_of(), demand_of([100.0] * 6)
    made = plan(replace(demand, peaks=(peak_of(demand, 50.0),)), workload, workload.pools[0], NOW).floor_at(NOW)
    assert made is not None
    assert made.reason.code is Code.DAILY_PEAK_BINDS
    assert may_lower(made, workload.policy)


# how it is told


def told(need: float, least: float = 0.0, signal: Signal = Signal.RPM) -> Ahead:
    return Ahead(signal=signal, need=need, least=least)


def test_more_than_planned_is_told_with_level_and_span() -> None:
    (reason,) = ahead_reasons(demand_of([100.0] * 6), (told(12.4), told(3.0, signal=Signal.CONCURRENCY)), 10)
    assert (reason.code, reason.before, reason.after) == (Code.LIVE_ABOVE_PLAN, 10, 13)
    assert reason.detail == "after its last minutes, P95 of rpm over the next 15 min asks for 13"


def test_less_than_planned_is_told_the_same_way() -> None:
    (reason,) = ahead_reasons(demand_of([100.0] * 6), (told(6.0, 3.0),), 10)
    assert (reason.code, reason.before, reason.after) == (Code.LIVE_BELOW_PLAN, 10, 6)
    assert reason.detail == "after its last minutes, P95 of rpm over the next 15 min asks for 6"


def test_where_the_least_of_the_forecast_binds_it_is_named() -> None:
    (reason,) = ahead_reasons(demand_of([100.0] * 6), (told(2.0, 7.5),), 10)
    assert reason.after == 8
    assert (
        reason.detail == "after its last minutes, P95 of rpm over the next 15 min asks for 2, and P24 of the day as it was forecast for 8"
    )


def test_what_the_plan_asks_for_already_is_not_told() -> None:
    assert ahead_reasons(demand_of([100.0] * 6), (told(9.5),), 10) == ()
