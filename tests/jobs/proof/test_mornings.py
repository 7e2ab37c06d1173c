"""What a morning is, and when it was missed."""

from datetime import timedelta

import numpy as np
import pytest

from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial
from jobs.proof.mornings import missed, mornings
from tests.simulation.traces import START


def trial(rpm: Floats) -> Trial:
    minutes = MinuteLoad(start=START, rpm=rpm)
    return Trial(minutes=minutes, start=START, end=minutes.end, fleet=Fleet(replica_rpm=10.0), late_limit_ratio=0.001)


def working_day(night: float = 10.0, noon: float = 100.0) -> Floats:
    """Quietest at 04:00, up from 07:00 to 09:00, down from 18:00 to 20:00."""
    hours = np.arange(1_440) / 60
    load = night + (noon - night) * (np.clip((hours - 7) / 2, 0, 1) - np.clip((hours - 18) / 2, 0, 1))
    day: Floats = load - np.where((hours >= 4) & (hours < 4.5), 1.0, 0.0)
    return day


def test_a_morning_rises_from_the_quietest_half_hour_to_near_the_peak() -> None:
    first, second = mornings(trial(np.tile(working_day(), 3)))
    assert (first.first, first.last) == (4 * 60, 9 * 60 + 30)
    assert second.first - first.first == 1_440
    assert [first.day, second.day] == [START.date(), (START + timedelta(days=1)).date()]


def test_a_day_without_a_rise_has_no_morning() -> None:
    assert mornings(trial(np.tile(working_day(night=90.0), 3))) == ()
    assert mornings(trial(np.zeros(4_320))) == ()


def test_less_than_a_day_has_none_either() -> None:
    assert mornings(trial(working_day()[:600])) == ()


@pytest.mark.parametrize(("late_at", "count"), [(8 * 60, 1), (15 * 60, 0)])
def test_a_morning_is_missed_where_its_own_requests_were_late(late_at: int, count: int) -> None:
    rpm = np.tile(working_day(), 3)
    late = np.zeros(rpm.size)
    late[late_at : late_at + 5] = 40.0
    assert len(missed(mornings(trial(rpm)), late, rpm, 0.001)) == count
