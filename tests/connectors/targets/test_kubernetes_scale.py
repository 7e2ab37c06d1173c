"""What is special about replicas that no autoscaler moves: raise-only, lowered as pods may go, two writes that a crash survives."""

from datetime import datetime, timedelta

import pytest
from pydantic import ValidationError

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_scale import LOWERED_AT, KubernetesScaleConfig
from connectors.targets.marks import OURS
from connectors.targets.registry import Target, open_target
from forecaster.decision import Applied
from forecaster.errors import TargetConflict, TargetForbidden, TargetRefused, TargetUnavailable
from forecaster.ports import StartSource
from forecaster.reasons import Code
from forecaster.units import iso
from tests.connectors.targets.scale_subjects import ScaleSubject
from tests.connectors.targets.subjects import FOUND, NOW, UNTIL, codes, decided, let_go, stand
from tests.kube_api import KubeApi


@pytest.fixture
def scaled(api: KubeApi) -> ScaleSubject:
    """It may be lowered; replicas are given no time."""
    return ScaleSubject(api=api)


def stand_at(target: Target, floor: int, now: datetime) -> Applied:
    return target.set_floor(decided(target.name, floor), target.observe(now))


def run(subject: ScaleSubject, count: int) -> None:
    """So many replicas with a pod each that runs."""
    subject.meddle(count)
    for number in range(count):
        subject.add_pod(f"pod-{number}")


# Raise-only ------------------------------------------------------------------------------------------------------------------------


def test_without_lower_a_floor_goes_up_and_stays(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, lower=False)
    stand(subject.open(), 8)
    applied = stand(subject.open(), 3)
    assert (applied.after, applied.written, subject.floor()) == (8, False, 8)
    assert codes(applied) == {Code.RAISE_ONLY}
    assert "lower: true" in applied.reasons[0].detail


def test_without_lower_the_expiry_is_renewed_all_the_same(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, lower=False)
    stand(subject.open(), 8)
    later = UNTIL + timedelta(hours=1)
    assert stand(subject.open(), 3, valid_until=later).written
    assert (subject.floor(), subject.marks()["forecaster/valid-until"]) == (8, iso(later))


def test_without_lower_a_release_puts_the_original_back_all_the_same(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, lower=False)
    stand(subject.open(), 8)
    assert let_go(subject.open()).after == FOUND
    assert (subject.floor(), subject.marks()) == (FOUND, {})


def test_without_lower_nobody_asks_for_pods_or_budgets(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, lower=False)
    stand(subject.open(), 8)
    assert not any(plural in request.path for request in api.requests for plural in ("/pods", "poddisruptionbudgets"))


# Lowering --------------------------------------------------------------------------------------------------------------------------


def test_l32_replicas_that_were_told_to_go_have_their_time_before_more_are_told(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, drain_s=300)
    stand(subject.open(), 10)
    assert stand(subject.open(), 7).after == 7
    assert subject.marks()[LOWERED_AT] == iso(NOW)
    soon = stand_at(subject.open(), 4, NOW + timedelta(seconds=299))
    assert (soon.after, codes(soon), subject.floor()) == (7, {Code.LOWER_LIMITED}, 7)
    assert "are given 300 s" in soon.reasons[0].detail
    later = stand_at(subject.open(), 4, NOW + timedelta(seconds=300))
    assert (later.after, subject.floor()) == (4, 4)


def test_a_raise_waits_for_nothing(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, drain_s=300)
    stand(subject.open(), 10)
    stand(subject.open(), 7)
    assert stand(subject.open(), 12).after == 12


def test_l32_no_more_replicas_go_at_once_than_the_budgets_of_their_pods_allow(scaled: ScaleSubject) -> None:
    run(scaled, 8)
    scaled.add_budget(allowed=3)
    scaled.add_budget(allowed=0, labels={"name": "somebody-else"})
    applied = stand(scaled.open(), 2)
    assert (applied.after, codes(applied), scaled.floor()) == (5, {Code.LOWER_LIMITED}, 5)
    assert "PodDisruptionBudgets let 3" in applied.reasons[0].detail


def test_l32_pods_that_still_finish_what_they_serve_hold_the_next_lowering(scaled: ScaleSubject) -> None:
    run(scaled, 5)
    scaled.add_pod("going", deletion=iso(NOW + timedelta(seconds=30)))
    applied = stand(scaled.open(), 2)
    assert (applied.after, codes(applied)) == (5, {Code.LOWER_LIMITED})
    assert stand_at(scaled.open(), 2, NOW + timedelta(seconds=31)).after == 2


@pytest.mark.parametrize(("kind", "plural", "after"), [("Deployment", "deployments", 6), ("StatefulSet", "statefulsets", 8)])
def test_pods_that_never_ran_go_in_any_case_where_they_go_first(api: KubeApi, kind: str, plural: str, after: int) -> None:
    subject = ScaleSubject(api=api, kind=kind, plural=plural)
    run(subject, 6)
    subject.meddle(8)
    for number in range(2):
        subject.add_pod(f"waits-{number}", phase="Pending")
    subject.add_budget(allowed=0)
    assert stand(subject.open(), 3).after == after


