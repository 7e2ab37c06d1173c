"""Scheduled actions of one Auto Scaling group. Only those with our prefix are ever touched.

Rules of AWS: at most 125 a group and 50 a call, start instants unique within the group and in the future; one that happens once is removed
by AWS when it has happened. Schema:
https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_BatchPutScheduledUpdateGroupAction.html
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_pascal

from connectors.aws import Json
from connectors.targets.aws_schedule import MOST, PREFIX, ScheduledFloor, difference, scheduled_floors
from forecaster.errors import TargetRefused, TargetUnavailable
from forecaster.schedule import Step

Call: TypeAlias = Callable[..., Json]
"""An operation of EC2 Auto Scaling by name, with its parameters; raises TargetErrors."""

Item = TypeVar("Item")

_A_GROUP, _A_CALL = 125, 50


class _Action(BaseModel):
    """A scheduled action as described; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_pascal)

    scheduled_action_name: str
    start_time: datetime | None = None
    min_size: int | None = None


class AsgSchedule:
    """The scheduled actions of one group, read when it is opened."""

    def __init__(self, group: str, name: str, call: Call) -> None:
        self._group = group
        self._name = name
        self._call = call
        actions = tuple(self._described())
        self._ours = {a.scheduled_action_name: a.min_size for a in actions if a.scheduled_action_name.startswith(PREFIX)}
        self._taken = {a.start_time for a in actions if a.start_time is not None and a.scheduled_action_name not in self._ours}
        self._room = min(MOST, (_A_GROUP - len(actions) + len(self._ours)) // 2)  # new ones are put before old ones are deleted

    def asked(
        self, steps: Sequence[Step], *, minimum: int, ceiling: int, per_unit: int, now: datetime
    ) -> tuple[tuple[ScheduledFloor, ...], tuple[ScheduledFloor, ...], tuple[str, ...]]:
        """All actions of a schedule, those to put, and the names to delete. Raises TargetRefused where others left no room."""
        if steps and self._room < 2:  # noqa: PLR2004  # a floor, and what restores the original
            msg = f"{self._name} has scheduled actions of others up to the {_A_GROUP} that AWS takes: remove some, or set scheduled: false"
            raise TargetRefused(msg)
        wanted = scheduled_floors(steps, minimum=minimum, ceiling=ceiling, per_unit=per_unit, room=self._room, taken=self._taken)
        return wanted, *difference(wanted, self._ours, now)

    def put(self, actions: Sequence[ScheduledFloor]) -> None:
        """Puts actions that move MinSize alone: AWS raises a lower desired capacity with it, and a lowering ends nothing."""
        for chunk in _chunks(actions):
            told = [{"ScheduledActionName": a.name, "StartTime": a.start, "MinSize": a.count} for a in chunk]
            answer = self._call(
                "batch_put_scheduled_update_group_action", AutoScalingGroupName=self._group, ScheduledUpdateGroupActions=told
            )
            self._check(answer.get("FailedScheduledUpdateGroupActions", ()))

    def delete(self, names: Sequence[str]) -> None:
        """Deletes actions; one that AWS has carried out and removed in the meantime is no error."""
        for chunk in _chunks(names):
            answer = self._call("batch_delete_scheduled_action", AutoScalingGroupName=self._group, ScheduledActionNames=chunk)
            failed = answer.get("FailedScheduledActions", ())
            self._check([one for one in failed if "not found" not in one.get("ErrorMessage", "").lower()])

    def clear(self) -> None:
        """Deletes all of ours."""
        self.delete(tuple(self._ours))

    def _described(self) -> Iterator[_Action]:
        page: dict[str, str] = {}
        while True:
            answer = self._call("describe_scheduled_actions", AutoScalingGroupName=self._group, MaxRecords=100, **page)
            try:
                yield from (_Action.model_validate(action) for action in answer.get("ScheduledUpdateGroupActions", ()))
            except ValidationError as error:
                msg = f"the scheduled actions of {self._name} cannot be read: is endpoint_url an endpoint of EC2 Auto Scaling?"
                raise TargetRefused(msg) from error
            if not answer.get("NextToken"):
                return
            page = {"NextToken": answer["NextToken"]}

    def _check(self, failed: Sequence[Json]) -> None:
        if failed:
            first = failed[0]
            told = first.get("ErrorMessage") or first.get("ErrorCode")
            msg = f"{self._name}: {len(failed)} scheduled actions were not taken, {first.get('ScheduledActionName')} because of: {told}"
            raise TargetUnavailable(msg)


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[i : i + _A_CALL] for i in range(0, len(items), _A_CALL))
