"""The HPA target against the double of the API server: what it sends, what it sees, and what each refusal becomes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import Target, open_target
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import Code
from forecaster.units import iso
from tests.connectors.targets.subjects import NOW, UNTIL, codes, decided, let_go, stand
from tests.kube_api import MERGE_PATCH, KubeApi

MANY = 5


def target_of(api: KubeApi, *, timeout_s: float = 10.0) -> Target:
    connection = KubeConnection(server=api.url, timeout_s=timeout_s)
    return open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name="llm", cluster=connection))


def test_the_name_tells_namespace_and_name_and_the_context_where_one_is_configured() -> None:
    config = KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name="llm")
    assert open_target(config).name == "kubernetes-hpa:inference/llm"
    elsewhere = config.model_copy(update={"cluster": KubeConnection(context="prod-eu")})
    assert open_target(elsewhere).name == "kubernetes-hpa:inference/llm@prod-eu"


def test_a_floor_is_one_merge_patch_with_the_version_seen_by_field_manager_forecaster(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
    version = api.hpa("inference", "llm")["metadata"]["resourceVersion"]
    stand(target_of(api), 8)
    (write,) = api.writes
    assert (write.manager, write.content_type) == ("forecaster", MERGE_PATCH)
    annotations = {"forecaster/original": "2", "forecaster/floor": "8", "forecaster/valid-until": iso(UNTIL)}
    assert write.body == {"metadata": {"resourceVersion": version, "annotations": annotations}, "spec": {"minReplicas": 8}}


def test_a_release_is_one_patch_that_deletes_our_annotations_and_no_other(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20, annotations={"team": "serving"})
    stand(target_of(api), 8)
    let_go(target_of(api))
    assert len(api.writes) == 2
    assert api.annotations("inference", "llm") == {"team": "serving"}


def test_min_replicas_that_is_not_written_is_1(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=None)
    seen = target_of(api).observe(NOW)
    assert (seen.floor, seen.original) == (1, 1)


@pytest.mark.parametrize(
    ("replicas", "ready", "expected"),
    [(8, 5, (5, 3)), (8, 10, (8, 0)), (0, None, (0, 0)), (3, None, (0, 3)), (None, 1, (1, 0))],
    ids=["some start", "surge of a rolling update", "scaled to zero", "none ready yet", "one by default"],
)
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_ready_replicas_are_those_of_the_workload_without_its_surge(
    api: KubeApi, kind: str, replicas: int | None, ready: int | None, expected: tuple[int, int]
) -> None:
    api.add_hpa("inference", "llm", scales=f"{kind}/engine")
    api.add_workload("inference", "engine", kind=kind, replicas=replicas, ready=ready)
    seen = target_of(api).observe(NOW)
    assert (seen.ready, seen.pending) == expected


@pytest.mark.parametrize("scales", ["Deployment/gone", "Mystery/llm"])
def test_a_workload_that_is_not_there_or_not_known_leaves_ready_unknown(api: KubeApi, scales: str) -> None:
    api.add_hpa("inference", "llm", scales=scales)
    seen = target_of(api).observe(NOW)
    assert (seen.ready, seen.pending) == (None, None)


def test_a_workload_that_we_may_not_read_leaves_ready_unknown_and_the_floor_writable(api: KubeApi) -> None:
    api.add_hpa("inference", "llm")
    api.add_workload("inference", "llm", replicas=3, ready=3)
    api.forbid("get", "deployments")
    target = target_of(api)
    assert target.observe(NOW).ready is None
    assert stand(target, 4).written


def test_the_second_writer_is_named_from_the_managed_fields(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
    stand(target_of(api), 8)
    api.edit("inference", "llm", manager="argocd-controller", minReplicas=2)
    assert target_of(api).observe(NOW).writer == "argocd-controller"


def test_a_second_writer_under_our_name_is_another_forecaster(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
    stand(target_of(api), 8)
    api.edit("inference", "llm", manager="forecaster", minReplicas=3)
    seen = target_of(api).observe(NOW)
    assert (seen.writer, seen.remedy) == ("another Forecaster", "let one Forecaster alone have this object among its targets")


def test_removing_the_mark_of_our_last_write_hands_a_kept_value_back_to_us(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
    stand(target_of(api), 8)
    api.edit("inference", "llm", minReplicas=15)
    assert target_of(api).observe(NOW).writer == "kubectl-edit"
    api.edit("inference", "llm", annotations={"forecaster/floor": None})
    assert target_of(api).observe(NOW).writer is None
    stand(target_of(api), 6)
    assert (api.min_replicas("inference", "llm"), target_of(api).observe(NOW).original) == (6, 2)


def test_another_field_written_by_somebody_else_is_no_second_writer(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
    stand(target_of(api), 8)
    api.edit("inference", "llm", maxReplicas=30, annotations={"team": "serving"})
    assert target_of(api).observe(NOW).writer is None


def test_a_hpa_found_at_zero_takes_zero_again() -> None:
    with KubeApi(scale_to_zero=True) as api:
        api.add_hpa("inference", "llm", min_replicas=0)
        stand(target_of(api), 3)
        applied = stand(target_of(api), 0)
        assert (applied.after, codes(applied), api.min_replicas("inference", "llm")) == (0, set(), 0)


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (400, TargetRefused, "injected"),
        (401, TargetForbidden, "renew the token"),
        (403, TargetForbidden, r"verbs: \[get\]"),
        (404, TargetMissing, "correct namespace and name"),
        (409, TargetConflict, "observe it again"),
        (410, TargetRefused, "injected"),
    ],
)
def test_a_final_answer_to_a_read_is_told_at_once(api: KubeApi, status: int, error: type[TargetError], told: str) -> None:
    api.add_hpa("inference", "llm")
    api.fail_next(status)
    with pytest.raises(error, match=told) as raised:
        target_of(api).observe(NOW)
    assert "horizontalpodautoscalers.autoscaling inference/llm" in str(raised.value)
    assert sum("horizontalpodautoscalers" in request.path for request in api.requests) == 1


@pytest.mark.parametrize("fault", [429, 500, 503, "html", "drop"])
def test_a_busy_server_is_asked_three_times_and_then_unavailable(api: KubeApi, fault: int | str) -> None:
    api.add_hpa("inference", "llm")
    api.fail_next(fault, times=MANY)
    with pytest.raises(TargetUnavailable, match="try again later"):
        target_of(api).observe(NOW)
    assert len(api.requests) == 3


def test_a_server_that_recovers_between_two_tries_is_not_noticed(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2)
    api.fail_next(503)
    assert target_of(api).observe(NOW).floor == 2


def test_a_server_that_hangs_is_unavailable_after_the_timeout(api: KubeApi) -> None:
    api.add_hpa("inference", "llm")
    api.fail_next("hang", times=MANY)
    with pytest.raises(TargetUnavailable, match=api.url):
        target_of(api, timeout_s=0.1).observe(NOW)


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (401, TargetForbidden, "renew the token"),
        (403, TargetForbidden, r"\{apiGroups: \[autoscaling\], resources: \[horizontalpodautoscalers\], verbs: \[patch\]\}"),
        (404, TargetMissing, "correct"),
        (409, TargetConflict, "observe it again"),
        (422, TargetRefused, "injected"),
        (429, TargetUnavailable, "try again later"),
        (500, TargetUnavailable, "try again later"),
        (503, TargetUnavailable, "try again later"),
        ("html", TargetUnavailable, "is it an API server"),
        ("drop", TargetUnavailable, "no answer"),
    ],
)
def test_a_write_is_sent_once_whatever_comes_back(api: KubeApi, status: int | str, error: type[TargetError], told: str) -> None:
    api.add_hpa("inference", "llm", min_replicas=2)
    api.fail_next(status, verb="patch", times=MANY)
    with pytest.raises(error, match=told):
        stand(target_of(api), 8)
    assert [request.verb for request in api.requests].count("patch") == 1
    assert api.min_replicas("inference", "llm") == 2


def test_a_denial_by_an_admission_webhook_is_a_refusal_and_not_a_matter_of_rbac(api: KubeApi) -> None:
    api.add_hpa("inference", "llm")
    api.fail_next(403, verb="patch", message='admission webhook "validate.kyverno.svc" denied the request: minReplicas is locked')
    with pytest.raises(TargetRefused, match="minReplicas is locked"):
        stand(target_of(api), 8)


def test_a_write_whose_answer_was_lost_is_seen_at_the_next_observation_and_not_repeated(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2)
    target = target_of(api)
    seen = target.observe(NOW)
    api.fail_next(504, verb="patch", taken=True)
    with pytest.raises(TargetUnavailable):
        target.set_floor(decided(target.name, 8), seen)
    with pytest.raises(TargetConflict):
        target.set_floor(decided(target.name, 8), seen)
    again = target.observe(NOW)
    assert (again.floor, again.original, again.writer) == (8, 2, None)
    assert not target.set_floor(decided(target.name, 8), again).written


def test_an_object_that_is_no_hpa_is_refused_by_the_field_that_is_missing(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", max_replicas=0)
    with pytest.raises(TargetRefused, match=r"spec\.maxReplicas"):
        target_of(api).observe(NOW)


def test_credentials_that_cannot_be_found_are_forbidden_with_the_place(tmp_path: Path) -> None:
    connection = KubeConnection(kubeconfig=tmp_path / "kubeconfig", context="prod-eu")
    target = open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name="llm", cluster=connection))
    with pytest.raises(TargetForbidden, match="prod-eu"):
        target.observe(NOW)


@pytest.fixture(scope="module")
def shared_api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


@settings(deadline=None)  # each example is several round trips over HTTP
@given(floor=st.integers(0, 60), found=st.integers(1, 20), room=st.integers(0, 20))
def test_whatever_is_decided_the_api_is_never_asked_for_a_floor_that_it_must_refuse(
    shared_api: KubeApi, floor: int, found: int, room: int
) -> None:
    shared_api.add_hpa("inference", "llm", min_replicas=found, max_replicas=found + room)
    applied = stand(target_of(shared_api), floor)
    assert applied.after == max(1, min(floor, found + room)) == shared_api.min_replicas("inference", "llm")
    assert (Code.CEILING_BELOW_FLOOR in codes(applied)) == (floor > found + room)
    assert (Code.ZERO_NOT_TAKEN in codes(applied)) == (floor == 0)


@settings(deadline=None)  # each example is several round trips over HTTP
@given(found=st.integers(1, 20), steps=st.lists(st.one_of(st.integers(0, 30), st.just("touched"), st.just("edited"))))
def test_after_any_life_the_original_comes_back_and_no_mark_is_left(shared_api: KubeApi, found: int, steps: list[int | str]) -> None:
    shared_api.add_hpa("inference", "llm", min_replicas=found, max_replicas=30)
    held = False
    for step in steps:
        match step:
            case int(floor):
                stand(target_of(shared_api), floor)
                held = True
            case "touched":
                shared_api.touch("inference", "llm")
            case _ if held:  # before we hold it, an edit makes a new original
                shared_api.edit("inference", "llm", minReplicas=7)
    let_go(target_of(shared_api))
    assert shared_api.min_replicas("inference", "llm") == found
    assert shared_api.annotations("inference", "llm") == {}
