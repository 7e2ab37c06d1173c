"""Gaps, broken buckets, outages with their retry storms, and crowds that came once: what is marked, and to the bucket."""

import numpy as np
import pytest

from forecaster.marks import MarkKind
from forecaster.series import Floats
from tests.forecaster.detect.histories import A_DAY, AN_HOUR, at, instant, kinds, spans, usual

NAN = np.nan


def outage(load: Floats, first: int, stop: int, *, storm: float = 1.0, storm_h: float = 2) -> None:
    """Next to nothing from one bucket to another, and so many times the load after it."""
    load[first:stop] *= 0.01
    load[stop : stop + round(storm_h * AN_HOUR)] *= storm


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
