"""What is marked in a history, and what must never be."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.detect.found import detect
from forecaster.detect.plateaus import Companions
from forecaster.marks import MarkKind
from forecaster.series import Floats, Signal
from forecaster.units import floor_to
from tests.forecaster.detect.histories import A_DAY, AN_HOUR, DAY, STEP_S, at, found, instant, kinds, series, spans, usual
from tests.traces import MONDAY, packaged_trace, series_of, usual_rpm

NAN = np.nan


def outage(load: Floats, first: int, stop: int, *, storm: float = 1.0, storm_h: float = 2) -> None:
    """Next to nothing from one bucket to another, and so many times the load after it."""
    load[first:stop] *= 0.01
    load[stop : stop + round(storm_h * AN_HOUR)] *= storm


# usual histories


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("noise_ratio", [0.0, 0.02, 0.1, 0.3])
def test_nothing_is_found_in_a_usual_history(seed: int, noise_ratio: float) -> None:
    assert kinds(usual(56, noise_ratio=noise_ratio, seed=seed)) == []


@pytest.mark.parametrize("days", [1, 2, 5, 8, 14])
def test_nothing_is_found_in_a_young_usual_history(days: int) -> None:
    assert kinds(usual(days)) == []


@pytest.mark.parametrize("step_s", [60, 420, 900, 3_600, 7_200, 86_400])
def test_every_step_is_looked_at_or_left_alone(step_s: int) -> None:
    end = floor_to(MONDAY, step_s)
    load = series_of(np.tile([100.0, 110.0, 90.0], 28), end=end, step_s=step_s)
    assert detect(load, end) == ()


@pytest.mark.parametrize("load", [[], [NAN] * 600, [0.0] * 600, [7.0] * 600])
def test_nothing_is_found_where_there_is_nothing(load: list[float]) -> None:
    assert kinds(np.array(load)) == []


def test_nothing_is_found_in_a_real_week_of_language_model_traffic() -> None:
    trace = packaged_trace()
    assert detect(series_of(trace.counts, end=trace.start + timedelta(minutes=trace.counts.size), step_s=60).coarser(300), MONDAY) == ()


def test_growth_is_no_lie() -> None:
    load = usual(56)
    load *= np.exp(np.linspace(0, np.log(8), load.size))
    assert kinds(load) == []


def test_a_daily_job_that_runs_at_one_minute_is_no_crowd_and_no_reset() -> None:
    load = usual(28)
    load[at(0, 3) :: A_DAY] += 4_000
    assert kinds(load) == []


def test_a_weekly_job_is_no_crowd_and_no_reset() -> None:
    load = usual(28)
    load[at(3, 3) :: 7 * A_DAY] += 4_000
    assert kinds(load) == []


def test_a_closed_weekend_and_a_closed_holiday_are_no_outage() -> None:
    load = usual(56)
    hours = np.arange(load.size) // AN_HOUR % 24
    load[(hours < 7) | (hours >= 19)] = 0
    for weekend in range(5, 56, 7):
        load[at(weekend) : at(weekend + 2)] = 0
    load[at(24) : at(25)] = 0  # a Thursday
    assert kinds(load) == []


def test_a_quiet_holiday_is_kept() -> None:
    load = usual(56)
    load[at(24) : at(26)] *= 0.25
    assert kinds(load) == []


def test_work_that_comes_in_batches_has_no_outage_between_them() -> None:
    rng = np.random.default_rng(3)
    on = np.repeat(rng.random(56 * 6) < 0.4, 4 * AN_HOUR)
    assert kinds(on * rng.lognormal(5, 0.1, on.size)) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_series_whose_nature_is_spikes_keeps_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    load = rng.poisson(3, 56 * A_DAY).astype(np.float64)
    spikes = rng.integers(0, load.size - 20, 60)
    for spike, height in zip(spikes, rng.pareto(1.2, 60) * 30, strict=True):
        load[spike : spike + 6] += height
    assert not {MarkKind.FLASH_CROWD, MarkKind.RESET} & set(kinds(load))


@pytest.mark.parametrize("mean", [0.05, 0.5, 2.0, 5.0])
def test_small_counts_are_no_outage_and_no_reset(mean: float) -> None:
    load = np.random.default_rng(1).poisson(mean, 56 * A_DAY).astype(np.float64)
    assert kinds(load) == []


# gaps and zeros at the start


def test_a_long_gap_is_marked_and_a_short_one_is_not() -> None:
    load = usual()
    load[at(5, 10) : at(5, 10.5)] = NAN
    load[at(9, 10) : at(9, 13)] = NAN
    assert spans(load, MarkKind.GAP) == [(at(9, 10), at(9, 13))]
    assert kinds(load) == [MarkKind.GAP]


def test_a_gap_that_has_not_ended_is_no_mark_yet() -> None:
    load = usual()
    load[-AN_HOUR:] = NAN
    assert kinds(load) == []


def test_days_of_zero_before_the_first_traffic_are_marked_and_a_night_is_not() -> None:
    load = usual()
    load[: at(3, 9)] = 0
    assert spans(load, MarkKind.LEADING_ZEROS) == [(0, at(3, 9))]
    load[: at(2, 12)] = NAN
    assert spans(load, MarkKind.LEADING_ZEROS) == []


# resets


@pytest.mark.parametrize("times", [15, 100, 10_000])
@pytest.mark.parametrize("days", [2, 8, 28])
def test_a_bucket_that_is_absurd_is_marked_as_soon_as_the_load_is_as_before(times: float, days: int) -> None:
    load = usual(days)
    spike = load.size - 3
    load[spike] = times * load.max()
    assert spans(load, MarkKind.RESET) == [(spike, spike + 1)]
    assert kinds(load, now=instant(load, spike + 1)) == []


def test_several_absurd_buckets_are_marked() -> None:
    load = usual(56)
    for spike in (at(3, 4), at(20, 12), at(20, 14), at(50, 1)):
        load[spike] = 9_000
    assert spans(load, MarkKind.RESET) == [(spike, spike + 1) for spike in (at(3, 4), at(20, 12), at(20, 14), at(50, 1))]


def test_a_bucket_that_falls_alone_is_marked() -> None:
    load = usual()
    load[at(7, 11)] = 2
    assert spans(load, MarkKind.RESET) == [(at(7, 11), at(7, 11) + 1)]


# metrics that stand still


def test_a_value_that_stands_still_for_hours_is_a_fault() -> None:
    load = usual()
    load[at(9, 8) : at(9, 14)] = load[at(9, 8)]
    assert spans(load, MarkKind.CAPTURE_FAULT) == [(at(9, 8), at(9, 14))]


def test_a_source_that_repeats_its_hours_does_not_stand_still() -> None:
    assert kinds(np.repeat(usual(28)[::AN_HOUR], AN_HOUR)) == []


def test_exact_zeros_from_which_the_load_comes_back_as_usual_are_a_fault() -> None:
    load = usual()
    load[at(9, 8) : at(9, 14)] = 0
    assert spans(load, MarkKind.CAPTURE_FAULT) == [(at(9, 8), at(9, 14))]


# outages


def test_an_outage_and_its_retry_storm_are_marked_to_the_bucket() -> None:
    load = usual()
    outage(load, at(16, 9.25), at(16, 15.5), storm=2.5)
    assert spans(load, MarkKind.OUTAGE) == [(at(16, 9.25), at(16, 15.5))]
    assert spans(load, MarkKind.RETRY_STORM) == [(at(16, 15.5), at(16, 17.5))]
    assert kinds(load) == [MarkKind.OUTAGE, MarkKind.RETRY_STORM]


def test_days_of_outage_do_not_make_a_storm_of_the_usual_load_after_them() -> None:
    load = usual()
    outage(load, at(22), at(24))  # Tuesday and Wednesday of the last week
    load[at(24) : at(24, 3)] *= 4
    assert spans(load, MarkKind.OUTAGE) == [(at(22), at(24))]
    assert spans(load, MarkKind.RETRY_STORM) == [(at(24), at(24, 3))]


def test_an_outage_is_seen_while_it_lasts() -> None:
    load = usual()
    outage(load, load.size - 15 * AN_HOUR, load.size)
    assert spans(load, MarkKind.OUTAGE) == [(load.size - 15 * AN_HOUR, load.size)]


def test_what_lasts_for_days_is_no_outage_but_the_end_of_a_service() -> None:
    load = usual()
    outage(load, load.size - 3 * A_DAY, load.size)
    assert MarkKind.OUTAGE not in kinds(load)


def test_an_outage_of_a_whole_day_is_marked() -> None:
    load = usual(56)
    outage(load, at(30), at(31), storm=2, storm_h=3)
    assert kinds(load) == [MarkKind.OUTAGE, MarkKind.RETRY_STORM]


# crowds


def test_a_crowd_that_came_once_is_marked_a_day_after_it() -> None:
    load = usual()
    load[at(16, 12) : at(16, 16)] *= 5
    assert spans(load, MarkKind.FLASH_CROWD) == [(at(16, 12), at(16, 16))]
    assert kinds(load, now=instant(load, at(16, 20))) == []
    assert kinds(load, now=instant(load, at(17, 20))) == [MarkKind.FLASH_CROWD]


def test_of_two_weeks_a_crowd_is_marked_only_where_the_week_before_or_after_it_was_seen() -> None:
    early, late = usual(10), usual(10)
    early[at(0, 12) : at(0, 14)] *= 5
    late[at(5, 12) : at(5, 14)] *= 5
    assert kinds(early) == [MarkKind.FLASH_CROWD]
    assert kinds(late) == []


def test_crowds_that_come_again_are_kept() -> None:
    load = usual(56)
    for day, times in ((9, 5), (37, 4)):
        load[at(day, 12) : at(day, 16)] *= times
    assert kinds(load) == []


def test_a_level_that_stays_is_no_crowd() -> None:
    load = usual()
    load[at(26, 9) :] *= 4
    assert MarkKind.FLASH_CROWD not in kinds(load)


# capped days


def capped(load: Floats, days: list[int], most: float) -> None:
    for day in days:
        whole = slice(at(day), at(day + 1))
        load[whole] = np.where(load[whole] > most, most * np.random.default_rng(day).normal(1, 0.004, A_DAY), load[whole])


def test_days_that_were_served_at_a_plateau_are_censored() -> None:
    load = usual(28)
    load[at(15) : at(17)] *= 1.6
    capped(load, [15, 16], 300)
    marks = spans(load, MarkKind.CENSORED)
    assert {first // A_DAY for first, _ in marks} == {15, 16}
    assert all(stop - first > 4 * AN_HOUR for first, stop in marks)
    assert set(kinds(load)) == {MarkKind.CENSORED}


def test_days_that_are_always_flat_are_not_censored() -> None:
    load = usual(28)
    capped(load, list(range(28)), 220)
    assert kinds(load) == []


def test_a_full_gauge_is_censored_and_not_at_fault() -> None:
    load = usual(28)
    load[at(15) : at(16)] = np.minimum(load[at(15) : at(16)] * 1.5, 256)
    assert set(kinds(load)) == {MarkKind.CENSORED}


def test_requests_that_wait_while_the_load_is_at_its_top_censor_it() -> None:
    load, queue = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], queue[busy] = 320, np.linspace(10, 400, AN_HOUR)
    marks = found(load, companions=Companions(pressures=(replace(series(queue), signal=Signal.QUEUE_DEPTH),)))
    assert [mark.kind for mark in marks] == [MarkKind.CENSORED]
    assert marks[0].detail == "requests waited for 1.0 h"


def test_requests_that_were_refused_while_the_load_is_at_its_top_censor_it() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], refused[busy] = 320, 40
    refused[at(17, 3) : at(17, 5)] = 40  # some client by night
    none, refusals = np.zeros(load.size), replace(series(refused), signal=Signal.REFUSED)
    for others in ((), (replace(series(none), signal=Signal.QUEUE_DEPTH),)):
        marks = found(load, companions=Companions(pressures=(*others, refusals)))
        assert [(mark.kind, mark.span.start, mark.detail) for mark in marks] == [
            (MarkKind.CENSORED, instant(load, at(15, 11)), "requests were refused for 1.0 h")
        ]


def test_a_load_that_stands_still_while_requests_are_refused_is_all_that_was_served() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 10), at(15, 15))
    load[busy], refused[busy] = 150, 40
    load[at(15, 15) : at(15, 16)] = 330  # what had waited
    assert kinds(load) == [MarkKind.CAPTURE_FAULT]
    (mark,) = found(load, companions=Companions(pressures=(replace(series(refused), signal=Signal.REFUSED),)))
    assert mark.kind is MarkKind.CENSORED
    assert mark.detail.endswith("for 5.0 h while requests were refused")


def test_a_few_refusals_beside_a_large_load_say_nothing() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], refused[busy] = 320, 3
    assert found(load, companions=Companions(pressures=(replace(series(refused), signal=Signal.REFUSED),))) == ()


def test_a_load_at_what_the_replicas_carry_is_censored() -> None:
    load = usual(28)
    limit = np.full(load.size, 10_000.0)
    limit[at(15, 10) : at(15, 12)] = load[at(15, 10) : at(15, 12)]
    marks = found(load, companions=Companions(limit=series(limit)))
    assert [(mark.kind, mark.span.start) for mark in marks] == [(MarkKind.CENSORED, instant(load, at(15, 10)))]


# levels


@pytest.mark.parametrize("times", [0.5, 1.6, 3.0])
def test_a_level_that_has_lasted_three_days_is_told_once(times: float) -> None:
    load = usual()
    load[at(18) :] *= times
    assert spans(load, MarkKind.LEVEL_SHIFT) == [(at(18), at(21))]
    assert kinds(load) == [MarkKind.LEVEL_SHIFT]


# all


def test_nothing_after_the_origin_is_looked_at() -> None:
    load = usual(42)
    outage(load, at(16, 9), at(16, 15), storm=2.5)
    load[at(20, 3)], load[at(30, 12) : at(30, 16)] = 9_000, load[at(30, 12) : at(30, 16)] * 5
    for day in (17.3, 22.0, 33.9):
        now = instant(load, at(0, day * 24))
        assert detect(series(load), now) == detect(series(load).known_at(now), now)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.just(NAN), st.just(0.0), st.floats(0, 1e12)), max_size=300), st.sampled_from([300, 900, 3_600, 21_600, 86_400])
)
def test_no_history_breaks_it_and_every_mark_lies_in_the_history(load: list[float], step_s: int) -> None:
    measured = series_of(load, step_s=step_s)
    for mark in detect(measured, MONDAY):
        assert measured.start <= mark.span.start < mark.span.end <= measured.end
        assert mark.at == MONDAY
        assert mark.detected


def test_the_same_history_gives_the_same_marks_a_day_later() -> None:
    load = usual_rpm(57, end=MONDAY + DAY, step_s=STEP_S).mean.copy()
    outage(load, at(30, 9), at(30, 15), storm=2.5)
    whole = series_of(load, end=MONDAY + DAY, step_s=STEP_S)
    first = [(m.kind, m.span) for m in detect(whole, MONDAY)]
    assert first == [(m.kind, m.span) for m in detect(whole, MONDAY + DAY)]
    assert len(first) == 2
