"""The watchdog on a real API server: Forecaster is dead, its word runs out, and the originals are back, by a role that may do no more."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from connectors.targets.registry import Target, open_target
from tests.cluster.control_plane import ControlPlane, eventually
from tests.cluster.credentials import kubeconfig
from tests.cluster.granted import token_granted
from tests.cluster.kustomized import KUSTOMIZE, overlay, put, rendered, standing
from tests.cluster.llm import apply, deployment, eventually_ready, min_replicas, observed_again, our_marks, target_of
from tests.connectors.targets.object_subjects import CONFIGS
from tests.connectors.targets.subjects import NOW, decided
from tests.end_to_end.desk import Desk
from tests.jobs.watchdog.watching import Ended, command
from tests.jobs.world import daily_rpm, write_trace

AHEAD = datetime(2199, 1, 1, tzinfo=UTC)
AS_IT = "--as=system:serviceaccount:forecaster-watchdog:forecaster-watchdog"


@pytest.fixture
def watched(cluster: ControlPlane, served: str, tmp_path: Path) -> Path:
    """A kubeconfig of the watchdog's account, with the rights that deploy/ grants in the namespace; nothing of Forecaster is there."""
    objects = rendered(cluster, KUSTOMIZE / "watchdog")
    put(cluster, sorted((each for each in objects if each["kind"] in {"Namespace", "ServiceAccount"}), key=lambda each: each["kind"]))
    put(cluster, rendered(cluster, KUSTOMIZE / "rbac" / "watchdog"), served)
    token = cluster.token_for("forecaster-watchdog", "forecaster-watchdog")
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(kubeconfig(cluster.server, cluster.ca_file, token)))
    return path


def left_behind(target: Target, floor: int, *, valid_until: datetime) -> None:
    """A floor of a Forecaster that is no more."""
    observed_again(lambda: target.set_floor(decided(target.name, floor, valid_until=valid_until), target.observe(NOW)))


def watch(path: Path, *words: str) -> Ended:
    return command(*words, kubeconfig=path)


def test_l44_a_dead_forecasters_floor_is_taken_back_once_its_word_has_run_out(cluster: ControlPlane, served: str, watched: Path) -> None:
    left_behind(target_of(cluster, served), 8, valid_until=NOW)
    eventually_ready(cluster, served, 8)
    done = watch(watched, "--namespace", served)
    assert (done.code, done.out, done.err) == (0, f"kubernetes-hpa:{served}/llm: released, floor 8 -> 2\n", "")
    assert (min_replicas(cluster, served), our_marks(cluster, served)) == (2, {})
    eventually_ready(cluster, served, 3)  # the HPA goes where its own metric wants it
    assert watch(watched, "--namespace", served).out == ""


def test_a_forecaster_that_was_killed_and_whose_store_and_configuration_are_gone_leaves_no_floor_for_good(
    cluster: ControlPlane, served: str, watched: Path, tmp_path: Path
) -> None:
    desk = Desk(folder=tmp_path / "desk", env={"TOKEN": token_granted(cluster, served)})
    desk.folder.mkdir()
    write_trace(desk.folder / "load.csv", daily_rpm(NOW))
    reached = {"server": cluster.server, "token": "${TOKEN}", "ca_file": str(cluster.ca_file)}
    target = {"type": "kubernetes-hpa", "namespace": served, "name": "llm", "cluster": reached}
    workload = {"name": "chat", "source": "trace", "signals": {"rpm": {"query": "value", "unit": "count"}}, "policy": {"mode": "auto"}}
    pool = {"name": "gpu", "capacity": {"rpm": 100}, "targets": [target]}
    quick = {"forecast": {"watched": []}, "operating_point": {"workloads": 0}}
    desk.configure({"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": [workload | {"pools": [pool]}], **quick})
    desk.done("run", at=NOW)
    floor = min_replicas(cluster, served)
    assert floor > 2
    killed = desk.start("apply", at=NOW + timedelta(minutes=1))
    killed.kill()
    killed.communicate()
    shutil.rmtree(desk.folder)
    assert watch(watched, "--namespace", served).code == 0
    assert (min_replicas(cluster, served), our_marks(cluster, served)) == (2, {})


def test_before_that_and_within_its_grace_it_stays(cluster: ControlPlane, served: str, watched: Path) -> None:
    left_behind(target_of(cluster, served), 8, valid_until=AHEAD)
    assert watch(watched, "--namespace", served).err == "nothing to give back; objects whose valid-until has not passed: 1\n"
    passed = datetime.now(UTC) - timedelta(minutes=5)  # noqa: TID251 - what the command compares with
    left_behind(target_of(cluster, served), 8, valid_until=passed)
    assert watch(watched, "--namespace", served).code == 0
    assert min_replicas(cluster, served) == 8
    assert watch(watched, "--namespace", served, "--grace", "1m").code == 0
    assert min_replicas(cluster, served) == 2


