"""minSize of an EKS managed node group: GPU nodes that are up before the replicas that need them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel, to_pascal

from connectors.aws import AwsAccount, AwsConnection, AwsFailed, Json
from connectors.targets.asg_group import GROUPS
from connectors.targets.aws_errors import aws_target_error
from connectors.targets.aws_settings import EndpointUrl, Profile, Region
from connectors.targets.aws_tags import original_of, owner_of, put_back, remedy_of, second_writer, version_of, write_floor
from connectors.targets.marks import Marks, read_marks
from connectors.targets.per_node import ReplicasPerNode, whole_nodes_taken
from connectors.targets.taken import is_ours, original_taken
from connectors.targets.writers import Writer
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetRefused

_CORRECT = "correct cluster, nodegroup and region in the configuration"
_TERRAFORM = ("scaling_config[0].min_size", "scaling_config[0].desired_size", "tags")

_NO_NODES = frozenset({"AsgInstanceLaunchFailures", "InstanceLimitExceeded", "InsufficientFreeAddresses", "NodeCreationFailure"})
"""Health issues of a node group that keep nodes from coming: a stock-out or quota in EC2, no address left, nodes that do not join."""


class EksNodegroupConfig(BaseModel):
    """One managed node group whose minSize is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["eks-nodegroup"] = Field(description="This kind of target: scalingConfig.minSize of an EKS managed node group.")
    cluster: str = Field(min_length=1, description="Name of the EKS cluster. No default.")
    nodegroup: str = Field(min_length=1, description="Name of the managed node group. No default.")
    region: Region
    replicas_per_node: ReplicasPerNode = 1
    profile: Profile = None
    endpoint_url: EndpointUrl = None

    @property
    def connection(self) -> AwsConnection:
        """Where AWS is asked, and as whom."""
        return AwsConnection(region=self.region, profile=self.profile, endpoint_url=self.endpoint_url)

    @property
    def target(self) -> str:
        """`eks-nodegroup:CLUSTER/NODEGROUP@REGION`."""
        return f"{self.type}:{self.cluster}/{self.nodegroup}@{self.region}"


