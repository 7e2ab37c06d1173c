"""Scheduled actions, checked against AWS' own description of the call."""

from datetime import UTC, datetime
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from forecaster.errors import ConfigRejected
from jobs.export.asg import scheduled_actions
from jobs.proof.cron import CronWindow, Timetable

OFFICE = Timetable(minimum=2, windows=(CronWindow(days=(0, 1, 2, 3, 4), from_h=8, until_h=17, replicas=9),))


def actions(table: Timetable, replicas_per_node: int = 1, since: datetime | None = None) -> list[dict[str, Any]]:
    asked = scheduled_actions("gpu", table, replicas_per_node, since=since)
    model = botocore.session.get_session().get_service_model("autoscaling").operation_model("BatchPutScheduledUpdateGroupAction")
    assert model.input_shape is not None
    report = ParamValidator().validate(asked, model.input_shape)
    assert not report.has_errors(), report.generate_report()
    found = asked["ScheduledUpdateGroupActions"]
    assert isinstance(found, list)
    return found


def test_every_window_ends_with_an_action_that_sets_the_original_again() -> None:
    up, back = actions(OFFICE)
    assert (up["Recurrence"], up["TimeZone"], up["MinSize"]) == ("0 8 * * 1-5", "UTC", 9)
    assert (back["Recurrence"], back["TimeZone"], back["MinSize"]) == ("0 17 * * 1-5", "UTC", 2)


def test_a_change_of_replicas_that_fit_on_the_nodes_that_are_up_is_no_action() -> None:
    steps = tuple(CronWindow(days=(0,), from_h=hour, until_h=hour + 1, replicas=replicas) for hour, replicas in ((8, 3), (9, 8), (10, 9)))
    assert [one["MinSize"] for one in actions(Timetable(minimum=2, windows=steps), replicas_per_node=8)] == [2, 1]
    assert actions(OFFICE, replicas_per_node=9) == []


def test_no_two_actions_are_due_at_one_time_which_aws_refuses() -> None:
    days = tuple(range(7))
    windows = tuple(CronWindow(days=days, from_h=hour, until_h=hour + 3, replicas=hour) for hour in (6, 9, 12))
    found = actions(Timetable(minimum=1, windows=windows))
    assert [one["MinSize"] for one in found] == [6, 9, 12, 1]
    assert len({one["Recurrence"] for one in found}) == len(found)
    assert len({one["ScheduledActionName"] for one in found}) == len(found)


def test_replicas_become_whole_nodes() -> None:
    assert [one["MinSize"] for one in actions(OFFICE, replicas_per_node=4)] == [3, 1]


def test_a_plan_happens_once() -> None:
    found = actions(OFFICE, since=datetime(2026, 3, 5, 9, tzinfo=UTC))  # a Thursday
    assert [one["StartTime"] for one in found][:3] == ["2026-03-05T17:00:00Z", "2026-03-06T08:00:00Z", "2026-03-06T17:00:00Z"]
    assert not any("Recurrence" in one for one in found)


def test_more_changes_than_one_call_takes_are_refused() -> None:
    windows = tuple(
        CronWindow(days=(day,), from_h=hour, until_h=hour + 1, replicas=9 + day) for day in range(7) for hour in range(0, 24, 2)
    )
    with pytest.raises(ConfigRejected, match="AWS takes 50 at once"):
        scheduled_actions("gpu", Timetable(minimum=1, windows=windows), 1)