def test_a_hold_is_obeyed(cluster: ControlPlane, served: str, watched: Path) -> None:
    left_behind(target_of(cluster, served), 8, valid_until=NOW)
    cluster.kubectl("annotate", "hpa", "llm", "--namespace", served, "forecaster/paused=hold")
    done = watch(watched, "--namespace", served)
    assert (done.code, min_replicas(cluster, served)) == (0, 8)
    assert "forecaster/paused holds it: floor 8 stays" in done.out


def test_a_scaled_object_is_found_too(cluster: ControlPlane, served: str, watched: Path) -> None:
    spec = {"scaleTargetRef": {"name": "other"}, "triggers": [{"type": "cron"}], "minReplicaCount": 1, "maxReplicaCount": 20}
    apply(cluster, served, {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "so"}, "spec": spec})
    config = {"type": "keda-scaledobject", "namespace": served, "name": "so", "cluster": cluster.connection()}
    left_behind(open_target(CONFIGS.validate_python(config)), 8, valid_until=NOW)
    assert watch(watched, "--namespace", served).out == f"keda-scaledobject:{served}/so: released, floor 8 -> 1\n"
    assert cluster.value("scaledobject", served, "so", ".spec.minReplicaCount") == "1"


def test_replicas_are_found_where_their_kind_is_named_and_the_rights_of_the_page_are_granted(
    cluster: ControlPlane, served: str, watched: Path
) -> None:
    apply(cluster, served, deployment("plain", replicas=2))
    eventually_ready(cluster, served, 2, "plain")
    config = {"type": "kubernetes-scale", "kind": "Deployment", "namespace": served, "name": "plain", "cluster": cluster.connection()}
    left_behind(open_target(CONFIGS.validate_python(config)), 4, valid_until=NOW)
    lacking = watch(watched, "--namespace", served, "--kind", "kubernetes-scale:Deployment")
    assert (lacking.code, "resources: [deployments], verbs: [list]" in lacking.err) == (1, True)
    rules = [
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list", "patch"]},
        {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "patch"]},
    ]
    name = {"name": "forecaster-watchdog-scale"}
    rights = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": name, "rules": rules}
    account = {"kind": "ServiceAccount", "name": "forecaster-watchdog", "namespace": "forecaster-watchdog"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", **name}
    binding = {"apiVersion": rights["apiVersion"], "kind": "RoleBinding", "metadata": name, "roleRef": reference, "subjects": [account]}
    apply(cluster, served, rights, binding)
    eventually(lambda: watch(watched, "--namespace", served, "--kind", "kubernetes-scale:Deployment").code == 0)
    assert cluster.value("deployment", served, "plain", ".spec.replicas") == "2"


def test_a_namespace_without_the_role_is_named_and_the_other_is_put_back(cluster: ControlPlane, served: str, watched: Path) -> None:
    left_behind(target_of(cluster, served), 8, valid_until=NOW)
    done = watch(watched, "--namespace", "default", "--namespace", served)
    assert (done.code, min_replicas(cluster, served)) == (3, 2)
    assert "to our role in namespace default" in done.err


@pytest.mark.usefixtures("watched")
def test_its_role_may_do_no_more(cluster: ControlPlane, served: str) -> None:
    allowed = [
        (verb, resource)
        for verb in ("get", "list", "watch", "patch", "update", "create", "delete")
        for resource in (
            "horizontalpodautoscalers.autoscaling",
            "scaledobjects.keda.sh",
            "deployments.apps",
            "pods",
            "secrets",
            "configmaps",
        )
        if cluster.tried("auth", "can-i", verb, resource, "--namespace", served, AS_IT).stdout.strip() == "yes"
    ]
    kinds = ("horizontalpodautoscalers.autoscaling", "scaledobjects.keda.sh")
    assert allowed == [(verb, kind) for verb in ("get", "list", "patch") for kind in kinds]


def test_it_works_under_the_admission_policy(cluster: ControlPlane, served: str, watched: Path, tmp_path: Path) -> None:
    left_behind(target_of(cluster, served), 8, valid_until=NOW)
    with standing(cluster, rendered(cluster, overlay(tmp_path / "policy", resources=[KUSTOMIZE / "admission"]))):
        assert watch(watched, "--namespace", served).code == 0
        assert (min_replicas(cluster, served), our_marks(cluster, served)) == (2, {})