def test_a_group_of_pods_goes_as_one_replica(api: KubeApi) -> None:
    subject = ScaleSubject(api=api, kind="LeaderWorkerSet", plural="leaderworkersets")
    run(subject, 6)
    api.change("leaderworkersets", "inference", subject.name, {"spec": {"leaderWorkerTemplate": {"size": 2}}})
    subject.add_budget(allowed=5)
    assert stand(subject.open(), 1).after == 4


@pytest.mark.parametrize("plural", ["pods", "poddisruptionbudgets"])
def test_where_nobody_may_tell_which_pods_may_go_none_goes_and_the_missing_rule_is_named(scaled: ScaleSubject, plural: str) -> None:
    run(scaled, 5)
    scaled.api.forbid("list", plural)
    applied = stand(scaled.open(), 2)
    assert (applied.after, codes(applied)) == (5, {Code.LOWER_LIMITED})
    assert f"resources: [{plural}], verbs: [list]" in applied.reasons[0].detail
    assert stand(scaled.open(), 9).after == 9


def test_an_object_that_does_not_say_which_pods_are_its_own_is_not_lowered(scaled: ScaleSubject) -> None:
    scaled.api.put("deployments", "inference", scaled.name, metadata={}, spec={"replicas": 5})
    applied = stand(scaled.open(), 2)
    assert (applied.after, codes(applied)) == (5, {Code.LOWER_LIMITED})
    assert "no selector" in applied.reasons[0].detail


@pytest.mark.parametrize("text", ["yesterday", "2024-05-06T08:00:00"])
def test_an_instant_of_lowering_that_cannot_be_read_tells_of_none(api: KubeApi, text: str) -> None:
    subject = ScaleSubject(api=api, drain_s=300)
    run(subject, 5)
    subject.mark(LOWERED_AT, text)
    subject.mark("forecaster/original", "2")
    assert stand(subject.open(), 2).after == 2


# Two writes ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [False, True])
def test_a_crash_between_marks_and_count_loses_neither_the_original_nor_the_floor(scaled: ScaleSubject, taken: bool) -> None:
    scaled.api.fail_next(500, verb="patch", plural="scale", taken=taken)
    with pytest.raises(TargetUnavailable):
        stand(scaled.open(), 8)
    assert scaled.floor() == (8 if taken else FOUND)
    assert scaled.marks() == {"forecaster/original": "2", "forecaster/floor": "2/8", "forecaster/valid-until": iso(UNTIL)}
    seen = scaled.open().observe(NOW)
    assert (seen.original, seen.writer) == (FOUND, None)
    stand(scaled.open(), 8)
    assert scaled.floor() == 8
    assert let_go(scaled.open()).after == FOUND
    assert (scaled.floor(), scaled.marks()) == (FOUND, {})


def test_a_release_that_was_cut_short_goes_on(scaled: ScaleSubject) -> None:
    stand(scaled.open(), 8)
    scaled.api.fail_next(500, verb="patch", plural="scale", taken=True)
    with pytest.raises(TargetUnavailable):
        let_go(scaled.open())
    assert scaled.open().observe(NOW).writer is None
    let_go(scaled.open())
    assert (scaled.floor(), scaled.marks()) == (FOUND, {})


def test_a_controller_that_writes_the_status_in_between_is_no_conflict(scaled: ScaleSubject) -> None:
    scaled.api.fail_next(409, verb="patch", plural="scale", times=2)
    assert stand(scaled.open(), 8).written
    assert (scaled.floor(), scaled.marks()["forecaster/floor"]) == (8, "8")


def test_conflicts_without_end_are_a_conflict(scaled: ScaleSubject) -> None:
    scaled.api.fail_next(409, verb="patch", plural="scale", times=4)
    with pytest.raises(TargetConflict):
        stand(scaled.open(), 8)


def test_only_annotations_of_the_object_and_replicas_of_its_scale_are_written(scaled: ScaleSubject) -> None:
    stand(scaled.open(), 8)
    let_go(scaled.open())
    for write in scaled.api.writes:
        fields = {(section, field) for section, fields in write.body.items() for field in fields}
        allowed = (
            {("metadata", "resourceVersion"), ("spec", "replicas")} if write.path.endswith("/scale") else {("metadata", "annotations")}
        )
        assert fields - {("metadata", "resourceVersion")} <= allowed
        assert set(write.body.get("metadata", {}).get("annotations", {})) <= {*OURS, LOWERED_AT}


# Who else writes -------------------------------------------------------------------------------------------------------------------


def test_a_second_writer_is_named_with_what_to_change(scaled: ScaleSubject) -> None:
    stand(scaled.open(), 8)
    scaled.api.change("deployments", "inference", scaled.name, {"spec": {"replicas": 4}}, manager="argocd-controller")
    seen = scaled.open().observe(NOW)
    assert seen.writer == "argocd-controller"
    assert seen.remedy is not None
    assert "/spec/replicas" in seen.remedy


