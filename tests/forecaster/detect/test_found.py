"""What must never be marked in a history, levels, and what holds of all marks."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.detect.found import detect
from forecaster.marks import MarkKind
from forecaster.series import Floats
from forecaster.units import floor_to
from tests.forecaster.detect.histories import A_DAY, AN_HOUR, DAY, STEP_S, at, instant, kinds, series, spans, usual
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
