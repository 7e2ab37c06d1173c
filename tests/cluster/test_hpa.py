"""The target kubernetes-hpa on a real API server, under a real HPA controller that writes its status whenever it likes."""

import json
from dataclasses import replace
from math import nan

import pytest

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import Target, open_target
from forecaster.decision import Applied
from forecaster.errors import TargetConflict, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.ports import StartSource
from forecaster.reasons import Code
from forecaster.starts import Start
from forecaster.units import iso
from jobs.clock import SystemClock
from tests.cluster.control_plane import ControlPlane, eventually
from tests.cluster.kubelet import Kubelet, Pace
from tests.cluster.llm import (
    apply,
    deployment,
    eventually_ready,
    hpa,
    hpa_of,
    let_go,
    min_replicas,
    observed_again,
    our_marks,
    ready,
    stand,
    target_of,
)
from tests.connectors.targets.subjects import NOW, UNTIL, codes, decided


def test_the_hpa_and_its_workload_are_seen_as_they_stand(cluster: ControlPlane, served: str) -> None:
    seen = target_of(cluster, served).observe(NOW)
    assert (seen.floor, seen.ceiling, seen.original, seen.ready, seen.pending) == (2, 20, 2, 3, 0)
    assert (seen.writer, seen.valid_until, seen.paused) == (None, None, None)
    assert target_of(cluster, served).observe(NOW).version  # whatever the controller has written by now


def test_a_floor_stands_with_original_and_expiry_and_under_our_name(cluster: ControlPlane, served: str) -> None:
    assert stand(target_of(cluster, served), 8).written
    written = hpa_of(cluster, served)
    assert written["spec"]["minReplicas"] == 8
    assert our_marks(cluster, served) == {"forecaster/original": "2", "forecaster/floor": "8", "forecaster/valid-until": iso(UNTIL)}
    (ours,) = [entry for entry in written["metadata"]["managedFields"] if entry["manager"] == "forecaster"]
    assert ours["operation"] == "Update"
    assert ours["fieldsV1"]["f:spec"] == {"f:minReplicas": {}}  # our field only
    assert set(ours["fieldsV1"]["f:metadata"]) == {"f:annotations"}


def test_the_same_floor_twice_is_one_write(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served)
    assert stand(target, 8).written
    assert not stand(target, 8).written


def test_k33_what_changed_since_it_was_seen_is_a_conflict_of_the_real_api_server_and_nothing_is_written(
    cluster: ControlPlane, served: str
) -> None:
    target = target_of(cluster, served)
    seen = target.observe(NOW)
    cluster.kubectl("label", "hpa", "llm", "--namespace", served, "team=serving")
    with pytest.raises(TargetConflict, match="observe it again"):
        target.set_floor(decided(target.name, 8), seen)
    assert min_replicas(cluster, served) == 2
    assert stand(target, 8).written


def test_a_release_puts_the_original_back_and_leaves_nothing_of_us_but_the_field(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served)
    stand(target, 8)
    assert let_go(target).after == 2
    assert min_replicas(cluster, served) == 2
    assert our_marks(cluster, served) == {}
    assert not let_go(target).written


def test_l31_another_field_manager_is_named_from_the_real_managed_fields(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served)
    stand(target, 8)
    apply(cluster, served, hpa(min_replicas=2), manager="argocd-controller")
    assert target.observe(NOW).writer == "argocd-controller"
    assert stand(target, 8).written
    assert target.observe(NOW).writer is None


def test_a_change_of_another_field_is_no_second_writer(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served)
    stand(target, 8)
    cluster.kubectl("patch", "hpa", "llm", "--namespace", served, "--type=merge", "-p", '{"spec":{"maxReplicas":30}}')
    seen = target.observe(NOW)
    assert (seen.writer, seen.ceiling) == (None, 30)


def test_a_floor_above_the_ceiling_is_cut_to_it_and_said(cluster: ControlPlane, served: str) -> None:
    applied = stand(target_of(cluster, served), 25)
    assert (applied.after, min_replicas(cluster, served)) == (20, 20)
    assert Code.CEILING_BELOW_FLOOR in codes(applied)


def test_a_ceiling_lowered_behind_our_back_is_a_conflict_before_it_is_an_api_error(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served)
    seen = target.observe(NOW)
    cluster.kubectl("patch", "hpa", "llm", "--namespace", served, "--type=merge", "-p", '{"spec":{"maxReplicas":5}}')
    with pytest.raises(TargetConflict):
        target.set_floor(decided(target.name, 8), seen)
    assert stand(target, 8).after == 5


def test_a_floor_of_zero_becomes_1_and_the_api_server_never_sees_it(cluster: ControlPlane, served: str) -> None:
    applied = stand(target_of(cluster, served), 0)
    assert applied.after == 1
    assert Code.ZERO_NOT_TAKEN in codes(applied)
    assert min_replicas(cluster, served) == 1


