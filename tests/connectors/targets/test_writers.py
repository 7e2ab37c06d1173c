"""A second writer is named, and told what to change: by the name that it gives itself, else by whose object it is."""

import pytest

from connectors.targets.writers import Writer, owner_of, remedy, second_writer
from tests.connectors.targets.object_subjects import ObjectSubject
from tests.connectors.targets.subjects import NOW, stand
from tests.kube_api import KubeApi
from tests.kube_objects import Json

MIN = ("spec", "minReplicas")
SCALE = ("metadata", "annotations", "autoscaling.knative.dev/min-scale")
IGNORE = '{group: "autoscaling", kind: HorizontalPodAutoscaler, jsonPointers: ["/spec/minReplicas"]}'


def hpa(**metadata: object) -> Json:
    """A HPA with what its metadata tells."""
    named = {"name": "llm", "namespace": "inference"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": named | metadata}


def entry(manager: str, time: str, fields: Json) -> Json:
    """A line of the API server's book of writers."""
    return {"manager": manager, "time": time, "fieldsV1": fields}


def test_the_newest_of_those_who_hold_the_field_is_named() -> None:
    held: Json = {"f:spec": {"f:minReplicas": {}}}
    book = [
        entry("helm", "2024-05-01T00:00:00Z", held),
        entry("kubectl-edit", "2024-05-02T00:00:00Z", held),
        entry("kube-controller-manager", "2024-05-03T00:00:00Z", {"f:status": {}}),
    ]
    assert second_writer(hpa(managedFields=book), MIN).name == "kubectl-edit"


def test_the_writer_of_an_annotation_is_found_by_its_key() -> None:
    book = [entry("someone", "2024-05-01T00:00:00Z", {"f:metadata": {"f:annotations": {".": {}, f"f:{SCALE[-1]}": {}}}})]
    assert second_writer(hpa(managedFields=book), SCALE) == Writer(name="someone", remedy=None)
    assert second_writer(hpa(managedFields=book), MIN) == Writer(name="an unknown writer", remedy=None)


@pytest.mark.parametrize(
    ("manager", "told"),
    [
        ("argocd-controller", IGNORE),
        ("argocd-application-controller", "RespectIgnoreDifferences=true"),
        ("kustomize-controller", "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"),
        ("helm-controller", '{paths: ["/spec/minReplicas"], target: {kind: HorizontalPodAutoscaler}}'),
        ("helm", "leave spec.minReplicas out of the values of the Helm release"),
        ("Terraform", "lifecycle.ignore_changes"),
        ("HashiCorp", "lifecycle.ignore_changes"),
        ("keda-operator", "set minReplicaCount of the ScaledObject"),
        ("kubectl-edit", "kubectl annotate horizontalpodautoscaler llm -n inference forecaster/floor-"),
        ("another Forecaster", "let one Forecaster alone"),
    ],
)
def test_l31_every_writer_that_we_know_is_told_what_to_change(manager: str, told: str) -> None:
    assert told in (remedy(manager, hpa(), MIN) or "")


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "chat:autoscaling/HPA:inference/llm"}}, "the Argo CD Application chat: {group"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}, "the manifest that Flux applies"),
        ({"labels": {"helm.toolkit.fluxcd.io/name": "llm"}}, "the HelmRelease llm"),
        ({"annotations": {"meta.helm.sh/release-name": "serving"}}, "the Helm release serving"),
        ({"ownerReferences": [{"kind": "ScaledObject", "name": "queue"}]}, "minReplicaCount of the ScaledObject queue"),
        ({"ownerReferences": [{"kind": "Widget", "name": "w"}]}, "the Widget w owns this object"),
    ],
)
def test_a_writer_that_we_do_not_know_is_told_by_whose_object_it_is(metadata: Json, told: str) -> None:
    assert told in (remedy("someone", hpa(**metadata), MIN) or "")


def test_what_a_person_did_by_hand_is_not_undone_in_argo_cd() -> None:
    tracked = hpa(annotations={"argocd.argoproj.io/tracking-id": "chat:x"})
    assert "a person set it" in (remedy("kubectl-edit", tracked, MIN) or "")


def test_an_object_of_nobody_has_no_remedy() -> None:
    assert remedy("someone", hpa(), MIN) is None


def test_l31_a_second_writer_of_an_annotation_of_a_revision_is_named_with_the_mark_to_remove(api: KubeApi) -> None:
    subject = ObjectSubject(api=api, kind="knative")
    stand(subject.open(), 8)
    subject.meddle(15)
    seen = subject.open().observe(NOW)
    assert seen.writer == "kubectl-edit"
    assert f"revision {subject.carrier} -n inference autoscaling.knative.dev/forecaster-floor-" in (seen.remedy or "")


@pytest.mark.parametrize(
    ("manager", "owners", "repeats", "remedy"),
    [
        ("argocd-controller", (), True, "ignoreDifferences"),
        ("kustomize-controller", (), True, "Flux applies"),
        ("keda-operator", (), True, "ScaledObject"),
        ("helm", (), False, "Helm release"),
        ("Terraform", (), False, "ignore_changes"),
        ("kubectl-client-side-apply", (), False, None),
        ("kubectl", ("Platform",), True, "the Platform x owns this object"),
    ],
)
def test_before_the_first_write_the_owner_is_named_and_whether_it_would_write_again_by_itself(
    manager: str, owners: tuple[str, ...], repeats: bool, remedy: str | None
) -> None:
    book = [entry(manager, "2024-05-06T08:00:00Z", {"f:spec": {"f:minReplicas": {}}})]
    found = owner_of(hpa(managedFields=book, ownerReferences=[{"kind": kind, "name": "x"} for kind in owners]), MIN)
    assert found is not None
    assert (found.name, found.repeats) == (manager, repeats)
    assert found.remedy is None if remedy is None else remedy in str(found.remedy)


def test_the_owner_of_a_field_that_we_wrote_last_or_nobody_wrote_is_nobody_else() -> None:
    held: Json = {"f:spec": {"f:minReplicas": {}}}
    book = [entry("argocd-controller", "2024-05-06T08:00:00Z", held), entry("forecaster", "2024-05-06T08:00:01Z", held)]
    assert owner_of(hpa(managedFields=book), MIN) is None
    assert owner_of(hpa(managedFields=book), ("spec", "maxReplicas")) is None
