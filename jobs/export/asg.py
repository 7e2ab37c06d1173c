"""A timetable as scheduled actions of an EC2 Auto Scaling group.

Schema: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_BatchPutScheduledUpdateGroupAction.html
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from forecaster.errors import ConfigRejected
from forecaster.units import iso, whole_replicas
from jobs.export.week import changes, cron, next_time
from jobs.proof.cron import Timetable

Manifest: TypeAlias = dict[str, object]
_MOST_ACTIONS = 50
"""So many the API takes in one call."""


def scheduled_actions(group: str, table: Timetable, replicas_per_node: int, *, since: datetime | None = None) -> Manifest:
    """The input of `aws autoscaling batch-put-scheduled-update-group-action`: one action a change of the floor.

    Each week's change recurs; with `since` each happens once, the next time that it is due from then on. Every window ends with an action
    that sets the minimum again, since AWS never undoes one. Raises ConfigRejected where there are more than one call takes.
    """
    nodes = _in_nodes(table, replicas_per_node)
    times = _weekly(nodes) if since is None else _once(nodes, since)
    actions = [
        {
            "ScheduledActionName": f"forecaster-{number:02d}-min-{least}",
            **when,
            "MinSize": least,
        }
        for number, (when, least) in enumerate(times, start=1)
    ]
    if len(actions) > _MOST_ACTIONS:
        raise ConfigRejected(
            f"the floor changes {len(actions)} times, and AWS takes {_MOST_ACTIONS} at once; use a policy of shape daily-peak"
        )
    return {"AutoScalingGroupName": group, "ScheduledUpdateGroupActions": actions}


def _weekly(table: Timetable) -> Iterator[tuple[Manifest, int]]:
    for change in changes(table):
        yield {"Recurrence": cron(change.days, change.hour), "TimeZone": "UTC"}, change.replicas


def _once(table: Timetable, since: datetime) -> Iterator[tuple[Manifest, int]]:
    times = sorted((next_time(day, change.hour, since), change.replicas) for change in changes(table) for day in change.days)
    for at, replicas in times:
        yield {"StartTime": iso(at)}, replicas


def _in_nodes(table: Timetable, replicas_per_node: int) -> Timetable:
    """The same in whole nodes, so that a change of replicas that fit on the nodes that are up is no change."""
    windows = tuple(replace(window, replicas=whole_replicas(window.replicas / replicas_per_node)) for window in table.windows)
    return replace(table, minimum=whole_replicas(table.minimum / replicas_per_node), windows=windows)
