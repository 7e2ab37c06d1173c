"""How EC2 Auto Scaling describes a group, and what its activities tell of machines that do not come."""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_pascal

from connectors.aws import Json, Together

GROUPS = Together(
    service="autoscaling",
    operation="describe_auto_scaling_groups",
    names="AutoScalingGroupNames",
    page="MaxRecords",
    most=100,
    answer="AutoScalingGroups",
    name="AutoScalingGroupName",
)
"""Groups are described a hundred a request."""

_FAILED_WITHIN = timedelta(hours=1)
"""A launch that failed longer ago holds nothing up: EC2 Auto Scaling tries again within minutes for as long as it wants more."""


def failed_launch(newest_first: list["Activity"], now: datetime) -> str | None:
    """What EC2 said of the last launch, if it failed and not long ago."""
    ended = [a for a in newest_first if a.description.startswith("Launching") and a.status_code in {"Successful", "Failed"}]
    if not ended or ended[0].status_code == "Successful" or ended[0].start_time < now - _FAILED_WITHIN:
        return None
    return f"EC2 could not launch: {ended[0].status_message or ended[0].description}"


def refreshing(refreshes: list[Json]) -> str | None:
    """That instances are being replaced."""
    for refresh in refreshes:
        if refresh.get("Status") in {"Pending", "InProgress", "RollbackInProgress"}:
            done = refresh.get("PercentageComplete", 0)
            return f"an instance refresh replaces machines ({refresh['Status']}, {done} % done): those under way are not in service"
    return None


class _Part(BaseModel):
    """A part of an answer of EC2 Auto Scaling; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_pascal)


class _Instance(_Part):
    lifecycle_state: str
    weighted_capacity: int = Field(default=1, ge=1)  # sizes count weights where a group mixes machines of several sizes


class _Process(_Part):
    process_name: str


class _Tag(_Part):
    key: str
    value: str = ""


class Activity(_Part):
    """One thing that the group did or tried: a launch, a termination."""

    description: str = ""
    status_code: str
    status_message: str = ""
    start_time: datetime


class Group(_Part):
    """The group as described: sizes in capacity, which is instances where no weights are given."""

    auto_scaling_group_name: str
    min_size: int = Field(ge=0)
    max_size: int = Field(ge=0)
    desired_capacity: int = Field(ge=0)
    instances: tuple[_Instance, ...] = ()
    suspended_processes: tuple[_Process, ...] = ()
    tags: tuple[_Tag, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """Tags by key."""
        return {tag.key: tag.value for tag in self.tags}

    @property
    def capacity(self) -> int:
        """Capacity of all instances, in service or not: the current size of the group."""
        return sum(one.weighted_capacity for one in self.instances)

    @property
    def in_service(self) -> int:
        """Capacity in service."""
        return sum(one.weighted_capacity for one in self.instances if one.lifecycle_state == "InService")

    @property
    def suspended(self) -> set[str]:
        """Names of the suspended processes."""
        return {process.process_name for process in self.suspended_processes}
