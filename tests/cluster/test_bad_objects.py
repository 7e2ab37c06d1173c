"""Objects that no floor can be written to, found out by `forecaster check` in a rehearsal on the real API server; see also test_objects."""

import pytest

from connectors.targets.access import Checkable
from connectors.targets.aibrix import AibrixConfig
from connectors.targets.kubernetes_field import KubernetesFieldConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetRefused
from forecaster.workload import Mode
from jobs.checking.finding import State
from jobs.checking.targets import check_write, observe
from tests.cluster.control_plane import ControlPlane, Json
from tests.cluster.llm import apply
from tests.connectors.targets.subjects import NOW


def job() -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "batch", "image": "example.test/batch:1"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "llm"},
        "spec": {"completions": 2, "template": {"spec": pod}},
    }


def test_a_field_that_is_immutable_is_found_in_a_rehearsal_in_the_servers_own_words(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, job())
    target = open_target(
        KubernetesFieldConfig(
            type="kubernetes-field",
            api_version="batch/v1",
            kind="Job",
            field="spec.completions",
            namespace=namespace,
            name="llm",
            cluster=cluster.connection(),
        )
    )
    assert isinstance(target, Checkable)
    with pytest.raises(TargetRefused, match=r"spec\.completions.*field is immutable"):
        target.check_write()
    found = check_write(target, Mode.AUTO)
    assert found is not None
    assert found.state is State.FAILED
    assert f"jobs.batch {namespace}/llm" in found.sentence
    assert "a floor would be refused, as a rehearsal on the API server says" in found.sentence


def test_a_minimum_above_the_maximum_that_no_schema_forbids_is_told_with_what_to_do(cluster: ControlPlane, namespace: str) -> None:
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "llm"}, "minReplicas": 8, "maxReplicas": 5}
    apply(
        cluster,
        namespace,
        {
            "apiVersion": "autoscaling.aibrix.ai/v1alpha1",
            "kind": "PodAutoscaler",
            "metadata": {"name": "llm"},
            "spec": spec | {"scalingStrategy": "APA"},
        },
    )
    target = open_target(AibrixConfig(type="aibrix", namespace=namespace, name="llm", cluster=cluster.connection()))
    found, seen = observe(target, NOW)
    assert (found.state, seen is not None and seen.floor) == (State.WARNING, 8)
    assert "its minimum 8 is above its maximum 5; raise the maximum, or lower the minimum" in found.sentence
