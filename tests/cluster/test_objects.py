"""Kinds of other projects on a real API server: one merge patch, real resourceVersions, the real book of writers, real rehearsals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from connectors.targets.access import Checkable
from connectors.targets.registry import Target, open_target
from forecaster.decision import Paused
from forecaster.errors import TargetConflict, TargetMissing, TargetRefused
from forecaster.reasons import Code
from forecaster.units import iso
from tests.cluster.control_plane import ControlPlane, Json
from tests.cluster.llm import apply, deployment, let_go, stand
from tests.connectors.targets.object_subjects import CONFIGS, KINDS, Kind
from tests.connectors.targets.subjects import NOW, UNTIL, codes, decided

NAME = "llm"
_SCALED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME}
_TYPES = {"kserve-serverless": "kserve", "dynamo-service": "dynamo"}
_DISALLOWED = '{"serviceAnnotationDisallowedList": ["forecaster/original", "forecaster/floor", "forecaster/valid-until"]}'


def thing(api_version: str, kind: str, name: str = NAME, *, annotations: Mapping[str, str] | None = None, **parts: Any) -> Json:
    """An object of any kind."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "annotations": dict(annotations or {})}, **parts}


def scaled_object() -> list[Json]:
    spec = {"scaleTargetRef": {"name": NAME}, "minReplicaCount": 2, "maxReplicaCount": 20, "triggers": []}
    return [thing("keda.sh/v1alpha1", "ScaledObject", spec=spec)]


def inference_service() -> list[Json]:
    return [thing("serving.kserve.io/v1beta1", "InferenceService", spec={"predictor": {"minReplicas": 2, "maxReplicas": 20}})]


def knative_service() -> list[Json]:
    scale = {"autoscaling.knative.dev/min-scale": "2", "autoscaling.knative.dev/max-scale": "20"}
    traffic = [{"revisionName": f"{NAME}-00001", "percent": 100}]
    return [
        thing("serving.knative.dev/v1", "Service", spec={}, status={"latestReadyRevisionName": f"{NAME}-00001", "traffic": traffic}),
        thing("serving.knative.dev/v1", "Revision", f"{NAME}-00001", annotations=scale, spec={}),
    ]


def pod_autoscaler() -> list[Json]:
    spec = {"scaleTargetRef": _SCALED, "minReplicas": 2, "maxReplicas": 20, "scalingStrategy": "APA"}
    return [thing("autoscaling.aibrix.ai/v1alpha1", "PodAutoscaler", spec=spec)]


def scaling_adapter() -> list[Json]:
    spec = {"replicas": 2, "dgdRef": {"name": "graph", "serviceName": "decode"}}
    return [thing("nvidia.com/v1alpha1", "DynamoGraphDeploymentScalingAdapter", spec=spec)]


def graph() -> list[Json]:
    services = {"Frontend": {"componentType": "frontend"}, "decode": {"componentType": "worker", "replicas": 2}}
    return [thing("nvidia.com/v1alpha1", "DynamoGraphDeployment", spec={"services": services})]


def capacity_buffer() -> list[Json]:
    scalable = {"apiGroup": "apps", "kind": "Deployment", "name": NAME}
    return [
        deployment(NAME, replicas=0),
        thing("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", spec={"replicas": 2, "scalableRef": scalable}),
    ]


