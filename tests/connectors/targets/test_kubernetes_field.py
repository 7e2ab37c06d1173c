"""The kind of target that is any number field of any object: what it takes, and what it refuses."""

import pytest
from pydantic import ValidationError

from connectors.kube.paths import parse, pointer, spell
from connectors.targets.registry import open_target
from forecaster.errors import TargetMissing
from forecaster.reasons import Code
from tests.connectors.targets.object_subjects import CONFIGS, NAMESPACE, ObjectSubject, refused
from tests.connectors.targets.subjects import NOW, codes, let_go, stand
from tests.kube_api import KubeApi
from tests.kube_objects import Json


class TestField:
    def field(self, api: KubeApi, **settings: object) -> ObjectSubject:
        plain = {"api_version": "apps/v1", "kind": "Deployment", "field": "spec.replicas", "ceiling_field": None}
        return ObjectSubject(api=api, kind="kubernetes-field", settings=plain | settings)

    def test_replicas_under_an_autoscaler_are_refused_by_its_name(self, api: KubeApi) -> None:
        subject = self.field(api)
        refused(subject, f"ScaledObject inference/{subject.name}.*type keda-scaledobject")

    def test_replicas_without_an_autoscaler_go_up_alone_unless_lowering_is_asked_for(self, api: KubeApi) -> None:
        subject = self.field(api)
        api.remove("scaledobjects", NAMESPACE, subject.name)
        assert stand(subject.open(), 8).after == 8
        applied = stand(subject.open(), 4)
        assert (applied.after, codes(applied)) == (8, {Code.RAISE_ONLY})
        bolder = open_target(CONFIGS.validate_python(self.settings(api, subject) | {"lower": True}))
        assert stand(bolder, 4).after == 4

    def settings(self, api: KubeApi, subject: ObjectSubject) -> dict[str, object]:
        where: dict[str, object] = {"type": "kubernetes-field", "namespace": NAMESPACE, "name": subject.name}
        return where | {"cluster": {"server": api.url}} | {"api_version": "apps/v1", "kind": "Deployment", "field": "spec.replicas"}

    def test_a_field_that_counts_groups_is_rounded_up_to_whole_ones(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kubernetes-field", settings={"replicas_per_unit": 4})
        assert (stand(subject.open(), 9).after, subject.floor()) == (12, 3)
        assert subject.open().observe(NOW).ceiling == 80
        assert (let_go(subject.open()).after, subject.floor()) == (8, 2)

    def test_an_object_of_the_whole_cluster_needs_no_namespace(self, api: KubeApi) -> None:
        api.define("nodepools", kind="NodePool", api_version="karpenter.sh/v1")
        api.put("nodepools", "", "gpu", metadata={}, spec={"replicas": 2})
        where = {"type": "kubernetes-field", "name": "gpu", "api_version": "karpenter.sh/v1", "kind": "NodePool", "lower": True}
        target = open_target(CONFIGS.validate_python(where | {"field": "spec.replicas", "cluster": {"server": api.url}}))
        stand(target, 6)
        assert api.look("nodepools", "", "gpu")["spec"]["replicas"] == 6

    @pytest.mark.parametrize(
        ("settings", "told"),
        [
            ({"field": "spec.minReplicas"}, r"scaledobjects.keda.sh .* has no usable spec.minReplicas, which is not there"),
            ({"field": "spec.scaleTargetRef"}, r"spec.scaleTargetRef, which is \{"),
        ],
    )
    def test_a_wrong_path_is_refused_with_object_and_field(self, api: KubeApi, settings: Json, told: str) -> None:
        refused(ObjectSubject(api=api, kind="kubernetes-field", settings=settings), told)

    def test_a_kind_that_is_not_served_is_missing_with_the_remedy(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kubernetes-field", settings={"api_version": "keda.sh/v2"})
        with pytest.raises(TargetMissing, match=r"serves no scaledobjects in version v2 of keda.sh: install its CustomResourceDefinition"):
            subject.open().observe(NOW)

    @pytest.mark.parametrize("path", ["", "spec.", ".spec", "spec..replicas", "spec[0]", "spec['a"])
    def test_a_path_that_is_none_is_refused_by_the_configuration(self, path: str) -> None:
        document = {"type": "kubernetes-field", "name": "x", "api_version": "apps/v1", "kind": "Deployment", "field": path}
        with pytest.raises(ValidationError, match="no path of a field"):
            CONFIGS.validate_python(document)

    def test_kind_or_plural_is_needed(self) -> None:
        with pytest.raises(ValidationError, match="kind or plural"):
            CONFIGS.validate_python({"type": "kubernetes-field", "name": "x", "api_version": "apps/v1", "field": "spec.replicas"})

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("spec.minReplicas", "/spec/minReplicas"),
            ("metadata.annotations['autoscaling.knative.dev/min-scale']", "/metadata/annotations/autoscaling.knative.dev~1min-scale"),
        ],
    )
    def test_a_path_is_spelt_as_it_was_read(self, text: str, told: str) -> None:
        assert (spell(parse(text)), pointer(parse(text))) == (text, told)