@pytest.mark.parametrize(("floor", "field"), [(0, "metrics"), (30, "maxReplicas")])
def test_what_the_api_server_itself_refuses_is_a_sentence_with_object_and_field(
    cluster: ControlPlane, namespace: str, floor: int, field: str
) -> None:
    apply(cluster, namespace, hpa(min_replicas=2, carries=nan))  # zero is taken with a metric that is not of the pods themselves
    target = target_of(cluster, namespace)

    def blindly() -> Applied:
        seen = replace(target.observe(NOW), least=None, ceiling=100)  # as if other bounds had been seen than the server's
        return target.set_floor(decided(target.name, floor), seen)

    with pytest.raises(TargetRefused, match=f"horizontalpodautoscalers.autoscaling {namespace}/llm.*spec.{field}"):
        observed_again(blindly)
    assert min_replicas(cluster, namespace) == 2


def test_a_pause_that_a_person_writes_with_kubectl_is_seen(cluster: ControlPlane, served: str) -> None:
    cluster.kubectl("annotate", "hpa", "llm", "--namespace", served, "forecaster/paused=hold")
    assert target_of(cluster, served).observe(NOW).paused == "hold"


@pytest.mark.parametrize(("namespace_is_there", "name"), [(True, "lllm"), (False, "llm")])
def test_an_object_or_namespace_that_is_not_there_is_missing(
    cluster: ControlPlane, served: str, namespace_is_there: bool, name: str
) -> None:
    where = served if namespace_is_there else "nowhere"
    with pytest.raises(TargetMissing, match=f"{where}/{name}.*correct namespace and name"):
        target_of(cluster, where, name=name).observe(NOW)


def test_a_token_that_is_not_valid_says_to_renew_it(cluster: ControlPlane, served: str) -> None:
    with pytest.raises(TargetForbidden, match="renew the token"):
        target_of(cluster, served, token="of-another-cluster").observe(NOW)


def test_a_token_of_a_deleted_account_says_to_renew_it(cluster: ControlPlane, served: str) -> None:
    cluster.kubectl("create", "serviceaccount", "short-lived", "--namespace", served)
    token = cluster.token_for(served, "short-lived")
    with pytest.raises(TargetForbidden, match="add the RBAC rule"):
        target_of(cluster, served, token=token).observe(NOW)
    cluster.kubectl("delete", "serviceaccount", "short-lived", "--namespace", served)
    target = target_of(cluster, served, token=token)
    eventually(lambda: "renew the token" in refusal(target))  # the API server remembers a token for some seconds


def refusal(target: Target) -> str:
    with pytest.raises(TargetForbidden) as raised:
        target.observe(NOW)
    return str(raised.value)


def test_a_server_whose_certificate_we_do_not_trust_is_told_nothing(cluster: ControlPlane, served: str) -> None:
    stranger = KubeConnection(server=cluster.server, token=cluster.connection().token, timeout_s=2)
    target = open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace=served, name="llm", cluster=stranger))
    with pytest.raises(TargetUnavailable, match="certificate verify failed"):
        target.observe(NOW)


def test_k39_surge_pods_of_a_real_rolling_update_are_no_capacity(cluster: ControlPlane, served: str, kubelet: Kubelet) -> None:
    kubelet.paces[served] = Pace(cold_start_s=0.5, stop_s=1)
    surge = {"strategy": {"rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}}, "minReadySeconds": 2}
    image = {"template": {"spec": {"containers": [{"name": "server", "image": "example.test/llm:2"}]}}}
    cluster.kubectl("patch", "deployment", "llm", "--namespace", served, "-p", json.dumps({"spec": surge | image}))
    eventually(lambda: ready(cluster, served) > 3)  # the old ones serve until the new ones have been ready for a while
    assert target_of(cluster, served).observe(NOW).ready == 3


def test_k43_a_floor_that_was_accepted_shows_what_is_not_ready_and_where_there_is_no_room(
    cluster: ControlPlane, served: str, kubelet: Kubelet
) -> None:
    kubelet.paces[served] = Pace(room=4)
    target = target_of(cluster, served)
    stand(target, 6)
    eventually(lambda: (target.observe(NOW).ready, target.observe(NOW).pending) == (4, 2))
    kubelet.paces[served] = Pace(room=6)
    eventually(lambda: (target.observe(NOW).ready, target.observe(NOW).pending) == (6, 0))


def test_starts_tell_cold_ones_from_warm_ones_and_how_long_each_took(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> None:
    kubelet.paces[namespace] = Pace(cold_start_s=2, room=1, node_start_s=3)
    apply(cluster, namespace, deployment(replicas=2), hpa(min_replicas=2))
    target = target_of(cluster, namespace)
    assert isinstance(target, StartSource)
    eventually_ready(cluster, namespace, 2)
    starts = {start.cold: start for start in target.starts(SystemClock().now())}
    assert set(starts) == {False, True}
    assert took_s(starts[True]) > took_s(starts[False]) >= 1  # stamps are whole seconds


def took_s(start: Start) -> float:
    assert start.ready is not None
    return (start.ready - start.requested).total_seconds()
