"""minSize of an EKS managed node group: GPU nodes that are up before the replicas that need them."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel, to_pascal

from connectors.aws import AwsAccount, AwsConnection, AwsFailed, Json
from connectors.targets.marks import OURS, Marks, floor_mark, read_marks, written_marks
from connectors.targets.taken import below_ceiling, floor_taken, is_ours, original_taken
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable

UNKNOWN_WRITER = "an unknown writer"

_MISSING = TargetMissing, "correct cluster, nodegroup and region in the configuration"
_UNKNOWN_TO_AWS = TargetForbidden, "AWS does not know our credentials: renew them"
_DENIED = TargetForbidden, "allow our role the IAM action {action} on it"
_REFUSED = TargetRefused, "EKS will not take this request as it is"
_MEANINGS: dict[str, tuple[type[TargetError], str]] = {
    "ResourceNotFoundException": _MISSING,
    "NotFoundException": _MISSING,
    "NoCredentials": (TargetForbidden, "give us AWS credentials by environment, profile or the identity of the pod"),
    "UnrecognizedClientException": _UNKNOWN_TO_AWS,
    "InvalidSignatureException": _UNKNOWN_TO_AWS,
    "ExpiredTokenException": _UNKNOWN_TO_AWS,
    "AccessDeniedException": _DENIED,
    "AccessDenied": _DENIED,
    "ResourceInUseException": (TargetUnavailable, "an update of it is under way: try again when it has ended"),
    "InvalidParameterException": _REFUSED,
    "InvalidRequestException": _REFUSED,
    "BadRequestException": _REFUSED,
    "ParamValidation": _REFUSED,
}


class EksNodegroupConfig(BaseModel):
    """One managed node group whose minSize is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["eks-nodegroup"] = Field(description="This kind of target: scalingConfig.minSize of an EKS managed node group.")
    cluster: str = Field(min_length=1, description="Name of the EKS cluster. No default.")
    nodegroup: str = Field(min_length=1, description="Name of the managed node group. No default.")
    region: str = Field(
        min_length=1,
        description="AWS region, such as eu-west-1. No default: two regions may hold clusters of one name, and only one is meant.",
    )
    replicas_per_node: int = Field(
        default=1,
        ge=1,
        description="Replicas that fit on one node; floors are rounded up to whole nodes. Default 1: a large model fills its node.",
    )
    profile: str | None = Field(
        default=None,
        min_length=1,
        description="Profile of ~/.aws/config. Default: none, boto3's own chain (environment, identity of the pod, instance role), because "
        "every other AWS tool looks there too.",
    )
    endpoint_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="URL asked instead of the region's own endpoint, for VPC endpoints. Default: none, AWS's own endpoint.",
    )

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
        fleet = self._fleet(group)
        per_node = self._config.replicas_per_node
        return Seen(
            target=self.name,
            at=now,
            floor=group.scaling_config.min_size * per_node,
            ceiling=group.scaling_config.max_size * per_node,
            original=_original(group, marks) * per_node,
            ready=None if fleet is None else fleet.in_service * per_node,
            pending=None if fleet is None else max(fleet.desired - fleet.in_service, 0) * per_node,
            version=_version(group),
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=_second_writer(group, marks),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole nodes, at most maxSize."""
        per_node = self._config.replicas_per_node
        whole, reasons = below_ceiling(-(-decision.floor // per_node) * per_node, seen, ceiling="maxSize")
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="maxSize")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our tags, then the size. Cut short in between, the next run finds the original in the tags."""
        applied = self.would_set(decision, seen)
        if applied.written:
            group = self._unchanged(seen)
            nodes, before = applied.after // self._config.replicas_per_node, group.scaling_config.min_size
            floors = (before, nodes) if is_ours(applied, seen) else ()
            original = _original(group, self._marks(group, seen.at))
            self._tag(group, written_marks(original=original, floors=floors, valid_until=decision.valid_until))
            if nodes != before and self._resized(group, nodes):
                self._tag(group, floor_mark(nodes))
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original minSize, then removes our tags. Cut short in between, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            group = self._unchanged(seen)
            nodes = applied.after // self._config.replicas_per_node
            if nodes != group.scaling_config.min_size:
                self._tag(group, floor_mark(group.scaling_config.min_size, nodes))
                self._resized(group, nodes)
            self._call("untag_resource", resourceArn=group.nodegroup_arn, tagKeys=list(OURS))
        return applied

    def _resized(self, group: "_Nodegroup", nodes: int) -> bool:
        """Raise minimum and desired together, or lower the minimum alone. False: accepted, but an update under way shows the old size."""
        size = {"minSize": nodes}
        if nodes > group.scaling_config.desired_size:
            size["desiredSize"] = max(nodes, self._asked_for(group))
        self._call("update_nodegroup_config", **self._address, scalingConfig=size)
        after = self._describe().scaling_config.min_size
        if after not in {nodes, group.scaling_config.min_size}:
            msg = f"minSize of {self.name} became {after} while we wrote {nodes}: somebody else writes it, observe again"
            raise TargetConflict(msg)
        return after == nodes

    def _tag(self, group: "_Nodegroup", tags: dict[str, str]) -> None:
        self._call("tag_resource", resourceArn=group.nodegroup_arn, tags=tags)

    def _asked_for(self, group: "_Nodegroup") -> int:
        """Nodes that the Auto Scaling groups were asked for: the cluster autoscaler asks them, and EKS hears of it later."""
        fleet = self._fleet(group)
        return 0 if fleet is None else fleet.desired

    def _unchanged(self, seen: Seen) -> "_Nodegroup":
        group = self._describe()
        if _version(group) != seen.version:
            msg = f"{self.name} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return group

    def _describe(self) -> "_Nodegroup":
        answer = self._call("describe_nodegroup", **self._address)
        try:
            return _Nodegroup.model_validate(answer.get("nodegroup"))
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self.name} was described without a usable {place or 'nodegroup'}: is endpoint_url an EKS endpoint?"
            raise TargetRefused(msg) from error

    def _fleet(self, group: "_Nodegroup") -> "_Fleet | None":
        """The instances behind the node group, None where we may not or cannot see them: a floor does not need them."""
        names = [named.name for named in group.resources.auto_scaling_groups]
        if not names:
            return None
        try:
            answer = self._aws.call("autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=names)
            groups = [_AutoScalingGroup.model_validate(group) for group in answer["AutoScalingGroups"]]
        except (AwsFailed, ValidationError):
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

    def _call(self, operation: str, **parameters: object) -> Json:
        try:
            return self._aws.call("eks", operation, **parameters)
        except AwsFailed as failed:
            raise _target_error(failed, self.name) from failed


def _original(group: "_Nodegroup", marks: Marks) -> int:
    return group.scaling_config.min_size if marks.original is None else marks.original


def _second_writer(group: "_Nodegroup", marks: Marks) -> str | None:
    """Somebody, where minSize is neither what we last wrote nor what stood before. AWS keeps no book of who it was."""
    return UNKNOWN_WRITER if marks.floors and group.scaling_config.min_size not in marks.floors else None


def _version(group: "_Nodegroup") -> str:
    """All that a write rests on. Not desiredSize: the cluster autoscaler moves it at any time, and it is read again anyway."""
    ours = {key: text for key, text in sorted(group.tags.items()) if key.startswith("forecaster/")}
    return json.dumps([group.scaling_config.min_size, group.scaling_config.max_size, ours])


def _target_error(failed: AwsFailed, name: str) -> TargetError:
    """The target's error for a failed call, with the remedy."""
    kind, remedy = _MEANINGS.get(failed.code or "", (TargetUnavailable, "try again later"))
    return kind(f"{name}: {failed}; {remedy.format(action=failed.action)}")


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


class _Nodegroup(_Part):
    nodegroup_arn: str
    scaling_config: _ScalingConfig
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
