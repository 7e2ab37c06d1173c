"""Rivals see 28 days and nothing else; nobody sees what comes later."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from benchmarks.accuracy.recordings import Group, Recording
from benchmarks.accuracy.rivals import last_week, prophet_default
from benchmarks.accuracy.rolling import LAST_WEEK, PROPHET, Issued, check_no_peeking, issue, joined
from benchmarks.accuracy.verdicts import judged
from forecaster.models.catalogue import DEFAULT_MODEL
from forecaster.series import Series
from tests.traces import MONDAY, series_of, usual_rpm

STEP_S = 21_600
"""Four buckets a day keep examples short."""


def recording(days: int = 30, scored: int = 2) -> Recording:
    origins = tuple(MONDAY - timedelta(days=ahead) for ahead in range(scored, 0, -1))
    return Recording(name="usual", group=Group.LONG, series=usual_rpm(days), origins=origins)


def days(*loads: float) -> Series:
    return series_of(np.repeat(loads, 4), step_s=STEP_S)


def test_last_week_is_that_load_plus_what_it_was_off_by() -> None:
    week = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    found = last_week(days(*week, *(load + 5 for load in week), *(load + 10 for load in week)))
    assert found.tolist() == [[20 + 5] * 4] * 4


def test_yesterday_stands_in_while_there_is_no_week() -> None:
    assert last_week(days(10, 12, 14)).tolist() == [[16] * 4] * 4


def test_a_bucket_lost_a_week_ago_is_taken_from_two_weeks_ago_then_from_yesterday() -> None:
    known = days(*[10.0] * 21)
    lost = known.mean.copy()
    lost[14 * 4] = np.nan
    lost[7 * 4] = 7
    assert last_week(replace(known, mean=lost, peak=lost))[0].tolist() == [7, 10, 10, 10]
    lost[7 * 4] = lost[0] = np.nan
    lost[20 * 4] = 9
    assert last_week(replace(known, mean=lost, peak=lost))[0].tolist() == [9, 10, 10, 10]


def test_last_week_never_falls_below_zero() -> None:
    assert (last_week(days(*[100.0] * 7, *[0.0] * 7)) >= 0).all()


def test_rivals_look_no_further_back_than_28_days() -> None:
    whole = usual_rpm(40)
    recent = whole.between(whole.end - timedelta(days=28), whole.end)
    assert np.array_equal(prophet_default(whole), prophet_default(recent))


@pytest.mark.parametrize("way", [PROPHET, LAST_WEEK, DEFAULT_MODEL])
def test_nobody_looks_past_the_origin(way: str) -> None:
    check_no_peeking(recording(), way, recording().origins[0])


def test_looking_past_the_origin_is_found_out() -> None:
    def oracle(one: Recording, _way: str) -> Issued:
        return Issued(quantiles=np.repeat(one.actual[:, None], 4, axis=1), peaks=np.empty((1, 0)), own=1, cpu_s=0)

    with pytest.raises(RuntimeError, match="an oracle looked past 2026-02-28 on usual"):
        check_no_peeking(recording(), "an oracle", recording().origins[0], oracle)


def test_parts_are_joined_in_the_order_of_the_origins() -> None:
    whole = recording()
    parts = [issue(replace(whole, origins=(origin,)), LAST_WEEK) for origin in whole.origins]
    assert np.array_equal(joined(parts).quantiles, issue(whole, LAST_WEEK).quantiles)


def test_a_forecast_as_good_as_the_rival_has_a_ratio_of_one() -> None:
    whole = recording()
    ours = issue(whole, DEFAULT_MODEL)
    verdict = judged(whole, {DEFAULT_MODEL: ours, PROPHET: ours, LAST_WEEK: issue(whole, LAST_WEEK)})
    assert verdict.ratios[PROPHET] == 1
    assert verdict.late_ratios == verdict.ratios


def test_what_the_fallback_answers_is_not_the_ways_own() -> None:
    young = recording(days=2, scored=1)
    assert issue(young, "holt_winters").own == 0
    assert issue(young, "profile").own == issue(young, LAST_WEEK).own == 1
