"""The autoscalers that forecast do what their originals do, and know no more; the clairvoyant knows all and wastes nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet, Policies, replicas_for
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.rivals import clairvoyant_cold_start, dynamo_like, holt_winters, kalman_ahead
from forecaster.simulate.trial import Trial

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
DAY_MIN = 1_440


def trial(rpm: Floats, first_min: int, lead_min: float = 10) -> Trial:
    minutes = MinuteLoad(start=MONDAY, rpm=rpm)
    start = MONDAY + timedelta(minutes=first_min)
    fleet = Fleet(replica_rpm=10, lead_min=lead_min)
    return Trial(minutes=minutes, start=start, end=minutes.end, fleet=fleet, late_limit_ratio=0.001)


def floors(policies: Policies) -> Floats:
    floors: Floats = policies.floors[0, policies.column]
    return floors


def days(count: int, busy_from_min: int = 540) -> Floats:
    """100 RPM, and 300 for an hour a day."""
    minute = np.arange(count * DAY_MIN) % DAY_MIN
    return np.where((minute >= busy_from_min) & (minute < busy_from_min + 60), 300.0, 100.0)


def test_the_kalman_filter_follows_a_line_and_forecasts_its_next_value() -> None:
    line = np.arange(200.0) * 3 + 50
    assert kalman_ahead(line)[-1] == pytest.approx(line[-1] + 3, abs=0.01)


def test_the_kalman_filter_smooths_what_one_interval_says() -> None:
    spike = np.full(100, 100.0)
    spike[-1] = 200.0
    assert 100 < kalman_ahead(spike)[-1] < 160


def test_dynamo_asks_for_the_next_three_minutes_what_the_last_ones_promise() -> None:
    found = floors(dynamo_like(trial(np.full(3 * 200, 95.0), 300)))
    assert set(found.tolist()) == {10.0}
    steps = floors(dynamo_like(trial(np.linspace(100, 1_300, 3 * 200), 300)))
    assert [len(set(steps[i : i + 3].tolist())) for i in range(0, 300, 3)] == [1] * 100
    assert steps[-1] == np.ceil((1_300 - 1) / 10)


def test_holt_winters_has_yesterdays_replicas_in_place_at_the_start_of_its_interval() -> None:
    found = floors(holt_winters(trial(days(6), 5 * DAY_MIN)))
    assert found[500] == np.ceil(100 / 10 / 0.7)
    assert found[540] == np.ceil(300 / 10 / 0.7)


def test_holt_winters_needs_two_seasons() -> None:
    assert (floors(holt_winters(trial(days(3), DAY_MIN))) == 1).all()
    assert floors(holt_winters(trial(days(3), 2 * DAY_MIN)))[545] > 40


@pytest.mark.parametrize(("rival", "interval_min"), [(dynamo_like, 3), (holt_winters, 10)])
@pytest.mark.parametrize("first_min", [3 * DAY_MIN, 3 * DAY_MIN + 7])
def test_a_rival_sees_no_interval_before_it_has_ended(rival: Callable[[Trial], Policies], interval_min: int, first_min: int) -> None:
    calm = days(4) + np.random.default_rng(3).normal(0, 3, 4 * DAY_MIN)
    stormy = calm.copy()
    stormy[first_min + 400 :] = 2_000.0
    before, after = (floors(rival(trial(load, first_min))) for load in (calm, stormy))
    seen = 400 // interval_min * interval_min + interval_min
    assert np.array_equal(before[:seen], after[:seen])
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("rival", [dynamo_like, holt_winters, clairvoyant_cold_start])
@pytest.mark.parametrize("first_min", [0, 1, 37])
def test_a_rival_stands_on_a_record_without_history(rival: Callable[[Trial], Policies], first_min: int) -> None:
    short = trial(days(1)[:200], first_min)
    assert floors(rival(short)).shape == (200 - first_min,)
    assert np.isfinite(short.outcome(rival(short)).replica_hours).all()


@pytest.mark.parametrize("lead_min", [0, 0.5, 10])
def test_the_clairvoyant_is_never_late_and_without_a_cold_start_pays_for_each_minute_what_it_needs(lead_min: float) -> None:
    load = np.random.default_rng(5).uniform(0, 400, 500)
    here = trial(load, 100, lead_min)
    outcome = here.outcome(clairvoyant_cold_start(here))
    assert outcome.late.sum() < 1e-6
    needed = np.maximum(replicas_for(load[100:], 10), 1).sum() / 60
    assert outcome.replica_hours[0] == pytest.approx(needed) if lead_min == 0 else outcome.replica_hours[0] > needed


def test_the_clairvoyant_requests_a_replica_one_lead_time_before_it_is_needed_and_not_sooner() -> None:
    load = np.full(60, 10.0)
    load[30] = 50.0
    found = floors(clairvoyant_cold_start(trial(load, 0)))
    assert found.tolist() == [1] * 20 + [5] * 11 + [1] * 29
