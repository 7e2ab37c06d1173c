"""What moto leaves out of the APIs that we speak, answered in front of it by its own state: each row by AWS's public schema.

- EC2 Auto Scaling: scaling activities and instance refreshes (moto knows none), the refusal of a minimum above the maximum and of a second
  scheduled action at one instant.
- Application Auto Scaling: tags of scalable targets, scaling activities, the same refusal, and inference components.
- SageMaker: inference components.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.autoscaling.models import autoscaling_backends

REGION = "eu-west-1"
ACCOUNT = "123456789012"

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error instead of an answer."""

    code: str
    message: str


Answer: TypeAlias = Json | str | Refusal | None
"""JSON, the XML of the query protocol, an error, or None: moto answers."""


@dataclass(slots=True)
class Gaps:
    """The state that moto has no room for: tags by ARN, activities by group or resource, refreshes by group, components by name."""

    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    activities: dict[str, list[Json]] = field(default_factory=dict)
    refreshes: dict[str, list[Json]] = field(default_factory=dict)
    components: dict[str, Json] = field(default_factory=dict)

    def answer(self, action: str, body: Json) -> Answer:
        """The answer to an IAM action (`application-autoscaling:TagResource`)."""
        row: Callable[[Gaps, Json], Answer] | None = _ROWS.get(action)
        return None if row is None else row(self, body)

    def tag(self, body: Json) -> Answer:
        self.tags.setdefault(body["ResourceARN"], {}).update(body["Tags"])
        return {}

    def untag(self, body: Json) -> Answer:
        for key in body["TagKeys"]:
            self.tags.get(body["ResourceARN"], {}).pop(key, None)
        return {}

    def tags_of(self, body: Json) -> Answer:
        return {"Tags": self.tags.get(body["ResourceARN"], {})}

    def describe_scalable_targets(self, body: Json) -> Answer:
        """Of inference components, whose dimension moto refuses."""
        if not body["ResourceIds"][0].startswith("inference-component/"):
            return None
        there = applicationautoscaling_backends[ACCOUNT][REGION].targets.get(body["ScalableDimension"], {})
        return {"ScalableTargets": [_described(there[resource]) for resource in body["ResourceIds"] if resource in there]}

    def register(self, body: Json) -> Answer:
        """An update of what is registered, refused where the minimum would be above the maximum."""
        found = applicationautoscaling_backends[ACCOUNT][REGION].targets.get(body["ScalableDimension"], {}).get(body["ResourceId"])
        if found is None:
            return None
        if body["MinCapacity"] > found.max_capacity:
            return Refusal(code="ValidationException", message="Maximum capacity cannot be less than minimum capacity")
        found.min_capacity = body["MinCapacity"]
        return {"ScalableTargetARN": found.arn}

    def scalable_activities(self, body: Json) -> Answer:
        told = self.activities.get(body["ResourceId"], [])
        return {"ScalingActivities": [one | {"StartTime": one["StartTime"].timestamp()} for one in told]}

    def component(self, body: Json) -> Answer:
        found = self.components.get(body["InferenceComponentName"])
        return found if found is not None else Refusal(code="ValidationException", message="Could not find inference component")

    def group_activities(self, body: Json) -> Answer:
        return _xml("DescribeScalingActivities", "Activities", self.activities.get(body["AutoScalingGroupName"], []))

    def group_refreshes(self, body: Json) -> Answer:
        return _xml("DescribeInstanceRefreshes", "InstanceRefreshes", self.refreshes.get(body["AutoScalingGroupName"], []))

    def update_group(self, body: Json) -> Answer:
        group = autoscaling_backends[ACCOUNT][REGION].autoscaling_groups.get(body["AutoScalingGroupName"])
        if group is not None and int(body.get("MinSize", 0)) > (group.max_size or 0):
            told = f"Min bound, {body['MinSize']}, must be less than or equal to max bound, {group.max_size}"
            return Refusal(code="ValidationError", message=told)
        return None

    def put_scheduled(self, body: Json) -> Answer:
        standing = autoscaling_backends[ACCOUNT][REGION].describe_scheduled_actions(body["AutoScalingGroupName"])
        taken = {str(action.start_time): action.scheduled_action_name for action in standing}
        key = "ScheduledUpdateGroupActions.member"
        for number in range(1, 51):
            start, name = body.get(f"{key}.{number}.StartTime"), body.get(f"{key}.{number}.ScheduledActionName")
            if start is not None and taken.get(start, name) != name:
                return Refusal(code="ValidationError", message="An action is already scheduled at this time")
        return None


_ROWS: Mapping[str, Callable[[Gaps, Json], Answer]] = {
    "application-autoscaling:TagResource": Gaps.tag,
    "application-autoscaling:UntagResource": Gaps.untag,
    "application-autoscaling:ListTagsForResource": Gaps.tags_of,
    "application-autoscaling:DescribeScalableTargets": Gaps.describe_scalable_targets,
    "application-autoscaling:RegisterScalableTarget": Gaps.register,
    "application-autoscaling:DescribeScalingActivities": Gaps.scalable_activities,
    "autoscaling:DescribeScalingActivities": Gaps.group_activities,
    "autoscaling:DescribeInstanceRefreshes": Gaps.group_refreshes,
    "autoscaling:UpdateAutoScalingGroup": Gaps.update_group,
    "autoscaling:BatchPutScheduledUpdateGroupAction": Gaps.put_scheduled,
    "sagemaker:DescribeInferenceComponent": Gaps.component,
}


def _described(target: Any) -> Json:
    return {
        "MinCapacity": target.min_capacity,
        "MaxCapacity": target.max_capacity,
        "ScalableTargetARN": target.arn,
        "ServiceNamespace": target.service_namespace,
        "ResourceId": target.resource_id,
        "ScalableDimension": target.scalable_dimension,
        "CreationTime": target.creation_time,
    }


def _xml(operation: str, key: str, members: list[Json]) -> str:
    """An answer of the query protocol: a list of flat members."""
    told = "".join(f"<member>{''.join(f'<{name}>{_text(value)}</{name}>' for name, value in one.items())}</member>" for one in members)
    return f"<{operation}Response><{operation}Result><{key}>{told}</{key}></{operation}Result></{operation}Response>"


def _text(value: object) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else escape(str(value))
