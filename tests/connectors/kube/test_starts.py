"""How pods and nodes tell of starts: the instants on their way, cold nodes, and what is no start from request."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from connectors.kube.connection import KubeConnection
from connectors.kube.starts import selector_of
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.recording import RecordingConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetForbidden, TargetMissing
from forecaster.ports import StartSource
from forecaster.starts import Start
from tests.kube_api import KubeApi
from tests.kube_pods import put_node, put_pod, put_workload

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        server.add_hpa("serving", "chat", scales="Deployment/chat")
        put_workload(server, "serving", "chat", replicas=3, ready=2)
        put_node(server, "gpu-1", ago(30 * 86_400))
        put_pod(server, "serving", "settled", ago(20 * 86_400), app="chat", now=NOW)
        yield server


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def source(api: KubeApi) -> StartSource:
    config = KubernetesHpaConfig(type="kubernetes-hpa", namespace="serving", name="chat", cluster=KubeConnection(server=api.url))
    target = open_target(config)
    assert isinstance(target, StartSource)
    return target


def seen(api: KubeApi) -> dict[str, Start]:
    """The starts but that of the pod that has been there for weeks."""
    return {start.replica: start for start in source(api).starts(NOW) if start.replica != "uid-settled"}


def put(api: KubeApi) -> partial[None]:
    return partial(put_pod, api, "serving", app="chat", now=NOW)


def test_a_pod_tells_when_it_was_asked_for_scheduled_pulled_and_ready(api: KubeApi) -> None:
    put(api)(name="a", created=ago(600))
    assert seen(api)["uid-a"] == Start(
        target="kubernetes-hpa:serving/chat",
        replica="uid-a",
        requested=ago(600),
        seen_at=NOW,
        scheduled=ago(580),
        pulled=ago(520),
        ready=ago(300),
        cold=False,
    )


def test_a_pod_on_its_way_tells_how_far_it_came(api: KubeApi) -> None:
    put(api)(name="unscheduled", created=ago(10))
    put(api)(name="pulling", created=ago(60))
    put(api)(name="loading", created=ago(200))
    found = seen(api)
    told = {name: (start.scheduled is not None, start.pulled is not None, start.is_open) for name, start in found.items()}
    assert told == {"uid-unscheduled": (False, False, True), "uid-pulling": (True, False, True), "uid-loading": (True, True, True)}
    assert found["uid-unscheduled"].waited_for_node


def test_a_node_that_was_created_after_the_pod_makes_its_start_a_cold_one(api: KubeApi) -> None:
    put_node(api, "fresh", ago(500))
    put(api)(name="cold", created=ago(600), scheduled_s=160, node="fresh")
    put(api)(name="warm", created=ago(400), node="fresh")
    assert {name: start.cold for name, start in seen(api).items()} == {"uid-cold": True, "uid-warm": False}


def test_whether_a_start_was_cold_is_unknown_where_its_node_is_gone_or_may_not_be_read(api: KubeApi) -> None:
    put(api)(name="a", created=ago(600), node="gone")
    assert seen(api)["uid-a"].cold is None
    put(api)(name="a", created=ago(600))
    api.forbid("get", "nodes")
    assert seen(api)["uid-a"].cold is None


def test_a_node_is_read_once_and_only_for_pods_that_are_young_or_on_their_way(api: KubeApi) -> None:
    for name in "abc":
        put(api)(name=name, created=ago(600))
    put(api)(name="old", created=ago(20_000), node="gpu-2")
    source(api).starts(NOW)
    assert [request.path for request in api.requests if "/nodes/" in request.path] == ["/api/v1/nodes/gpu-1"]


def test_k39_surge_pods_of_a_rolling_update_are_no_starts_from_request(api: KubeApi) -> None:
    put(api)(name="old-1", created=ago(3000))
    put(api)(name="old-2", created=ago(3000), deleted=True)
    put(api)(name="new", created=ago(200), revision="2")
    put(api)(name="ready", created=ago(400), revision="2")
    told = {name: start.rollout for name, start in seen(api).items()}
    assert told == {"uid-old-1": False, "uid-new": True, "uid-ready": True}


def test_k39_once_the_old_pods_are_gone_ready_pods_of_a_young_template_are_not_taken_for_starts(api: KubeApi) -> None:
    api.remove("pods", "serving", "settled")
    put(api)(name="surge", created=ago(1800), revision="2")
    put(api)(name="asked-for", created=ago(100), revision="2")
    assert {name: start.rollout for name, start in seen(api).items()} == {"uid-surge": True, "uid-asked-for": False}


def test_a_replica_that_restarted_is_deleted_or_ended_is_no_start_from_request(api: KubeApi) -> None:
    put(api)(name="restarted", created=ago(900), restarts=1)
    put(api)(name="deleted", created=ago(900), deleted=True)
    put(api)(name="evicted", created=ago(900), phase="Failed")
    assert seen(api) == {}


def test_the_corpses_of_an_older_template_make_no_rolling_update(api: KubeApi) -> None:
    api.remove("pods", "serving", "settled")
    put(api)(name="evicted", created=ago(90_000), phase="Failed")
    put(api)(name="new", created=ago(200), revision="2")
    assert not seen(api)["uid-new"].rollout


def test_clocks_that_contradict_each_other_tell_nothing(api: KubeApi) -> None:
    put(api)(name="odd", created=ago(60), ready_s=-5)
    assert seen(api) == {}


def test_pods_of_others_are_not_asked_for(api: KubeApi) -> None:
    put_pod(api, "serving", "other", ago(600), app="other", now=NOW)
    put_pod(api, "elsewhere", "chat", ago(600), app="chat", now=NOW)
    assert seen(api) == {}


def test_pods_come_in_pages(api: KubeApi) -> None:
    for number in range(520):
        put(api)(name=f"p{number}", created=ago(600))
    assert len(source(api).starts(NOW)) == 521


def test_a_missing_right_is_named(api: KubeApi) -> None:
    api.forbid("list", "pods")
    with pytest.raises(TargetForbidden, match=r'RBAC rule \{apiGroups: \[""\], resources: \[pods\], verbs: \[list\]\} to our role in'):
        source(api).starts(NOW)


def test_a_workload_that_is_gone_is_missing_and_one_of_an_unknown_kind_tells_nothing(api: KubeApi) -> None:
    api.remove("deployments", "serving", "chat")
    with pytest.raises(TargetMissing):
        source(api).starts(NOW)
    api.delete_hpa("serving", "chat")
    api.add_hpa("serving", "chat", scales="Mystery/chat")
    assert seen(api) == {}


def test_a_target_that_moves_nothing_tells_of_no_starts() -> None:
    assert not isinstance(open_target(RecordingConfig(type="recording", name="demo")), StartSource)


@pytest.mark.parametrize(
    ("workload", "selector"),
    [
        ({"spec": {"selector": {"matchLabels": {"app": "chat", "tier": "gpu"}}}}, "app=chat,tier=gpu"),
        (
            {
                "spec": {
                    "selector": {
                        "matchExpressions": [
                            {"key": "app", "operator": "In", "values": ["a", "b"]},
                            {"key": "tier", "operator": "NotIn", "values": ["cpu"]},
                            {"key": "model", "operator": "Exists"},
                            {"key": "canary", "operator": "DoesNotExist"},
                        ]
                    }
                }
            },
            "app in (a,b),tier notin (cpu),model,!canary",
        ),
        ({"spec": {"selector": {"matchLabels": {"app": "x"}}}, "status": {"hpaPodSelector": "leader=0"}}, "leader=0"),
        ({"spec": {}, "status": {"selector": "app=rollout"}}, "app=rollout"),
        ({"spec": {"selector": {}}}, None),
        ({}, None),
    ],
    ids=["labels", "expressions", "LeaderWorkerSet", "Rollout", "empty", "none"],
)
def test_the_selector_is_the_workloads_own(workload: dict[str, object], selector: str | None) -> None:
    assert selector_of(workload) == selector