class EksNodegroupTarget:
    """A ScaleTarget over one node group, in replicas: nodes times `replicas_per_node`.

    The API has no versions: a write reads again, compares what was seen, writes our tags, then the size, and reads once more. The tags
    go first, so that a crash in between loses nothing. desiredSize is raised together with minSize, since EKS refuses a minimum
    above it, and is never lowered: that would end nodes that are at work. Nodes in service come from the Auto Scaling groups
    behind the node group; `ready` and `pending` are None where those cannot be read.
    """

    def __init__(self, config: EksNodegroupConfig, aws: AwsAccount) -> None:
        self.name = config.target
        self._config = config
        self._aws = aws

    def observe(self, now: datetime) -> Seen:
        """The node group as it stands, its limits included: people change them while we run."""
        group = self._describe()
        marks = self._marks(group, now)
        fleet = self._fleet(group, lambda names: [self._aws.described_lately(GROUPS, name) for name in names])
        per_node = self._config.replicas_per_node
        writer = second_writer(group.tags, group.scaling_config.min_size, marks)
        return Seen(
            target=self.name,
            at=now,
            floor=group.scaling_config.min_size * per_node,
            ceiling=group.scaling_config.max_size * per_node,
            original=original_of(group.scaling_config.min_size, marks) * per_node,
            ready=None if fleet is None else fleet.in_service * per_node,
            pending=None if fleet is None else max(fleet.desired - fleet.in_service, 0) * per_node,
            version=_version(group),
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=writer,
            remedy=remedy_of(writer, terraform=_TERRAFORM, field="scalingConfig.minSize"),
            shortage=group.health.shortage,
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole nodes, at most maxSize."""
        return whole_nodes_taken(decision, seen, per_node=self._config.replicas_per_node, ceiling="maxSize")

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="maxSize")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our tags, then the size. Cut short in between, the next run finds the original in the tags."""
        applied = self.would_set(decision, seen)
        if applied.written:
            held = self._unchanged(seen)
            write_floor(
                held,
                count=applied.after // self._config.replicas_per_node,
                ours=is_ours(applied, seen),
                marks=self._marks(held.group, seen.at),
                valid_until=decision.valid_until,
            )
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original minSize, then removes our tags. Cut short in between, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            put_back(self._unchanged(seen), count=applied.after // self._config.replicas_per_node)
        return applied

    def resized(self, group: "_Nodegroup", nodes: int) -> bool:
        """Raise minimum and desired together, or lower the minimum alone. False: accepted, but an update under way shows the old size."""
        size = {"minSize": nodes}
        if nodes > group.scaling_config.desired_size:
            size["desiredSize"] = max(nodes, self._asked_for(group))
        self.call("update_nodegroup_config", **self._address, scalingConfig=size)
        after = self._describe().scaling_config.min_size
        if after not in {nodes, group.scaling_config.min_size}:
            msg = f"minSize of {self.name} became {after} while we wrote {nodes}: somebody else writes it, observe again"
            raise TargetConflict(msg)
        return after == nodes

    def _asked_for(self, group: "_Nodegroup") -> int:
        """Nodes that the Auto Scaling groups were asked for: the cluster autoscaler asks them, and EKS hears of it later."""
        fleet = self._fleet(group, lambda names: list(self._aws.described(GROUPS, names).values()))
        return 0 if fleet is None else fleet.desired

    def _unchanged(self, seen: Seen) -> "_Held":
        group = self._describe()
        if _version(group) != seen.version:
            msg = f"{self.name} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return _Held(group=group, target=self)

    def _describe(self) -> "_Nodegroup":
        answer = self.call("describe_nodegroup", **self._address)
        try:
            return _Nodegroup.model_validate(answer.get("nodegroup"))
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self.name} was described without a usable {place or 'nodegroup'}: is endpoint_url an EKS endpoint?"
            raise TargetRefused(msg) from error

    def _fleet(self, group: "_Nodegroup", described: Callable[[list[str]], list[Json | None]]) -> "_Fleet | None":
        """The instances behind the node group, None where we may not or cannot see them: a floor does not need them."""
        names = [named.name for named in group.resources.auto_scaling_groups]
        if not names:
            return None
        try:
            groups = [_AutoScalingGroup.model_validate(group) for group in described(names) if group is not None]
        except (AwsFailed, KeyError, ValidationError):
            return None
        if len(groups) < len(names):
            return None
        in_service = sum(instance.lifecycle_state == "InService" for group in groups for instance in group.instances)
        return _Fleet(desired=sum(group.desired_capacity for group in groups), in_service=in_service)

    def _marks(self, group: "_Nodegroup", now: datetime) -> Marks:
        return read_marks(group.tags, where=f"node group {self._config.cluster}/{self._config.nodegroup}", now=now)

    @property
    def _address(self) -> dict[str, str]:
        return {"clusterName": self._config.cluster, "nodegroupName": self._config.nodegroup}

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        return owner_of(self._describe().tags, terraform=_TERRAFORM, field="scalingConfig.minSize")

    def call(self, operation: str, **parameters: object) -> Json:
        """An operation of EKS. Raises TargetErrors."""
        try:
            return self._aws.call("eks", operation, **parameters)
        except AwsFailed as failed:
            raise aws_target_error(failed, self.name, missing=_CORRECT) from failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A TaggedFloor: the node group as one turn found it."""

    group: "_Nodegroup"
    target: EksNodegroupTarget

    @property
    def minimum(self) -> int:
        return self.group.scaling_config.min_size

    def tag(self, tags: dict[str, str]) -> None:
        self.target.call("tag_resource", resourceArn=self.group.nodegroup_arn, tags=tags)

    def untag(self, keys: tuple[str, ...]) -> None:
        self.target.call("untag_resource", resourceArn=self.group.nodegroup_arn, tagKeys=list(keys))

    def resize(self, count: int) -> bool:
        return self.target.resized(self.group, count)


def _version(group: "_Nodegroup") -> str:
    return version_of(group.tags, group.scaling_config.min_size, group.scaling_config.max_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fleet:
    """Nodes asked for and nodes in service, over all Auto Scaling groups of a node group."""

    desired: int
    in_service: int


class _Part(BaseModel):
    """A part of an answer of EKS; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _ScalingConfig(_Part):
    min_size: int = Field(ge=0)
    max_size: int = Field(ge=1)
    desired_size: int = Field(ge=0)


class _Named(_Part):
    name: str


class _Resources(_Part):
    auto_scaling_groups: tuple[_Named, ...] = ()


class _Issue(_Part):
    code: str = ""
    message: str = ""


class _Health(_Part):
    issues: tuple[_Issue, ...] = ()

    @property
    def shortage(self) -> str | None:
        """What EKS says of nodes that cannot be launched."""
        failed = next((issue for issue in self.issues if issue.code in _NO_NODES), None)
        return None if failed is None else f"EKS could not launch nodes ({failed.code}): {failed.message}"


class _Nodegroup(_Part):
    nodegroup_arn: str
    scaling_config: _ScalingConfig
    health: _Health = _Health()
    resources: _Resources = _Resources()
    tags: dict[str, str] = Field(default_factory=dict)


class _AutoScalingPart(BaseModel):
    """A part of an answer of EC2 Auto Scaling, which spells in PascalCase."""

    model_config = ConfigDict(frozen=True, alias_generator=to_pascal)


class _Instance(_AutoScalingPart):
    lifecycle_state: str


class _AutoScalingGroup(_AutoScalingPart):
    desired_capacity: int = Field(ge=0)
    instances: tuple[_Instance, ...] = ()
