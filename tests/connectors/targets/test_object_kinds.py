"""What is special to each kind that is one field of one object: traps that would restart pods, move nothing, or fight with a loop."""

import pytest

from forecaster.decision import Paused
from forecaster.errors import TargetConflict, TargetForbidden, TargetRefused
from forecaster.reasons import Code
from tests.connectors.targets.object_subjects import NAMESPACE, ObjectSubject, checked, configure_kserve, install_knative, refused
from tests.connectors.targets.subjects import NOW, codes, decided, let_go, stand
from tests.kube_api import KubeApi


class TestKeda:
    def test_what_is_not_written_is_a_minimum_of_0_and_a_maximum_of_100(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"spec": {"minReplicaCount": None, "maxReplicaCount": None}})
        seen = subject.open().observe(NOW)
        assert (seen.floor, seen.ceiling) == (0, 100)

    def test_a_floor_of_0_is_taken(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        assert (stand(subject.open(), 0).after, subject.floor()) == (0, 0)

    @pytest.mark.parametrize(
        ("key", "text"), [("paused", "true"), ("paused", "yes"), ("paused-replicas", "4"), ("paused-scale-out", "true")]
    )
    def test_k46_while_keda_is_paused_we_hold_and_the_pause_is_named(self, api: KubeApi, key: str, text: str) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"metadata": {"annotations": {f"autoscaling.keda.sh/{key}": text}}})
        seen = subject.open().observe(NOW)
        assert (seen.paused, seen.paused_by) == (Paused.HOLD, f"KEDA, whose annotation autoscaling.keda.sh/{key} says {text}")
        subject.change({"metadata": {"annotations": {f"autoscaling.keda.sh/{key}": None}}})
        assert subject.open().observe(NOW).paused is None

    def test_a_pause_of_keda_that_says_false_is_none(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"metadata": {"annotations": {"autoscaling.keda.sh/paused": "false"}}})
        assert subject.open().observe(NOW).paused is None

    def test_our_own_annotation_comes_before_the_pause_of_keda(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"metadata": {"annotations": {"autoscaling.keda.sh/paused": "true", "forecaster/paused": "release"}}})
        seen = subject.open().observe(NOW)
        assert (seen.paused, seen.paused_by) == (Paused.RELEASE, None)

    def test_while_keda_scales_nothing_in_floors_go_up_alone(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        stand(subject.open(), 8)
        subject.change({"metadata": {"annotations": {"autoscaling.keda.sh/paused-scale-in": "true"}}})
        applied = stand(subject.open(), 3)
        assert (applied.after, codes(applied)) == (8, {Code.RAISE_ONLY})
        assert stand(subject.open(), 9).after == 9

    def test_a_floor_stays_above_the_idle_count_or_keda_would_refuse_it(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"spec": {"idleReplicaCount": 1}})
        applied = stand(subject.open(), 1)
        assert (applied.after, codes(applied), subject.floor()) == (2, {Code.MIN_BINDS}, 2)
        assert "idleReplicaCount 1" in applied.reasons[0].detail

    def test_the_workload_is_a_deployment_unless_another_is_named(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        api.add_workload(NAMESPACE, "engine", kind="StatefulSet", replicas=5, ready=4)
        subject.change({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "engine"}}})
        seen = subject.open().observe(NOW)
        assert (seen.ready, seen.pending) == (4, 1)


