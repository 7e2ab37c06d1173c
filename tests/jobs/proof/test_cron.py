"""Timetables: read off a policy, written for a scheduler, and the same week again."""

from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.fleet import Fleet, Ints, Policies
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial
from jobs.export.week import changes, cron, hours_of, next_time
from jobs.proof.cron import CronWindow, Timetable, timetable, timetable_of
from tests.simulation.traces import START

WORKING = (0, 1, 2, 3, 4)


def office_week(replicas: int = 9) -> Ints:
    week = np.full((7, 24), 2, dtype=np.int64)
    week[:5, 8:17] = replicas
    return week


def test_hours_alike_on_several_days_are_one_window() -> None:
    table = timetable(office_week())
    assert table == Timetable(minimum=2, windows=(CronWindow(days=WORKING, from_h=8, until_h=17, replicas=9),))


def test_a_night_that_is_the_same_every_day_is_one_window_over_midnight() -> None:
    week = np.full((7, 24), 1, dtype=np.int64)
    week[:, 22:] = week[:, :6] = 4
    assert timetable(week).windows == (CronWindow(days=tuple(range(7)), from_h=22, until_h=6, replicas=4),)


@given(st.lists(st.integers(1, 3), min_size=24, max_size=24), st.lists(st.integers(1, 3), min_size=24, max_size=24))
def test_a_timetable_is_the_week_it_was_made_of(working: list[int], weekend: list[int]) -> None:
    week = np.array([working] * 5 + [weekend] * 2, dtype=np.int64)
    assert np.array_equal(hours_of(timetable(week)), week)


@given(st.lists(st.integers(1, 3), min_size=168, max_size=168))
def test_changes_alone_give_the_week_back(hours: list[int]) -> None:
    table = timetable(np.array(hours, dtype=np.int64).reshape(7, 24))
    at = {day * 24 + change.hour: change.replicas for change in changes(table) for day in change.days}
    held, known = [], at[max(at)] if at else hours[0]
    for hour in range(168):
        known = at.get(hour, known)
        held.append(known)
    assert held == hours


def test_another_minimum_drops_the_windows_that_it_covers() -> None:
    assert timetable(office_week(9)).above(9).windows == ()
    assert timetable(office_week(9)).above(8).minimum == 8


def test_cron_writes_days_as_spans_and_every_day_as_a_star() -> None:
    assert cron(WORKING, 8) == "0 8 * * 1-5"
    assert cron((5, 6), 0) == "0 0 * * 0,6"
    assert cron(tuple(range(7)), 22) == "0 22 * * *"


def test_the_next_time_of_an_hour_of_the_week_is_at_most_a_week_ahead() -> None:
    assert next_time(0, 8, START) == START + timedelta(hours=8)  # a Monday
    assert next_time(0, 0, START) == START
    assert next_time(6, 23, START + timedelta(hours=1)) == START + timedelta(days=6, hours=23)


def test_a_policy_is_read_by_the_hour_and_days_that_never_came_are_like_others() -> None:
    minutes = MinuteLoad(start=START, rpm=np.ones(2 * 1_440))  # Monday and Tuesday
    trial = Trial(minutes=minutes, start=START, end=minutes.end, fleet=Fleet(replica_rpm=1.0), late_limit_ratio=0.001)
    busy = (minutes.day_minute() // 60 >= 8) & (minutes.day_minute() // 60 < 17)
    policies = Policies(targets=np.array([0.8]), floors=np.array([[1.0, 5.0]]), column=busy.astype(np.int64))
    table = timetable_of(trial, policies, 0)
    assert table.windows == (CronWindow(days=WORKING, from_h=8, until_h=17, replicas=5),)
    assert (table.minimum, table.target) == (1, 0.8)
