"""A 403 is a lack of rights only where there is something to have rights to: API servers look at rights before what they are for."""

from collections.abc import Iterator

import pytest

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.kube.errors import target_error
from connectors.targets.kubernetes_field import KubernetesFieldConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetError, TargetForbidden, TargetMissing
from tests.connectors.targets.subjects import NOW
from tests.kube_api import KubeApi
from tests.kube_objects import HPAS

MISSPELLED = "horizontalpodautoscaler"


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as api:
        api.add_hpa("inference", "chat", min_replicas=2)
        yield api


def denied(
    api: KubeApi, *, plural: str = HPAS, group: str = "autoscaling", version: str = "v2", namespace: str = "inference"
) -> TargetError:
    """What is said of an object that we may not read."""
    api.forbid("get", plural)
    ref = ObjectRef(group=group, version=version, plural=plural, namespace=namespace, name="chat")
    with pytest.raises(KubeFailed) as failed:
        Cluster(KubeConnection(server=api.url)).read(ref)
    assert failed.value.status == 403
    return target_error(failed.value)


def test_a_kind_that_is_not_served_is_said_before_any_rule(api: KubeApi) -> None:
    told = denied(api, plural=MISSPELLED)
    assert isinstance(told, TargetMissing)
    assert f"the API server serves no {MISSPELLED} in version v2 of autoscaling" in str(told)
    assert "RBAC" not in str(told)


@pytest.mark.parametrize(("group", "version"), [("autoscalin", "v2"), ("autoscaling", "v3")])
def test_a_group_or_a_version_that_is_not_served_is_said_before_any_rule(api: KubeApi, group: str, version: str) -> None:
    told = denied(api, plural=MISSPELLED, group=group, version=version)
    assert isinstance(told, TargetMissing)
    assert f"in version {version} of {group}: install its CustomResourceDefinition, or correct the kind" in str(told)


def test_a_namespace_that_is_not_there_is_said_where_namespaces_may_be_read(api: KubeApi) -> None:
    api.show_namespaces()
    told = denied(api, namespace="inferense")
    assert isinstance(told, TargetMissing)
    assert str(told).endswith("there is no namespace inferense: correct it in the configuration")


def test_where_they_may_not_be_read_the_rule_comes_with_the_other_cause(api: KubeApi) -> None:
    told = denied(api, namespace="inferense")
    assert isinstance(told, TargetForbidden)
    assert str(told).endswith(
        "add the RBAC rule {apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [get]} to our role in namespace "
        "inferense, or correct the namespace if inferense is misspelled"
    )


def test_of_what_is_there_only_the_rule_is_missing(api: KubeApi) -> None:
    api.show_namespaces()
    told = denied(api)
    assert isinstance(told, TargetForbidden)
    assert str(told).endswith("to our role in namespace inference")


def test_where_nobody_tells_what_is_served_the_rule_is_what_is_left(api: KubeApi) -> None:
    api.fail_next(403, times=3)
    told = denied(api)
    assert isinstance(told, TargetForbidden)
    assert "add the RBAC rule" in str(told)


def test_many_that_are_denied_at_once_ask_once_why(api: KubeApi) -> None:
    api.forbid("get")
    cluster = Cluster(KubeConnection(server=api.url))
    for name in ("chat", "code", "mail"):
        with pytest.raises(KubeFailed):
            cluster.read(ObjectRef(group="autoscaling", version="v2", plural=HPAS, namespace="inference", name=name))
    assert [request.path for request in api.requests if HPAS not in request.path] == [
        "/apis/autoscaling/v2",
        "/api/v1/namespaces/inference",
    ]


def test_a_target_of_a_misspelled_plural_says_so(api: KubeApi) -> None:
    api.forbid("get", MISSPELLED)
    config = KubernetesFieldConfig(
        type="kubernetes-field",
        api_version="autoscaling/v2",
        plural=MISSPELLED,
        namespace="inference",
        name="chat",
        field="spec.minReplicas",
        cluster=KubeConnection(server=api.url),
    )
    with pytest.raises(TargetMissing, match=f"the API server serves no {MISSPELLED}"):
        open_target(config).observe(NOW)
