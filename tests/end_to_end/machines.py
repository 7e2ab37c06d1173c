"""Machines and replicas that come up behind a group of moto and a HPA of the double, on the clock of the test, from a stock that ends."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.aws import Aws
from tests.aws_fleets import asg
from tests.kube_api import KubeApi

NO_STOCK = "We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested (eu-west-1a)."
_PLENTY = 1_000
_LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(kw_only=True)
class Machines:
    """A group of machines, one replica each, and the HPA of the same name over a Deployment. stock: the most machines there are."""

    aws: Aws
    kube: KubeApi
    name: str
    boots: timedelta
    loads: timedelta
    stock: int = _PLENTY
    _born: dict[str, datetime] = field(default_factory=dict)
    _stood: list[tuple[datetime, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.aws.add_group(self.name, minimum=1, desired=2, maximum=30, in_service=2)
        self.kube.add_hpa("serving", self.name, min_replicas=2, max_replicas=40, scales=f"Deployment/{self.name}")
        self._born = dict.fromkeys((one.instance.id for one in asg(self.name).instance_states), _LONG_AGO)
        self._stood.append((_LONG_AGO, 2))

    @property
    def floors(self) -> tuple[int, int]:
        """What is asked for: machines, and replicas on them."""
        return int(asg(self.name).min_size), self.kube.min_replicas("serving", self.name)

    def tick(self, now: datetime) -> None:
        """The world as it stands at an instant, after what was asked for at the one before it."""
        group, (before, worked) = asg(self.name), self._stood[-1]
        self._stood[-1] = (before, min(self.floors[1], worked))
        group.instance_states = group.instance_states[: min(self.stock, group.desired_capacity)]  # moto starts others while they boot
        if len(group.instance_states) < min(self.stock, group.desired_capacity):  # EC2 Auto Scaling goes on trying
            group.set_desired_capacity(group.desired_capacity)
            group.instance_states = group.instance_states[: self.stock]
        for one in group.instance_states:
            up = now - self._born.setdefault(one.instance.id, before)
            one.lifecycle_state = "InService" if up >= self.boots else "Pending"
        short = group.desired_capacity > len(group.instance_states)
        self.aws.gaps.activities[self.name] = [_failed(self.name, now)] if short else []
        long_ago = max(at for at, _ in self._stood if at <= now - self.loads)
        replicas = min(count for at, count in self._stood if at >= long_ago)
        self.kube.add_workload("serving", self.name, replicas=self.floors[1], ready=replicas)
        self._stood.append((now, self.in_service))

    @property
    def in_service(self) -> int:
        """Machines that work."""
        return sum(one.lifecycle_state == "InService" for one in asg(self.name).instance_states)

    @property
    def ready(self) -> int:
        """Replicas that serve."""
        count: int = self.kube.look("deployments", "serving", self.name)["status"]["readyReplicas"]
        return count


def _failed(name: str, now: datetime) -> dict[str, object]:
    told = {"ActivityId": "a", "AutoScalingGroupName": name, "Description": "Launching a new EC2 instance", "Cause": "capacity"}
    return told | {"StartTime": now, "StatusCode": "Failed", "StatusMessage": NO_STOCK}
