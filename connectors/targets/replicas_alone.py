"""Replicas themselves as the field: ours only where no loop above writes them, and then never lowered unless that is asked for."""

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.targets.reactive import Scaled, scaler_of
from forecaster.errors import TargetRefused


def check_alone(value: Json, ref: ObjectRef, cluster: Cluster) -> None:
    """Raises TargetRefused where an autoscaler names the object, other TargetErrors where nobody can say."""
    scaled = Scaled(group=ref.group, kind=str(value.get("kind", "")), namespace=ref.namespace, name=ref.name)
    try:
        scaler = scaler_of(scaled, cluster)
    except KubeFailed as failed:
        raise target_error(failed) from failed
    if scaler is not None:
        raise TargetRefused(scaler.refusal(scaled))
