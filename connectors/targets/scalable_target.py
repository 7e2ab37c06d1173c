"""MinCapacity of a scalable target of Application Auto Scaling: one floor for whatever AWS scales by it.

Schema: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_pascal

from connectors.aws import AwsAccount, AwsFailed, Json
from connectors.targets.aws_errors import aws_target_error
from connectors.targets.aws_schedule import difference, scheduled_floors
from connectors.targets.aws_tags import (
    SCHEDULED,
    original_of,
    put_back,
    remedy_of,
    scheduled_counts,
    scheduled_mark,
    second_writer,
    version_of,
    write_floor,
)
from connectors.targets.marks import Marks, read_marks
from connectors.targets.per_node import whole_nodes_taken
from connectors.targets.scalable_address import SERVICE, Address, Running
from connectors.targets.scalable_schedule import ScalableSchedule
from connectors.targets.taken import is_ours, original_taken
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetMissing, TargetRefused
from forecaster.schedule import Step

_TERRAFORM = ("min_capacity", "tags")
_FAILED_WITHIN = timedelta(hours=1)
"""Application Auto Scaling tries again for as long as it wants more; what failed longer ago holds nothing up."""


class Scaled(Protocol):
    """What is scaled: where it is, how many replicas one unit of its capacity is, and how many units run."""

    @property
    def name(self) -> str:
        """Of the target."""

    @property
    def address(self) -> Address:
        """Of the scalable target."""

    @property
    def per_unit(self) -> int:
        """Replicas."""

    @property
    def scheduled(self) -> bool:
        """Whether coming floors are put as scheduled actions."""

    def running(self, now: datetime) -> Running:
        """As the service itself tells; where we may not ask, nobody knows, and a floor does not need it."""


class ScalableTarget:
    """A ScaleTarget over one scalable target, in replicas. MinCapacity is the floor, MaxCapacity the ceiling.

    Application Auto Scaling raises the desired count itself where it is below the minimum, and lowers it by its policies alone. A
    scalable target that is not there is never registered by us: without a policy nothing would scale above our floor. Our marks are
    tags of the scalable target, not of the endpoint or service, of which there may be several.
    """

    def __init__(self, scaled: Scaled, aws: AwsAccount) -> None:
        self.name = scaled.name
        self.takes_schedule = scaled.scheduled
        self._scaled = scaled
        self._aws = aws
        aws.enrol(scaled.address.alike, scaled.address.resource)

    def observe(self, now: datetime) -> Seen:
        """The scalable target as it stands, its limits included: people change them while we run. Described with those like it."""
        address = self._scaled.address
        held = self._tagged(self._registered(lambda: self._aws.described_lately(address.alike, address.resource)), now)
        minimum, per_unit = held.minimum, self._scaled.per_unit
        running = self._scaled.running(now)
        writer = second_writer(held.tags, minimum, held.marks)
        return Seen(
            target=self.name,
            at=now,
            floor=minimum * per_unit,
            ceiling=held.registered.max_capacity * per_unit,
            original=original_of(minimum, held.marks) * per_unit,
            ready=None if running.current is None else running.current * per_unit,
            pending=None if running.current is None else max((running.desired or 0) - running.current, 0) * per_unit,
            version=held.version,
            paused=held.marks.paused,
            valid_until=held.marks.valid_until,
            writer=writer,
            remedy=remedy_of(writer, terraform=_TERRAFORM, field="MinCapacity"),
            shortage=running.shortage or self._shortage(minimum, running, now),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole units, at most MaxCapacity."""
        return whole_nodes_taken(decision, seen, per_node=self._scaled.per_unit, ceiling="MaxCapacity")

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="MaxCapacity")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our tags, then the minimum. Cut short in between, the next run finds the original in the tags."""
        applied = self.would_set(decision, seen)
        if applied.written:
            held = self._unchanged(seen)
            if not self.takes_schedule and SCHEDULED in held.tags:
                self._schedule().clear()
                held.untag((SCHEDULED,))
            count, ours = applied.after // self._scaled.per_unit, is_ours(applied, seen)
            write_floor(held, count=count, ours=ours, marks=held.marks, valid_until=decision.valid_until)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Deletes our scheduled actions, writes the original minimum, then removes our tags. Cut short, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            held = self._unchanged(seen)
            if SCHEDULED in held.tags:
                self._schedule().clear()
            put_back(held, count=applied.after // self._scaled.per_unit)
        return applied

    def set_schedule(self, steps: Sequence[Step], seen: Seen) -> int:
        """Makes the scheduled actions of ours those of `steps`; how many were put or deleted. As `Scheduled.set_schedule`."""
        held = self._read(seen.at)
        if steps and (held.marks.paused is not None or held.marks.original is None):
            msg = f"{self.name} was paused or released since it was observed: observe it again"
            raise TargetConflict(msg)
        if steps and held.registered.suspended_state.scheduled_scaling_suspended:
            msg = f"{self.name} carries out no scheduled action: resume its scheduled scaling, or set scheduled: false"
            raise TargetRefused(msg)
        ceiling = held.registered.max_capacity
        wanted = scheduled_floors(steps, minimum=held.minimum, ceiling=ceiling, per_unit=self._scaled.per_unit)
        schedule = self._schedule()
        put, dropped = difference(wanted, schedule.standing(), seen.at)
        if put:  # the mark goes first: what AWS does in our name is never taken for somebody else's
            done = {held.minimum} & set(scheduled_counts(held.tags))
            held.tag(scheduled_mark((*done, *(action.count for action in wanted))))
            schedule.put(put)
        schedule.delete(dropped)
        if not wanted and SCHEDULED in held.tags:
            held.untag((SCHEDULED,))
        return len(put) + len(dropped)

    def call(self, operation: str, **parameters: object) -> Json:
        """An operation of Application Auto Scaling. Raises TargetErrors."""
        try:
            return self._aws.call(SERVICE, operation, **parameters)
        except AwsFailed as failed:
            raise aws_target_error(failed, self.name, missing=self._register) from failed

    def resized(self, before: int, count: int) -> bool:
        """Writes the minimum alone. False: accepted, but it does not show yet."""
        self.call("register_scalable_target", **self._scaled.address.fields, MinCapacity=count)
        after = self._describe().min_capacity
        if after not in {count, before}:
            msg = f"MinCapacity of {self.name} became {after} while we wrote {count}: somebody else writes it, observe again"
            raise TargetConflict(msg)
        return after == count

    @property
    def _register(self) -> str:
        address = self._scaled.address
        register = "aws application-autoscaling register-scalable-target, then put-scaling-policy"
        return f"register {address.resource} with a scaling policy ({register}), or correct {address.correct} in the configuration"

    def _unchanged(self, seen: Seen) -> "_Held":
        held = self._read(seen.at)
        if held.version != seen.version:
            msg = f"{self.name} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return held

    def _read(self, now: datetime) -> "_Held":
        return self._tagged(self._describe(), now)

    def _tagged(self, registered: "_Registered", now: datetime) -> "_Held":
        tags: dict[str, str] = self.call("list_tags_for_resource", ResourceARN=registered.scalable_target_arn).get("Tags", {})
        marks = read_marks(tags, where=f"the scalable target {self._scaled.address.resource}", now=now)
        return _Held(registered=registered, tags=tags, marks=marks, target=self)

    def _describe(self) -> "_Registered":
        """The scalable target as it stands this moment: what is written rests on it."""
        address = self._scaled.address
        return self._registered(lambda: self._aws.described(address.alike, (address.resource,)).get(address.resource))

    def _registered(self, ask: Callable[[], Json | None]) -> "_Registered":
        try:
            described = ask()
            found = None if described is None else _Registered.model_validate(described)
        except AwsFailed as failed:
            raise aws_target_error(failed, self.name, missing=self._register) from failed
        except (KeyError, ValidationError) as error:
            msg = f"{self.name} was described without usable capacities: is endpoint_url an endpoint of Application Auto Scaling?"
            raise TargetRefused(msg) from error
        if found is None:
            msg = f"{self.name} is no scalable target: {self._register}"
            raise TargetMissing(msg)
        return found

    def _shortage(self, minimum: int, running: Running, now: datetime) -> str | None:
        """What Application Auto Scaling says of the last change that it tried, if that failed. Asked only while something is missing."""
        if running.current is None or running.current >= max(minimum, running.desired or 0):
            return None
        try:
            answer = self._aws.call(SERVICE, "describe_scaling_activities", **self._scaled.address.fields, MaxResults=10)
            newest = [_Activity.model_validate(activity) for activity in answer["ScalingActivities"]]
        except (AwsFailed, KeyError, ValidationError):
            return None
        ended = next((one for one in newest if one.status_code not in {"Pending", "InProgress"}), None)
        if ended is None or ended.status_code not in {"Failed", "Unfulfilled"} or ended.start_time < now - _FAILED_WITHIN:
            return None
        return f"Application Auto Scaling could not raise it: {ended.status_message or ended.status_code}"

    def _schedule(self) -> ScalableSchedule:
        return ScalableSchedule(self._scaled.address.fields, self.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A TaggedFloor: the scalable target as one turn found it."""

    registered: "_Registered"
    tags: dict[str, str]
    marks: Marks
    target: ScalableTarget

    @property
    def minimum(self) -> int:
        return self.registered.min_capacity

    @property
    def version(self) -> str:
        return version_of(self.tags, self.minimum, self.registered.max_capacity)

    def tag(self, tags: dict[str, str]) -> None:
        self.target.call("tag_resource", ResourceARN=self.registered.scalable_target_arn, Tags=tags)

    def untag(self, keys: tuple[str, ...]) -> None:
        self.target.call("untag_resource", ResourceARN=self.registered.scalable_target_arn, TagKeys=list(keys))

    def resize(self, count: int) -> bool:
        return self.target.resized(self.minimum, count)


class _Part(BaseModel):
    """A part of an answer; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_pascal)


class _Suspended(_Part):
    scheduled_scaling_suspended: bool = False


class _Registered(_Part):
    min_capacity: int = Field(ge=0)
    max_capacity: int = Field(ge=0)
    scalable_target_arn: str = Field(alias="ScalableTargetARN")
    suspended_state: _Suspended = _Suspended()


class _Activity(_Part):
    status_code: str
    status_message: str = ""
    start_time: datetime
