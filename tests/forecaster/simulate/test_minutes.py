"""A record at the grain of the replay."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.simulate.fleet import Fleet
from forecaster.simulate.minutes import MinuteLoad, known_until, minute_load
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


def test_load_is_known_until_the_last_stamp_before_an_instant() -> None:
    """What lies between 23:30 and midnight is a line to the bucket that begins at midnight."""
    trace = Trace(start=START, bucket_s=1_800, counts=np.array([30.0, 60.0, 90.0, 900.0, 930.0]))
    assert known_until(trace, MIDNIGHT) == MIDNIGHT - timedelta(minutes=29)
    changed = Trace(start=START, bucket_s=1_800, counts=np.array([30.0, 60.0, 90.0, 0.0, 0.0]))
    until = minute_load(trace).index(known_until(trace, MIDNIGHT))
    assert np.array_equal(minute_load(trace).rpm[:until], minute_load(changed).rpm[:until])
    assert minute_load(trace).rpm[until] != minute_load(changed).rpm[until]


def test_load_is_known_until_the_last_stamp_before_a_gap() -> None:
    counts = np.full(4 * 24, 60.0)
    counts[30:80] = np.nan
    trace = Trace(start=MIDNIGHT, bucket_s=3_600, counts=counts)
    assert known_until(trace, MIDNIGHT + timedelta(days=3)) == MIDNIGHT + timedelta(hours=29, minutes=1)
    assert known_until(trace, MIDNIGHT) == MIDNIGHT


def test_minutes_finer_than_a_minute_are_known_to_their_end() -> None:
    trace = Trace(start=START, bucket_s=20, counts=np.ones(3 * 120))
    assert known_until(trace, MIDNIGHT) == MIDNIGHT


def test_further_cuts_make_further_parts() -> None:
    cuts = (START + timedelta(minutes=10), MIDNIGHT, START - timedelta(minutes=5), MIDNIGHT + timedelta(days=9))
    assert record(100).traffic(START, START + timedelta(minutes=100), cuts).edges.tolist() == [0, 10, 90, 100]


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
