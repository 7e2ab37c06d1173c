"""A record at the grain of the replay."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.simulate.fleet import Fleet
from forecaster.simulate.minutes import MinuteLoad, as_known_by_midnight, minute_load
from forecaster.simulate.trial import Trial
from forecaster.trace import Trace

START = datetime(2024, 5, 12, 22, 30, tzinfo=UTC)  # a Sunday
MIDNIGHT = datetime(2024, 5, 13, tzinfo=UTC)


def record(minutes: int) -> MinuteLoad:
    return MinuteLoad(start=START, rpm=np.arange(minutes, dtype=float))


def test_load_is_linear_between_the_stamps_of_buckets_also_across_gaps() -> None:
    trace = Trace(start=MIDNIGHT, bucket_s=300, counts=np.array([50.0, np.nan, 150.0]))
    minutes = minute_load(trace)
    assert minutes.rpm.tolist() == [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 30, 30, 30, 30]
    assert minutes.end == trace.end


def test_load_as_known_by_midnight_holds_the_last_value_of_the_day() -> None:
    trace = Trace(start=START, bucket_s=1_800, counts=np.array([30.0, 60.0, 90.0, 900.0, 930.0]))
    held, whole = as_known_by_midnight(trace).rpm, minute_load(trace).rpm
    assert held[60:90].tolist() == [3.0] * 30
    assert whole[89] > 29
    assert np.array_equal(held[:61], whole[:61])
    assert np.array_equal(held[90:], whole[90:])


def test_load_as_known_by_midnight_holds_over_a_gap_of_days() -> None:
    counts = np.full(4 * 24, 60.0)
    counts[30:80] = np.nan
    counts[80:] = 600.0
    held = as_known_by_midnight(Trace(start=MIDNIGHT, bucket_s=3_600, counts=counts)).rpm
    assert set(held[: 3 * 1_440].tolist()) == {1.0}
    assert held[80 * 60] == 10


def test_days_end_at_utc_midnights() -> None:
    traffic = record(90 + 1_440 + 60).traffic(START, START + timedelta(minutes=90 + 1_440 + 60))
    assert traffic.edges.tolist() == [0, 90, 1_530, 1_590]


def test_a_stretch_that_begins_at_midnight_has_no_empty_part_before_it() -> None:
    traffic = record(200).traffic(MIDNIGHT, MIDNIGHT + timedelta(minutes=100))
    assert traffic.edges.tolist() == [0, 100]
    assert traffic.rpm[0] == 90
    assert traffic.before_rpm[-1] == 89


def test_the_very_first_minute_stands_for_those_before_the_record() -> None:
    assert record(10).traffic(START, START + timedelta(minutes=10)).before_rpm.tolist() == [0]


def test_minutes_know_their_time_of_day_and_weekday() -> None:
    minutes = record(91)
    assert minutes.day_minute()[[0, 89, 90]].tolist() == [1_350, 1_439, 0]
    assert minutes.weekday()[[0, 90]].tolist() == [6, 0]


def test_a_minute_follows_the_step_in_which_it_begins() -> None:
    assert record(100).steps(MIDNIGHT, 320).tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_a_trial_stays_within_its_record() -> None:
    def trial(end: datetime) -> Trial:
        return Trial(minutes=record(100), start=MIDNIGHT, end=end, fleet=Fleet(replica_rpm=1), late_limit_ratio=0.001)

    assert len(trial(MIDNIGHT + timedelta(minutes=10))) == 10
    for end in (MIDNIGHT, MIDNIGHT + timedelta(minutes=11)):
        with pytest.raises(ValueError, match="all of them recorded"):
            trial(end)
