"""Scheduled actions of one scalable target. Only those with our prefix are ever touched.

Schema: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from connectors.aws import Json
from connectors.targets.aws_schedule import PREFIX, ScheduledFloor
from forecaster.errors import TargetMissing

Call: TypeAlias = Callable[..., Json]
"""An operation of Application Auto Scaling by name, with its parameters; raises TargetErrors."""


class ScalableSchedule:
    """The scheduled actions of one scalable target, addressed as its requests are."""

    def __init__(self, address: Mapping[str, str], call: Call) -> None:
        self._address = address
        self._call = call

    def standing(self) -> dict[str, int | None]:
        """The minimum that each action of ours sets, by name."""
        actions: dict[str, int | None] = {}
        page: dict[str, str] = {}
        while True:
            answer = self._call("describe_scheduled_actions", **self._address, **page)
            for action in answer.get("ScheduledActions", ()):
                if action["ScheduledActionName"].startswith(PREFIX):
                    actions[action["ScheduledActionName"]] = action.get("ScalableTargetAction", {}).get("MinCapacity")
            if not answer.get("NextToken"):
                return actions
            page = {"NextToken": answer["NextToken"]}

    def put(self, actions: Sequence[ScheduledFloor]) -> None:
        """One call an action, the one that restores the original first: cut short, floors still end."""
        for action in reversed(actions):
            self._call(
                "put_scheduled_action",
                **self._address,
                ScheduledActionName=action.name,
                Schedule=f"at({action.start:%Y-%m-%dT%H:%M:%S})",
                ScalableTargetAction={"MinCapacity": action.count},
            )

    def delete(self, names: Sequence[str]) -> None:
        """Deletes actions; one that AWS has carried out and removed in the meantime is no error."""
        for name in names:
            try:
                self._call("delete_scheduled_action", **self._address, ScheduledActionName=name)
            except TargetMissing:
                continue

    def clear(self) -> None:
        """Deletes all of ours."""
        self.delete(tuple(self.standing()))
