"""The policies to be beaten do what their originals do, and know no more."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.series import Floats
from forecaster.simulate.baselines import aws_like, hpa, hpa_candidates, keda_cron_candidates, last_week, static
from forecaster.simulate.fleet import Fleet, Policies
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)


def trial(rpm: Floats, first_day: int, mu: float = 10) -> Trial:
    minutes = MinuteLoad(start=MONDAY, rpm=rpm)
    start = MONDAY + first_day * DAY
    return Trial(minutes=minutes, start=start, end=minutes.end, fleet=Fleet(replica_rpm=mu), late_limit_ratio=0.001)


def floor_at(policies: Policies, minute: int, row: int = 0) -> float:
    return float(policies.floors[row, policies.column[minute]])


def flat(days: int, rpm: float = 100.0) -> Floats:
    return np.full(days * 1_440, rpm)


def test_static_is_ready_for_the_largest_minute_of_the_14_days_before() -> None:
    load = flat(16)
    load[5 * 60] = 990.0  # on the first day, more than 14 days before the trial
    load[3 * 1_440] = 301.0
    policies = static(trial(load, first_day=15))
    assert floor_at(policies, 0) == 31
    assert policies.start is not None
    assert policies.start.tolist() == [31]
    outcome = trial(load, first_day=15).outcome(policies)
    assert outcome.late.sum() == 0
    assert outcome.replica_hours.tolist() == [31 * 24]


def test_a_plain_autoscaler_has_a_floor_of_one() -> None:
    policies = hpa(np.array([0.7]), 5)
    assert [floor_at(policies, minute) for minute in range(5)] == [1] * 5


def test_the_best_target_is_sought_from_a_tenth_to_full_utilisation() -> None:
    targets = hpa_candidates(5).targets
    assert (targets.min(), targets.max(), targets.size) == (0.1, 1.0, 19)


def test_last_week_covers_the_half_hour_that_began_seven_days_ago_both_ends_included() -> None:
    load = flat(9)
    load[600] = 400.0
    policies = last_week(trial(load, first_day=7))
    assert policies.targets.tolist() == [0.8]
    assert [floor_at(policies, minute) for minute in (569, 570, 600, 601)] == [10, 40, 40, 10]


def test_last_week_has_no_floor_where_there_was_no_record() -> None:
    assert floor_at(last_week(trial(flat(4), first_day=3)), 0) == 0


def test_aws_scales_for_the_coming_hour_five_minutes_before_it_begins() -> None:
    load = np.tile(np.repeat(np.where(np.arange(24) == 9, 700.0, 70.0), 60), 15)
    policies = aws_like(trial(load, first_day=14))
    floors = [floor_at(policies, minute) for minute in (9 * 60 - 6, 9 * 60 - 5, 9 * 60, 10 * 60 - 1, 10 * 60)]
    assert floors == [10, 100, 100, 100, 10]


def test_aws_knows_the_weekday_from_14_days() -> None:
    weekend = np.arange(21) % 7 >= 5
    load = np.repeat(np.where(weekend, 70.0, 140.0), 1_440)
    policies = aws_like(trial(load, first_day=14))
    assert floor_at(policies, 12 * 60) == 20
    assert floor_at(policies, 5 * 1_440 + 12 * 60) == 10


def test_aws_looks_at_no_hour_after_the_midnight_of_its_forecast() -> None:
    calm, stormy = flat(16), flat(16)
    stormy[15 * 1_440 :] = 900.0
    before, after = aws_like(trial(calm, first_day=14)), aws_like(trial(stormy, first_day=14))
    assert np.array_equal(before.floors[:, : 1_440 + 1_440 - 5], after.floors[:, : 1_440 + 1_440 - 5])


def test_cron_holds_its_replicas_from_hour_to_hour_on_its_days() -> None:
    """Over a Friday and a Saturday; the trial begins on the Friday."""
    load = flat(6)
    load[4 * 1_440 + 600 : 4 * 1_440 + 660] = 300.0
    policies = keda_cron_candidates(trial(load, first_day=4))
    friday, saturday = range(1_440), range(1_440, 2_880)
    rows = {
        (
            sum(floor_at(policies, minute, row) > 1 for minute in friday),
            sum(floor_at(policies, minute, row) > 1 for minute in saturday),
        )
        for row in range(0, len(policies), 7)
    }
    assert (6 * 60, 6 * 60) in rows
    assert (6 * 60, 0) in rows


def test_a_cron_that_begins_late_holds_over_midnight() -> None:
    policies = keda_cron_candidates(trial(flat(6), first_day=4))
    late_starts = [row for row in range(len(policies)) if floor_at(policies, 23 * 60, row) > 1 and floor_at(policies, 0, row) > 1]
    assert late_starts


def test_cron_candidates_are_sized_by_what_the_days_needed() -> None:
    load = flat(6)
    load[4 * 1_440 :] = np.linspace(50, 300, 2 * 1_440)
    sizes = set(np.unique(keda_cron_candidates(trial(load, first_day=4)).floors))
    assert max(sizes) == 30
    assert min(sizes) == 1


@pytest.mark.parametrize("policy", [static, last_week, aws_like, keda_cron_candidates])
def test_every_policy_stands_on_a_record_that_begins_off_the_hour_and_has_little_history(policy: object) -> None:
    minutes = MinuteLoad(start=MONDAY + timedelta(minutes=37), rpm=flat(3)[37:])
    short = Trial(minutes=minutes, start=MONDAY + DAY, end=minutes.end, fleet=Fleet(replica_rpm=10), late_limit_ratio=0.001)
    assert callable(policy)
    assert np.isfinite(short.outcome(policy(short)).replica_hours).all()
