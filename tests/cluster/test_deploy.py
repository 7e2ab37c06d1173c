"""deploy/kustomize on a real API server: taken without a warning, under the strictest pod security, with rights that suffice."""

from pathlib import Path

import pytest
import yaml

from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kustomized import KUSTOMIZE, overlay, rendered, standing
from tests.cluster.llm import eventually_ready, let_go, min_replicas, stand, target_of
from tests.connectors.targets.subjects import NOW

FOLDERS = sorted(path.parent for path in KUSTOMIZE.rglob("kustomization.yaml") if path.parent.name != "monitoring")
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "forecaster-store", "namespace": "forecaster"},
    "stringData": {"url": "postgresql://forecaster:x@postgresql/forecaster"},
}


def pod_specs(objects: list[Json]) -> dict[str, Json]:
    """The templates of pods by the name of what makes them."""
    made = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] in {"Deployment", "CronJob"}}
    return {name: (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"] for name, spec in made.items()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(KUSTOMIZE)))
def test_every_kustomization_renders_and_is_taken_without_a_warning(cluster: ControlPlane, namespace: str, folder: Path) -> None:
    objects = rendered(cluster, folder)
    assert objects
    for space in {each["metadata"].get("namespace") for each in objects} - {None}:
        cluster.apply(yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}))
    dry = ("apply", "--server-side", "--dry-run=server", "--field-manager=platform-team", "--force-conflicts", "-f", "-")
    unplaced = [each for each in objects if "namespace" not in each["metadata"]]
    placed = [each for each in objects if "namespace" in each["metadata"]]
    for part, place in ((unplaced, ("--namespace", namespace)), (placed, ())):
        if part:
            done = cluster.tried(*dry, *place, stdin=yaml.safe_dump_all(part))
            assert (done.returncode, done.stderr) == (0, "")


def test_two_replicas_come_up_under_the_strictest_pod_security(cluster: ControlPlane) -> None:
    with standing(cluster, [*rendered(cluster, KUSTOMIZE / "base"), SECRET]):
        labels = cluster.read("/api/v1/namespaces/forecaster")
        assert labels is not None
        assert labels["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
        eventually_ready(cluster, "forecaster", 2, "forecaster")
        eventually(lambda: cluster.value("pdb", "forecaster", "forecaster", ".status.disruptionsAllowed") == "1")


def test_every_pod_of_deploy_is_nobody_can_write_nothing_and_asks_for_what_it_needs(cluster: ControlPlane) -> None:
    for folder in ("base", "cronjob", "watchdog"):
        for name, spec in pod_specs(rendered(cluster, KUSTOMIZE / folder)).items():
            security = spec["securityContext"]
            assert (security["runAsNonRoot"], security["runAsUser"]) == (True, 10001), name
            for container in [*spec["containers"], *spec.get("initContainers", ())]:
                assert container["securityContext"]["readOnlyRootFilesystem"], name
                assert container["resources"]["requests"].keys() == {"cpu", "memory"}, name


def test_a_job_of_each_cronjob_is_admitted(cluster: ControlPlane) -> None:
    for folder in ("cronjob", "watchdog"):
        objects = rendered(cluster, KUSTOMIZE / folder)
        with standing(cluster, [*objects, *([SECRET] if folder == "cronjob" else [])]):
            for each in objects:
                if each["kind"] == "CronJob":
                    space, name = each["metadata"]["namespace"], each["metadata"]["name"]
                    pod = {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "metadata": {"name": f"{name}-once", "namespace": space},
                        "spec": pod_specs(objects)[name],
                    }
                    done = cluster.tried("create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(pod))
                    assert (done.returncode, done.stderr) == (0, "")


def test_the_variant_for_cron_has_no_daemon(cluster: ControlPlane) -> None:
    kinds = {each["kind"] for each in rendered(cluster, KUSTOMIZE / "cronjob")}
    assert kinds & {"Deployment", "PodDisruptionBudget", "Service"} == set()
    assert {"CronJob", "ConfigMap", "Role", "NetworkPolicy"} <= kinds


def test_an_overlay_with_rights_and_monitoring_is_taken_whole(cluster: ControlPlane, served: str, tmp_path: Path) -> None:
    rights = overlay(tmp_path / "rights", namespace=served, resources=[KUSTOMIZE / "rbac" / "kubernetes-hpa", KUSTOMIZE / "rbac" / "nodes"])
    whole = overlay(tmp_path / "whole", resources=[KUSTOMIZE / "base", rights], components=[KUSTOMIZE / "monitoring"])
    objects = rendered(cluster, whole)
    with standing(cluster, [*objects, SECRET]):
        token = cluster.token_for("forecaster", "forecaster")
        target = target_of(cluster, served, token=token)
        assert target.observe(NOW).ready == 3
        assert stand(target, 8).after == 8
        assert let_go(target).after == 2
        rules = cluster.read("/apis/monitoring.coreos.com/v1/namespaces/forecaster/prometheusrules/forecaster")
        assert rules is not None
        assert len(rules["spec"]["groups"][0]["rules"]) >= 10
    assert min_replicas(cluster, served) == 2


def test_what_was_applied_goes_without_a_trace(cluster: ControlPlane, served: str, tmp_path: Path) -> None:
    rights = overlay(tmp_path / "rights", namespace=served, resources=[KUSTOMIZE / "rbac" / "kubernetes-hpa"])
    with standing(cluster, [*rendered(cluster, KUSTOMIZE / "base"), *rendered(cluster, rights)]):
        pass
    found = cluster.kubectl("get", "role,rolebinding,deployment,networkpolicy,pdb", "--all-namespaces", "-o", "name", "-l", _OURS)
    assert found == ""
    assert cluster.kubectl("get", "role,rolebinding", "--namespace", served, "-o", "name") == ""


_OURS = "app.kubernetes.io/part-of=forecaster"