class TestKnative:
    def test_a_floor_is_one_patch_of_the_revision_whose_annotations_all_reach_no_pod(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        stand(subject.open(), 8)
        (write,) = api.writes
        assert write.path.endswith(f"/revisions/{subject.carrier}")
        assert all(key.startswith("autoscaling.knative.dev/") for key in write.body["metadata"]["annotations"])
        assert subject.annotations()["autoscaling.knative.dev/min-scale"] == "8"

    @pytest.mark.parametrize(("version", "told"), [("1.20.3", "Knative is 1.20"), ("", "does not say its version")])
    def test_a_knative_that_would_not_follow_the_revision_is_refused(self, api: KubeApi, version: str, told: str) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        install_knative(api, version)
        refused(subject, f"{told}.*update Knative")

    def test_where_nobody_may_read_which_knative_it_is_the_rule_is_named(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        api.forbid("get", "customresourcedefinitions")
        with pytest.raises(TargetForbidden, match=r"resources: \[customresourcedefinitions\], verbs: \[get\]"):
            subject.open().observe(NOW)

    def test_the_revision_with_most_of_the_traffic_gets_the_floor(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        subject.put_revision(f"{subject.name}-00002")
        subject.route(subject.carrier, f"{subject.name}-00002", percents=(60, 40))
        stand(subject.open(), 8)
        assert subject.floor() == 8

    def test_traffic_that_moves_on_between_observation_and_write_is_a_conflict(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        target = subject.open()
        seen = target.observe(NOW)
        subject.put_revision(f"{subject.name}-00002")
        subject.route(f"{subject.name}-00002")
        with pytest.raises(TargetConflict):
            target.set_floor(decided(target.name, 8), seen)
        assert stand(target, 8).before == 2

    def test_a_pause_on_the_service_holds_for_every_revision(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        api.change("services", NAMESPACE, subject.name, {"metadata": {"annotations": {"forecaster/paused": "hold"}}})
        assert subject.open().observe(NOW).paused is Paused.HOLD

    def test_a_service_without_a_revision_that_is_ready_is_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        api.put("services", NAMESPACE, subject.name, metadata={})
        refused(subject, "no Revision that is ready")

    def test_a_max_scale_of_0_is_no_ceiling(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        subject.limit(0)
        assert subject.open().observe(NOW).ceiling is None

    def test_a_minimum_under_its_old_name_is_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        subject.change({"metadata": {"annotations": {"autoscaling.knative.dev/minScale": "2"}}})
        refused(subject, "old name")


class TestKserve:
    def test_annotations_that_would_reach_pods_and_restart_them_are_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kserve")
        configure_kserve(api, ["forecaster/original"])
        refused(subject, r"restart them.*add forecaster/floor, forecaster/valid-until to serviceAnnotationDisallowedList")

    def test_a_configuration_that_may_not_be_read_is_forbidden_with_the_rule(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kserve")
        api.forbid("get", "configmaps")
        with pytest.raises(TargetForbidden, match=r"resources: \[configmaps\], verbs: \[get\]\} to our role in namespace kserve"):
            subject.open().observe(NOW)

    def test_serverless_moves_the_revision_and_never_the_service(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kserve-serverless")
        stand(subject.open(), 8)
        let_go(subject.open())
        assert {write.path.rpartition("/")[2] for write in api.writes} == {subject.carrier}

    @pytest.mark.parametrize("scaler", ["external", "none"])
    def test_a_service_that_kserve_does_not_scale_is_refused(self, api: KubeApi, scaler: str) -> None:
        subject = ObjectSubject(api=api, kind="kserve")
        subject.change({"metadata": {"annotations": {"serving.kserve.io/autoscalerClass": scaler}}})
        refused(subject, "make the HPA or ScaledObject the target")

    def test_model_mesh_is_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kserve")
        subject.change({"status": {"deploymentMode": "ModelMesh"}})
        refused(subject, "ServingRuntime")

    def test_a_floor_of_0_becomes_1_as_its_hpa_would_make_it(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="kserve")
        assert codes(stand(subject.open(), 0)) == {Code.ZERO_NOT_TAKEN}
        assert subject.floor() == 1


class TestAibrix:
    def test_a_schedule_of_its_own_that_sets_minimums_is_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="aibrix")
        subject.change({"spec": {"schedules": [{"name": "morning", "minReplicas": 5}]}})
        refused(subject, "schedule morning")

    def test_ready_replicas_of_one_role_are_unknown(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="aibrix")
        subject.change({"spec": {"subTargetSelector": {"roleName": "prefill"}}})
        assert subject.open().observe(NOW).ready is None


class TestDynamo:
    @pytest.mark.parametrize("kind", ["dynamo", "dynamo-service"])
    def test_a_planner_that_writes_replicas_is_refused(self, api: KubeApi, kind: str) -> None:
        subject = ObjectSubject(api=api, kind=kind)
        subject.put_graph(subject.name if kind == "dynamo-service" else f"{subject.name}-graph", Planner={"componentType": "planner"})
        refused(subject, "Planner.*min_endpoint")

    def test_a_service_that_an_adapter_scales_is_refused_with_the_name_of_the_adapter(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="dynamo-service")
        subject.put_graph(subject.name, decode={"replicas": 2, "scalingAdapter": {"enabled": True}})
        refused(subject, f"make {subject.name}-decode the name")

    def test_an_adapter_that_the_operator_made_unasked_is_found(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="dynamo-service")
        api.put("dynamographdeploymentscalingadapters", NAMESPACE, f"{subject.name}-decode", metadata={}, spec={"replicas": 2})
        refused(subject, f"{subject.name}-decode")

    def test_a_service_that_is_not_there_is_refused_with_those_that_are(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="dynamo-service", settings={"service": "prefill"})
        refused(subject, "no service prefill.*Frontend, decode")

    def test_an_adapter_that_an_hpa_scales_is_refused(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="dynamo")
        scaled = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter", "name": subject.name}
        api.put("horizontalpodautoscalers", NAMESPACE, "scaler", metadata={}, spec={"maxReplicas": 9, "scaleTargetRef": scaled})
        refused(subject, "HPA inference/scaler.*make that HPA the target")

    def test_replicas_go_up_alone_unless_lowering_is_asked_for(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="dynamo", settings={"lower": False})
        stand(subject.open(), 8)
        applied = stand(subject.open(), 3)
        assert (applied.after, codes(applied)) == (8, {Code.RAISE_ONLY})
        assert let_go(subject.open()).after == subject.floor() == 2


class TestCapacityBuffer:
    def test_room_is_kept_for_what_the_floor_has_beyond_the_replicas_that_run(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="capacity-buffer")
        subject.serve(subject.name, replicas=30, ready=28)
        applied = stand(subject.open(), 40)
        assert (applied.after, subject.floor()) == (40, 10)
        subject.serve(subject.name, replicas=44, ready=44)
        assert (stand(subject.open(), 40).after, subject.floor()) == (44, 0)
        assert (let_go(subject.open()).after, subject.floor()) == (46, 2)

    def test_replicas_that_came_between_observation_and_write_are_counted_in_the_next_cycle(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="capacity-buffer")
        subject.serve(subject.name, replicas=3, ready=2)
        seen = subject.open().observe(NOW)
        assert (seen.floor, seen.original, seen.ready, seen.pending) == (5, 5, 4, 1)

    def test_a_buffer_that_names_no_workload_asks_for_one(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="capacity-buffer")
        subject.change({"spec": {"scalableRef": None}})
        refused(subject, "set deployment")
        assert ObjectSubject(api=api, kind="capacity-buffer", settings={"deployment": subject.name}).open().observe(NOW).floor == 2


class TestOwners:
    @pytest.mark.parametrize(
        ("api_version", "kind", "remedy"),
        [
            ("serving.kserve.io/v1beta1", "InferenceService", "type kserve"),
            ("autoscaling.aibrix.ai/v1alpha1", "PodAutoscaler", "type aibrix"),
            ("keda.sh/v1alpha1", "ScaledObject", "type keda-scaledobject"),
        ],
    )
    def test_k35_an_object_that_another_controller_makes_is_refused_and_its_owner_is_the_target(
        self, api: KubeApi, api_version: str, kind: str, remedy: str
    ) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        subject.change({"metadata": {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": "llm"}]}})
        refused(subject, f"{kind} inference/llm, which would write its own value back.*{remedy}")


class TestCheck:
    def test_a_floor_is_rehearsed_and_nothing_is_written(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        checked(subject).check_write()
        assert api.writes == ()
        assert [request.query.get("dryRun") for request in api.requests if request.verb == "patch"] == ["All"]

    def test_a_webhook_that_would_refuse_a_floor_is_heard_before_the_first_write(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="keda-scaledobject")
        api.define("scaledobjects", kind="ScaledObject", api_version="keda.sh/v1alpha1", denied=lambda _before, _after: "locked by policy")
        with pytest.raises(TargetRefused, match="locked by policy"):
            checked(subject).check_write()

    def test_the_right_to_patch_is_asked_of_the_object_that_carries_the_floor(self, api: KubeApi) -> None:
        subject = ObjectSubject(api=api, kind="knative")
        api.forbid("patch", "revisions")
        with pytest.raises(TargetForbidden, match=r"resources: \[revisions\], verbs: \[patch\]"):
            checked(subject).check_write()
