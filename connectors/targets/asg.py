"""MinSize of an EC2 Auto Scaling group: machines that are up before the replicas that need them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from connectors.aws import AwsAccount, AwsConnection, AwsFailed, Json
from connectors.targets.asg_group import GROUPS, Activity, Group, failed_launch, refreshing
from connectors.targets.asg_schedule import AsgSchedule
from connectors.targets.aws_errors import aws_target_error
from connectors.targets.aws_settings import EndpointUrl, Profile, Region, Scheduled
from connectors.targets.aws_tags import (
    SCHEDULED,
    original_of,
    owner_of,
    put_back,
    remedy_of,
    scheduled_counts,
    scheduled_mark,
    second_writer,
    version_of,
    write_floor,
)
from connectors.targets.marks import Marks, read_marks
from connectors.targets.per_node import ReplicasPerNode, whole_nodes_taken
from connectors.targets.taken import is_ours, original_taken
from connectors.targets.writers import Writer
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetMissing, TargetRefused
from forecaster.schedule import Step

_NODEGROUP = "eks:nodegroup-name"
_TERRAFORM = ("min_size", "desired_capacity", "tag")
_CORRECT = "correct group and region in the configuration"
_NEWEST = 20


class AsgConfig(BaseModel):
    """One Auto Scaling group whose MinSize is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["asg"] = Field(description="This kind of target: MinSize of an EC2 Auto Scaling group.")
    group: str = Field(min_length=1, description="Name of the Auto Scaling group. No default.")
    region: Region
    replicas_per_node: ReplicasPerNode = 1
    scheduled: Scheduled = False
    profile: Profile = None
    endpoint_url: EndpointUrl = None

    @property
    def connection(self) -> AwsConnection:
        """Where AWS is asked, and as whom."""
        return AwsConnection(region=self.region, profile=self.profile, endpoint_url=self.endpoint_url)

    @property
    def target(self) -> str:
        """`asg:GROUP@REGION`."""
        return f"{self.type}:{self.group}@{self.region}"


