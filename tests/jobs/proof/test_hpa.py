"""What is read of a HPA, and that reading is all that is done to it."""

from collections.abc import Iterator

import pytest

from forecaster.errors import ConfigRejected, TargetForbidden, TargetMissing, TargetRefused
from forecaster.simulate.autoscaler import KUBERNETES_DOWN, KUBERNETES_UP, ScalingPolicy, Select, Unit
from jobs.proof.hpa import Metric, read_hpa
from jobs.proof.quantity import quantity
from tests.jobs.proof.hpas import add, cluster, cpu, external, pods
from tests.kube_api import KubeApi
from tests.kube_objects import HPAS


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


def test_bounds_metrics_and_the_scaled_workload_are_read_and_nothing_is_written(api: KubeApi) -> None:
    add(api, pods("http_requests_per_second", "2500m", model="a"), cpu(60))
    hpa = read_hpa("inference/chat", cluster(api))
    assert (hpa.minimum, hpa.maximum, hpa.scales) == (2, 40, ("Deployment", "chat"))
    assert hpa.metrics == (
        Metric(kind="Pods", name="http_requests_per_second", matchers=('model="a"',), per_pod=2.5),
        Metric(kind="Resource", name="cpu", utilisation_ratio=0.6),
    )
    assert [request.verb for request in api.requests] == ["get"]
    assert not api.writes


def test_without_behavior_the_rules_are_those_of_kubernetes(api: KubeApi) -> None:
    add(api, external("queue", "3"))
    hpa = read_hpa("inference/chat", cluster(api))
    assert (hpa.up, hpa.down) == (KUBERNETES_UP, KUBERNETES_DOWN)
    assert hpa.metrics[0].per_pod == 3


def test_behavior_is_read_and_what_it_leaves_out_stays_as_in_kubernetes(api: KubeApi) -> None:
    down = {"stabilizationWindowSeconds": 600, "selectPolicy": "Min", "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}
    add(api, cpu(50), behavior={"scaleDown": down, "scaleUp": {"tolerance": "50m"}})
    hpa = read_hpa("inference/chat", cluster(api))
    assert hpa.down.policies == (ScalingPolicy(unit=Unit.PODS, value=1, period_s=60),)
    assert (hpa.down.select, hpa.down.stabilization_s) == (Select.MIN, 600)
    assert (hpa.up.policies, hpa.up.tolerance_ratio) == (KUBERNETES_UP.policies, 0.05)


def test_a_floor_of_ours_is_not_taken_for_theirs(api: KubeApi) -> None:
    add(api, cpu(50), minReplicas=9)
    api.edit("inference", "chat", annotations={"forecaster/original": "3"})
    assert read_hpa("inference/chat", cluster(api)).minimum == 3


def test_expressions_of_a_selector_become_matchers(api: KubeApi) -> None:
    metric = pods("load", "1")
    among = [{"key": "model", "operator": "In", "values": ["a.1", "b"]}, {"key": "zone", "operator": "Exists"}]
    metric["pods"]["metric"]["selector"] = {"matchExpressions": among}
    add(api, metric)
    assert read_hpa("inference/chat", cluster(api)).metrics[0].matchers == ('model=~"a\\\\.1|b"', 'zone!=""')


def test_a_hpa_that_is_not_there_is_named(api: KubeApi) -> None:
    with pytest.raises(TargetMissing, match=r"there is no HPA inference/lost .*`kubectl get hpa -A` lists those there are"):
        read_hpa("inference/lost", cluster(api))


def test_a_role_that_may_not_read_it_is_told_the_rule(api: KubeApi) -> None:
    add(api, cpu(50))
    api.forbid("get")
    with pytest.raises(TargetForbidden, match=r"add the RBAC rule .*verbs: \[get\]"):
        read_hpa("inference/chat", cluster(api))


@pytest.mark.parametrize("name", ["chat", "/chat", "inference/", "a/b/c"])
def test_a_name_without_a_namespace_is_refused(api: KubeApi, name: str) -> None:
    with pytest.raises(ConfigRejected, match="is no NAMESPACE/NAME"):
        read_hpa(name, cluster(api))


def test_an_object_without_a_spec_is_no_hpa(api: KubeApi) -> None:
    api.put(HPAS, "inference", "chat", metadata={})
    with pytest.raises(TargetRefused, match="has no usable spec"):
        read_hpa("inference/chat", cluster(api))


@pytest.mark.parametrize(
    ("text", "value"), [("500m", 0.5), ("2k", 2_000), ("1Ki", 1_024), ("10", 10), (".5", 0.5), ("1e3", 1_000), ("ten", None), ("", None)]
)
def test_quantities_are_those_of_kubernetes(text: str, value: float | None) -> None:
    assert quantity(text) == value
