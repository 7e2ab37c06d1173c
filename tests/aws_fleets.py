"""What stands behind AWS targets on moto's server, and what people and machines do to it behind our backs."""

from typing import Any

from moto.applicationautoscaling.models import FakeScalableTarget, applicationautoscaling_backends
from moto.autoscaling.models import autoscaling_backends
from moto.ecs.models import ecs_backends
from moto.sagemaker.models import FakeEndpoint, sagemaker_backends

from tests.aws_gaps import ACCOUNT, REGION


def asg(name: str) -> Any:
    """An Auto Scaling group as moto keeps it: min_size, max_size, desired_capacity, tags, instance_states."""
    return autoscaling_backends[ACCOUNT][REGION].autoscaling_groups[name]


def tag_asg(name: str, key: str, text: str) -> None:
    """Somebody tags the group."""
    autoscaling_backends[ACCOUNT][REGION].create_or_update_tags([{"ResourceId": name, "Key": key, "Value": text}])


def asg_schedule(name: str) -> dict[str, Any]:
    """The scheduled actions of a group by name."""
    actions = autoscaling_backends[ACCOUNT][REGION].describe_scheduled_actions(name)
    return {action.scheduled_action_name: action for action in actions}


def scalable(dimension: str, resource: str) -> Any:
    """A scalable target as moto keeps it: min_capacity, max_capacity, arn."""
    return applicationautoscaling_backends[ACCOUNT][REGION].targets[dimension][resource]


def deregister(dimension: str, resource: str) -> None:
    """Somebody deregisters a scalable target."""
    del applicationautoscaling_backends[ACCOUNT][REGION].targets[dimension][resource]


def scalable_schedule(resource: str) -> dict[str, Any]:
    """The scheduled actions of a scalable target by name."""
    backend = applicationautoscaling_backends[ACCOUNT][REGION]
    return {action.scheduled_action_name: action for action in backend.scheduled_actions if action.resource_id == resource}


def register(namespace: str, dimension: str, resource: str, *, minimum: int, maximum: int) -> None:
    """Somebody registers a scalable target."""
    backend = applicationautoscaling_backends[ACCOUNT][REGION]
    backend.register_scalable_target(namespace, resource, dimension, minimum, maximum, "", "")
    scalable(dimension, resource).suspended_state = None


def add_endpoint(name: str, *, instances: int) -> None:
    """A SageMaker endpoint with one variant of that many instances."""
    variants = [{"VariantName": "AllTraffic", "InitialInstanceCount": instances}]
    endpoint = FakeEndpoint(ACCOUNT, REGION, name, f"{name}-config", variants, {}, [])  # type: ignore[abstract]  # moto does so too
    sagemaker_backends[ACCOUNT][REGION].endpoints[name] = endpoint


def add_service(cluster: str, name: str, *, tasks: int) -> None:
    """An ECS service that runs so many tasks."""
    backend = ecs_backends[ACCOUNT][REGION]
    backend.create_cluster(cluster)
    backend.create_service(cluster, name, tasks).running_count = tasks


def register_component(name: str, *, minimum: int, maximum: int) -> None:
    """Somebody registers an inference component, whose dimension moto itself refuses."""
    backend = applicationautoscaling_backends[ACCOUNT][REGION]
    dimension, resource = "sagemaker:inference-component:DesiredCopyCount", f"inference-component/{name}"
    component = FakeScalableTarget(backend, "sagemaker", resource, dimension, minimum, maximum, "", "")
    backend.targets.setdefault(dimension, {})[resource] = component


def endpoint_counts(name: str) -> dict[str, Any]:
    """The counts of the one variant of an endpoint, to be changed in place."""
    counts: dict[str, Any] = sagemaker_backends[ACCOUNT][REGION].endpoints[name].production_variants[0]
    return counts


def ecs_service(cluster: str, name: str) -> Any:
    """An ECS service as moto keeps it: running_count, desired_count, events."""
    return ecs_backends[ACCOUNT][REGION].services[f"{cluster}:{name}"]
