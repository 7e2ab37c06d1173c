"""Objects are found by label, whatever their number, and who may not look is told the rule that is missing."""

from collections.abc import Iterator

import pytest

from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.targets.access import Checkable
from connectors.targets.discovery import HpaSelector, discover
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetForbidden, TargetRefused, TargetUnavailable
from tests.kube_api import KubeApi
from tests.services import free_port


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as api:
        api.add_hpa("inference", "chat", labels={"forecaster": "on", "model": "llama"})
        api.add_hpa("inference", "code", labels={"forecaster": "off"})
        api.add_hpa("batch", "embed", labels={"forecaster": "on"})
        api.add_hpa("batch", "bare")
        yield api


def found(api: KubeApi, label_selector: str, *namespaces: str) -> list[str]:
    selector = HpaSelector(type="kubernetes-hpa", label_selector=label_selector, namespaces=namespaces)
    return [f"{one.namespace}/{one.name}" for one in discover(selector, cluster(api.url))]


def cluster(url: str) -> Cluster:
    return Cluster(KubeConnection(server=url, timeout_s=1))


def test_all_namespaces_are_looked_into_unless_some_are_named(api: KubeApi) -> None:
    assert found(api, "forecaster=on") == ["batch/embed", "inference/chat"]
    assert found(api, "forecaster=on", "inference") == ["inference/chat"]
    assert found(api, "forecaster=on", "inference", "batch", "inference") == ["batch/embed", "inference/chat"]


def test_a_selector_is_the_api_servers_own(api: KubeApi) -> None:
    assert found(api, "forecaster") == ["batch/embed", "inference/chat", "inference/code"]
    assert found(api, "forecaster!=on") == ["batch/bare", "inference/code"]
    assert found(api, "team=nobody") == []


def test_labels_come_with_the_object(api: KubeApi) -> None:
    (one,) = discover(HpaSelector(type="kubernetes-hpa", label_selector="model"), cluster(api.url))
    assert one.labels == {"forecaster": "on", "model": "llama"}


def test_a_thousand_objects_come_in_pages(api: KubeApi) -> None:
    for i in range(1_100):
        api.add_hpa("many", f"hpa-{i:04d}", labels={"many": "yes"})
    assert found(api, "many=yes") == [f"many/hpa-{i:04d}" for i in range(1_100)]
    assert sum(request.verb == "list" for request in api.requests) == 3


def test_a_list_that_grew_stale_between_two_pages_is_begun_anew(api: KubeApi) -> None:
    api.fail_next(410, verb="list")
    assert found(api, "forecaster=on") == ["batch/embed", "inference/chat"]


def test_a_busy_server_is_asked_again(api: KubeApi) -> None:
    api.fail_next(503, verb="list")
    assert found(api, "forecaster=on") == ["batch/embed", "inference/chat"]


def test_who_may_not_list_is_told_the_rule(api: KubeApi) -> None:
    api.forbid("list")
    rule = r"add the RBAC rule \{apiGroups: \[autoscaling\], resources: \[horizontalpodautoscalers\], verbs: \[list\]\}"
    with pytest.raises(TargetForbidden, match=f"in all namespaces: .*{rule} to our cluster role"):
        found(api, "forecaster=on")
    with pytest.raises(TargetForbidden, match=f"in namespace batch: .*{rule} to our role in namespace batch"):
        found(api, "forecaster=on", "batch")


def test_a_selector_that_the_server_cannot_parse_is_refused_in_its_words(api: KubeApi) -> None:
    with pytest.raises(TargetRefused, match="unable to parse requirement"):
        found(api, "forecaster on")


def test_a_login_page_is_no_list(api: KubeApi) -> None:
    api.fail_next("html", times=3, verb="list")
    with pytest.raises(TargetUnavailable, match="is it an API server"):
        found(api, "forecaster=on")


def test_an_unreachable_cluster_is_unavailable() -> None:
    selector = HpaSelector(type="kubernetes-hpa", label_selector="forecaster=on")
    with pytest.raises(TargetUnavailable, match=r"cannot list horizontalpodautoscalers.autoscaling in all namespaces: no answer from"):
        discover(selector, cluster(f"http://127.0.0.1:{free_port()}"))


def hpa(api: KubeApi) -> Checkable:
    connection = KubeConnection(server=api.url)
    target = open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name="chat", cluster=connection))
    assert isinstance(target, Checkable)
    return target


def test_whether_a_write_is_allowed_is_asked_without_writing(api: KubeApi) -> None:
    hpa(api).check_write()
    api.forbid("patch")
    with pytest.raises(
        TargetForbidden, match=r"our role does not allow it; add the RBAC rule .*verbs: \[patch\]\} to our role in namespace"
    ):
        hpa(api).check_write()
    assert api.writes == ()


def test_a_server_that_cannot_say_is_no_refusal(api: KubeApi) -> None:
    api.fail_next(500, times=3, verb="create")
    with pytest.raises(TargetUnavailable):
        hpa(api).check_write()