def test_what_an_hpa_scales_is_not_ours_to_write(scaled: ScaleSubject) -> None:
    scaled.api.add_hpa("inference", "llm-hpa", scales=f"Deployment/{scaled.name}")
    with pytest.raises(TargetRefused, match=r"HPA inference/llm-hpa scales .* \(type kubernetes-hpa\)"):
        scaled.open().observe(NOW)


def test_what_a_scaled_object_scales_is_not_ours_to_write(scaled: ScaleSubject) -> None:
    scaled.api.put("scaledobjects", "inference", "llm-so", metadata={}, spec={"scaleTargetRef": {"name": scaled.name}})
    with pytest.raises(TargetRefused, match=r"ScaledObject inference/llm-so scales .* \(type keda-scaledobject\)"):
        scaled.open().observe(NOW)


def test_where_nobody_may_tell_whether_an_hpa_scales_it_the_missing_rule_is_named(scaled: ScaleSubject) -> None:
    scaled.api.forbid("list", "horizontalpodautoscalers")
    with pytest.raises(TargetForbidden, match=r"apiGroups: \[autoscaling\], resources: \[horizontalpodautoscalers\], verbs: \[list\]"):
        scaled.open().observe(NOW)


def test_the_right_to_scale_is_one_of_its_own(scaled: ScaleSubject) -> None:
    scaled.api.forbid("patch", "deployments/scale")
    with pytest.raises(TargetForbidden, match=r"resources: \[deployments/scale\], verbs: \[patch\]"):
        stand(scaled.open(), 8)


# Kinds -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "plural"), [("StatefulSet", "statefulsets"), ("LeaderWorkerSet", "leaderworkersets"), ("Rollout", "rollouts")]
)
def test_every_kind_with_a_scale_subresource_is_scaled(api: KubeApi, kind: str, plural: str) -> None:
    subject = ScaleSubject(api=api, kind=kind, plural=plural)
    stand(subject.open(), 8)
    assert subject.floor() == 8
    let_go(subject.open())
    assert (subject.floor(), subject.marks()) == (FOUND, {})


def config(api: KubeApi, kind: str, api_version: str | None, plural: str | None) -> KubernetesScaleConfig:
    connection = KubeConnection(server=api.url)
    return KubernetesScaleConfig(
        type="kubernetes-scale", kind=kind, namespace="inference", name="llm", api_version=api_version, plural=plural, cluster=connection
    )


@pytest.mark.parametrize(("api_version", "plural"), [(None, None), ("example.test/v1", None), (None, "fleets")])
def test_a_kind_that_we_do_not_know_comes_with_its_version_and_plural(api: KubeApi, api_version: str | None, plural: str | None) -> None:
    with pytest.raises(ValidationError, match="kind Fleet needs its api_version and plural"):
        config(api, "Fleet", api_version, plural)


def test_a_kind_without_a_scale_subresource_is_refused(api: KubeApi) -> None:
    api.add_hpa("inference", "llm")
    target = open_target(config(api, "HorizontalPodAutoscaler", "autoscaling/v2", "horizontalpodautoscalers"))
    with pytest.raises(TargetRefused, match=r"has no scale subresource: .* type kubernetes-field"):
        target.observe(NOW)


def test_two_kinds_of_one_name_are_two_targets(api: KubeApi) -> None:
    assert len({config(api, kind, None, None).target for kind in ("Deployment", "StatefulSet", "LeaderWorkerSet", "Rollout")}) == 4


# Readiness -------------------------------------------------------------------------------------------------------------------------


def test_k39_surge_pods_of_a_rolling_update_are_no_capacity_of_a_scaled_object(scaled: ScaleSubject) -> None:
    scaled.api.change("deployments", "inference", scaled.name, {"status": {"readyReplicas": 5}})
    seen = scaled.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (FOUND, FOUND, 0)


def test_l37_an_object_at_zero_replicas_has_zero_ready_and_is_raised_all_the_same(scaled: ScaleSubject) -> None:
    scaled.api.put("deployments", "inference", scaled.name, metadata={}, spec={"replicas": 0}, status={})
    seen = scaled.open().observe(NOW)
    assert (seen.floor, seen.original, seen.ready, seen.pending) == (0, 0, 0, 0)
    assert stand(scaled.open(), 3).after == 3
    assert let_go(scaled.open()).after == 0


def test_pods_that_are_there_are_its_starts(scaled: ScaleSubject) -> None:
    scaled.api.put(
        "pods",
        "inference",
        "one",
        metadata={"uid": "one", "labels": {"app": "llm", "name": scaled.name}, "creationTimestamp": iso(NOW)},
        status={"phase": "Pending"},
    )
    target = scaled.open()
    assert isinstance(target, StartSource)
    assert [start.replica for start in target.starts(NOW)] == ["one"]