class AsgTarget:
    """A ScaleTarget over one group, in replicas: its capacity times `replicas_per_node`.

    Raising lifts MinSize and the desired capacity together, lowering moves MinSize alone: a lower desired capacity would end machines that
    are at work. `shortage` says why machines that were asked for do not come: a failed launch, a suspended one, an instance refresh.
    """

    def __init__(self, config: AsgConfig, aws: AwsAccount) -> None:
        self.name = config.target
        self.takes_schedule = config.scheduled
        self._config = config
        self._aws = aws
        aws.enrol(GROUPS, config.group)

    def observe(self, now: datetime) -> Seen:
        """The group as it stands, its limits included: people change them while we run. Described with all others of the account."""
        group = self._group(lambda: self._aws.described_lately(GROUPS, self._config.group))
        marks = self._marks(group, now)
        per_node = self._config.replicas_per_node
        writer = second_writer(group.texts, group.min_size, marks)
        return Seen(
            target=self.name,
            at=now,
            floor=group.min_size * per_node,
            ceiling=group.max_size * per_node,
            original=original_of(group.min_size, marks) * per_node,
            ready=group.in_service * per_node,
            pending=max(group.desired_capacity - group.in_service, 0) * per_node,
            version=_version(group),
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=writer,
            remedy=remedy_of(writer, terraform=_TERRAFORM, field="MinSize"),
            shortage=self._shortage(group, now),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole machines, at most MaxSize."""
        return whole_nodes_taken(decision, seen, per_node=self._config.replicas_per_node, ceiling="MaxSize")

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="MaxSize")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our tags, then the size. Cut short in between, the next run finds the original in the tags."""
        applied = self.would_set(decision, seen)
        if applied.written:
            held = self._unchanged(seen)
            if not self.takes_schedule and SCHEDULED in held.group.texts:
                self._schedule().clear()
                held.untag((SCHEDULED,))
            write_floor(
                held,
                count=applied.after // self._config.replicas_per_node,
                ours=is_ours(applied, seen),
                marks=self._marks(held.group, seen.at),
                valid_until=decision.valid_until,
            )
        return applied

    def release(self, seen: Seen) -> Applied:
        """Deletes our scheduled actions, writes the original MinSize, then removes our tags. Cut short, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            held = self._unchanged(seen)
            if SCHEDULED in held.group.texts:
                self._schedule().clear()
            put_back(held, count=applied.after // self._config.replicas_per_node)
        return applied

    def set_schedule(self, steps: Sequence[Step], seen: Seen) -> int:
        """Makes the scheduled actions of ours those of `steps`; how many were put or deleted. As `Scheduled.set_schedule`."""
        held = _Held(group=self._describe(), target=self)
        group, marks = held.group, self._marks(held.group, seen.at)
        if steps and (marks.paused is not None or marks.original is None):
            msg = f"{self.name} was paused or released since it was observed: observe it again"
            raise TargetConflict(msg)
        if steps and "ScheduledActions" in group.suspended:
            msg = f"{self.name} carries out no scheduled action: resume its process ScheduledActions, or set scheduled: false"
            raise TargetRefused(msg)
        schedule = self._schedule()
        size = {"minimum": group.min_size, "ceiling": group.max_size, "per_unit": self._config.replicas_per_node}
        wanted, put, dropped = schedule.asked(steps, now=seen.at, **size)
        if put:  # the mark goes first: what AWS does in our name is never taken for somebody else's
            done = {group.min_size} & set(scheduled_counts(group.texts))
            held.tag(scheduled_mark((*done, *(action.count for action in wanted))))
            schedule.put(put)
        schedule.delete(dropped)
        if not wanted and SCHEDULED in group.texts:
            held.untag((SCHEDULED,))
        return len(put) + len(dropped)

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        return owner_of(self._describe().texts, terraform=_TERRAFORM, field="MinSize")

    def call(self, operation: str, **parameters: object) -> Json:
        """An operation of EC2 Auto Scaling. Raises TargetErrors."""
        try:
            return self._aws.call("autoscaling", operation, **parameters)
        except AwsFailed as failed:
            raise aws_target_error(failed, self.name, missing=_CORRECT) from failed

    def resized(self, group: Group, count: int) -> bool:
        """Writes the minimum, and the desired capacity with it where AWS would otherwise choose one. False: not seen yet."""
        size = {"MinSize": count}
        if count > group.capacity:  # AWS would set the desired capacity to the minimum, also where more was asked for
            size["DesiredCapacity"] = max(count, group.desired_capacity)
        self.call("update_auto_scaling_group", AutoScalingGroupName=self._config.group, **size)
        after = self._describe().min_size
        if after not in {count, group.min_size}:
            msg = f"MinSize of {self.name} became {after} while we wrote {count}: somebody else writes it, observe again"
            raise TargetConflict(msg)
        return after == count

    def _schedule(self) -> AsgSchedule:
        return AsgSchedule(self._config.group, self.name, self.call)

    def _unchanged(self, seen: Seen) -> "_Held":
        group = self._describe()
        if _version(group) != seen.version:
            msg = f"{self.name} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return _Held(group=group, target=self)

    def _describe(self) -> Group:
        """The group as it stands this moment: what is written rests on it."""
        return self._group(lambda: self._aws.described(GROUPS, (self._config.group,)).get(self._config.group))

    def _group(self, ask: Callable[[], Json | None]) -> Group:
        try:
            described = ask()
            group = None if described is None else Group.model_validate(described)
        except AwsFailed as failed:
            raise aws_target_error(failed, self.name, missing=_CORRECT) from failed
        except (KeyError, ValidationError) as error:
            msg = f"{self.name} was described without usable sizes: is endpoint_url an endpoint of EC2 Auto Scaling?"
            raise TargetRefused(msg) from error
        if group is None:
            msg = f"{self.name}: there is no such group; {_CORRECT}"
            raise TargetMissing(msg)
        nodegroup = group.texts.get(_NODEGROUP)
        if nodegroup is not None:
            msg = f"{self.name} belongs to the EKS node group {nodegroup}, which writes its sizes: make the target an eks-nodegroup"
            raise TargetRefused(msg)
        return group

    def _marks(self, group: Group, now: datetime) -> Marks:
        return read_marks(group.texts, where=f"Auto Scaling group {self._config.group}", now=now)

    def _shortage(self, group: Group, now: datetime) -> str | None:
        """Why what was asked for does not come. Asked only while something is missing; where we may not ask, nobody knows."""
        if "Launch" in group.suspended:
            return "the process Launch of the Auto Scaling group is suspended: no machine starts until it is resumed"
        if group.desired_capacity <= group.in_service:
            return None
        try:
            newest = self._answer("describe_scaling_activities", MaxRecords=_NEWEST)["Activities"]
            failed = failed_launch([Activity.model_validate(activity) for activity in newest], now)
            return failed or refreshing(self._answer("describe_instance_refreshes", MaxRecords=1)["InstanceRefreshes"])
        except (AwsFailed, KeyError, ValidationError):
            return None

    def _answer(self, operation: str, **parameters: object) -> Json:
        return self._aws.call("autoscaling", operation, AutoScalingGroupName=self._config.group, **parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A TaggedFloor: the group as one turn found it."""

    group: Group
    target: AsgTarget

    @property
    def minimum(self) -> int:
        return self.group.min_size

    def tag(self, tags: dict[str, str]) -> None:
        texts = [self._tag(key) | {"Value": text, "PropagateAtLaunch": False} for key, text in tags.items()]
        self.target.call("create_or_update_tags", Tags=texts)

    def untag(self, keys: tuple[str, ...]) -> None:
        self.target.call("delete_tags", Tags=[self._tag(key) for key in keys])

    def resize(self, count: int) -> bool:
        return self.target.resized(self.group, count)

    def _tag(self, key: str) -> Json:
        return {"ResourceId": self.group.auto_scaling_group_name, "ResourceType": "auto-scaling-group", "Key": key}


def _version(group: Group) -> str:
    return version_of(group.texts, group.min_size, group.max_size)