OBJECTS: Mapping[str, Callable[[], list[Json]]] = {
    "keda-scaledobject": scaled_object,
    "kserve": inference_service,
    "knative": knative_service,
    "aibrix": pod_autoscaler,
    "dynamo": scaling_adapter,
    "dynamo-service": graph,
    "capacity-buffer": capacity_buffer,
    "kubernetes-field": scaled_object,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An object of a kind in a namespace of its own."""

    plane: ControlPlane
    namespace: str
    kind: str

    @property
    def where(self) -> Kind:
        return KINDS[self.kind]

    @property
    def carrier(self) -> str:
        return self.where.carrier.format(name=NAME)

    @property
    def resource(self) -> str:
        """As kubectl takes it, version and all: two projects have podautoscalers, and two have services."""
        named = (one for one in OBJECTS[self.kind]() if one["metadata"]["name"] == self.carrier and one["kind"] != "Deployment")
        group, version = next(named)["apiVersion"].split("/")
        return f"{self.where.plural}.{version}.{group}"

    def open(self, **settings: object) -> Target:
        common = {"type": _TYPES.get(self.kind, self.kind), "namespace": self.namespace, "name": NAME}
        cluster = self.plane.connection()
        target = CONFIGS.validate_python({**common, **self.where.settings, **settings})
        return open_target(target.model_copy(update={"cluster": cluster}))

    def look(self) -> Json:
        group, version = self.resource.split(".", 2)[2], self.resource.split(".", 2)[1]
        found = self.plane.read(f"/apis/{group}/{version}/namespaces/{self.namespace}/{self.where.plural}/{self.carrier}")
        assert found is not None
        return found

    def floor(self) -> int:
        value: Any = self.look()
        for key in self.where.floor:
            value = value[key]
        return int(value)

    def marks(self) -> dict[str, str]:
        annotations = self.look()["metadata"].get("annotations") or {}
        prefix = self.where.prefix
        return {key.removeprefix(prefix): text for key, text in annotations.items() if key.startswith(prefix)}

    def meddle(self, patch: str, *, manager: str) -> None:
        words = ("patch", self.resource, self.carrier, "--namespace", self.namespace, "--type=merge", "--patch", patch)
        self.plane.kubectl(*words, f"--field-manager={manager}")


@pytest.fixture(scope="module", autouse=True)
def controllers(cluster: ControlPlane) -> None:
    """What installations of KServe and Knative leave beside their kinds."""
    cluster.kubectl("label", "--overwrite", "crd", "revisions.serving.knative.dev", "app.kubernetes.io/version=1.21.0")
    cluster.apply('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kserve"}}')
    apply(cluster, "kserve", thing("v1", "ConfigMap", "inferenceservice-config", data={"inferenceService": _DISALLOWED}))


@pytest.fixture(params=OBJECTS)
def standing(request: pytest.FixtureRequest, cluster: ControlPlane, namespace: str) -> Standing:
    return put(cluster, namespace, request.param)


def put(plane: ControlPlane, namespace: str, kind: str) -> Standing:
    objects = OBJECTS[kind]()
    apply(plane, namespace, *objects)
    for one in objects:
        if "status" in one:
            group = one["apiVersion"]
            path = f"/apis/{group}/namespaces/{namespace}/services/{one['metadata']['name']}/status"
            with plane.http() as http:
                headers = {"Content-Type": "application/merge-patch+json"}
                http.patch(path, json={"status": one["status"]}, headers=headers).raise_for_status()
    return Standing(plane=plane, namespace=namespace, kind=kind)


def test_a_floor_stands_under_our_name_and_the_original_comes_back_without_a_mark(standing: Standing) -> None:
    seen = standing.open().observe(NOW)
    assert (seen.floor, seen.original, seen.writer) == (2, 2, None)
    assert stand(standing.open(), 8).written
    assert (standing.floor(), standing.marks()) == (8, {"original": "2", "floor": "8", "valid-until": iso(UNTIL)})
    ours = next(entry for entry in standing.look()["metadata"]["managedFields"] if entry["manager"] == "forecaster")
    assert set(ours["fieldsV1"]) <= {"f:metadata", "f:spec"}
    assert not stand(standing.open(), 8).written
    assert (let_go(standing.open()).after, standing.floor(), standing.marks()) == (2, 2, {})


def test_k33_a_change_since_it_was_seen_is_a_conflict_of_every_kind(standing: Standing) -> None:
    target = standing.open()
    seen = target.observe(NOW)
    standing.meddle('{"metadata": {"labels": {"team": "serving"}}}', manager="kubectl-label")
    with pytest.raises(TargetConflict, match="observe it again"):
        target.set_floor(decided(target.name, 8), seen)
    assert standing.floor() == 2


def test_a_floor_is_rehearsed_on_the_real_server_and_leaves_no_trace(standing: Standing) -> None:
    target = standing.open()
    assert isinstance(target, Checkable)
    before = standing.look()["metadata"]["resourceVersion"]
    target.check_write()
    assert standing.look()["metadata"]["resourceVersion"] == before


def test_l31_a_second_writer_is_named_from_the_real_book_and_told_what_to_change(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "keda-scaledobject")
    stand(standing.open(), 8)
    standing.meddle('{"spec": {"minReplicaCount": 3}}', manager="argocd-controller")
    seen = standing.open().observe(NOW)
    assert seen.writer == "argocd-controller"
    assert '{group: "keda.sh", kind: ScaledObject, jsonPointers: ["/spec/minReplicaCount"]}' in (seen.remedy or "")


def test_l31_a_second_writer_of_an_annotation_is_found_in_the_real_book(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "knative")
    stand(standing.open(), 8)
    standing.meddle('{"metadata": {"annotations": {"autoscaling.knative.dev/min-scale": "15"}}}', manager="helm")
    seen = standing.open().observe(NOW)
    assert (seen.floor, seen.writer) == (15, "helm")


def test_a_kind_that_the_real_server_does_not_serve_says_so_with_the_remedy(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "kubernetes-field")
    for api_version in ("keda.sh/v9", "nowhere.example/v1"):
        with pytest.raises(TargetMissing, match="install its CustomResourceDefinition"):
            standing.open(api_version=api_version).observe(NOW)


def test_a_field_that_the_schema_does_not_know_is_found_in_a_rehearsal(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, deployment(NAME, replicas=1))
    field = Standing(plane=cluster, namespace=namespace, kind="kubernetes-field")
    target = field.open(api_version="apps/v1", kind="Deployment", field="spec.minimum", absent=0, ceiling_field=None)
    assert isinstance(target, Checkable)
    with pytest.raises(TargetRefused, match=r"does not keep spec\.minimum"):
        target.check_write()


def test_k35_replicas_under_a_real_hpa_or_scaled_object_are_refused_by_its_name(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, deployment(NAME, replicas=1))
    put(cluster, namespace, "keda-scaledobject")
    field = Standing(plane=cluster, namespace=namespace, kind="kubernetes-field")
    target = field.open(api_version="apps/v1", kind="Deployment", field="spec.replicas", ceiling_field=None)
    with pytest.raises(TargetRefused, match=f"ScaledObject {namespace}/{NAME}"):
        target.observe(NOW)


def test_k36_an_object_that_is_deleted_and_made_again_is_missing_and_then_found_as_it_is(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "keda-scaledobject")
    stand(standing.open(), 8)
    cluster.kubectl("delete", standing.resource, NAME, "--namespace", namespace)
    with pytest.raises(TargetMissing, match="correct namespace and name"):
        standing.open().observe(NOW)
    put(cluster, namespace, "keda-scaledobject")
    seen = standing.open().observe(NOW)
    assert (seen.floor, seen.original, seen.valid_until) == (2, 2, None)


def test_l24_a_maximum_below_our_floor_that_no_schema_forbids_becomes_the_floor(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "aibrix")
    stand(standing.open(), 8)
    standing.meddle('{"spec": {"maxReplicas": 5}}', manager="platform-team")
    applied = stand(standing.open(), 8)
    assert (applied.after, standing.floor(), codes(applied)) == (5, 5, {Code.CEILING_BELOW_FLOOR})


def test_k46_a_pause_of_keda_holds_until_it_is_taken_away(cluster: ControlPlane, namespace: str) -> None:
    standing = put(cluster, namespace, "keda-scaledobject")
    standing.meddle('{"metadata": {"annotations": {"autoscaling.keda.sh/paused": "true"}}}', manager="kubectl-annotate")
    assert standing.open().observe(NOW).paused is Paused.HOLD
    standing.meddle('{"metadata": {"annotations": {"autoscaling.keda.sh/paused": null}}}', manager="kubectl-annotate")
    assert standing.open().observe(NOW).paused is None
