"""Failures that others reported from production, at the target: what an object goes through, and what we leave on it."""

import pytest

from connectors.aws import AwsAccount
from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import Target, open_target
from forecaster.errors import TargetConflict, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import ALERTS, Code
from tests.aws import Aws
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, EksSubject, HpaSubject, codes, decided, let_go, stand
from tests.kube_api import KubeApi


@pytest.fixture
def hpa(api: KubeApi) -> HpaSubject:
    return HpaSubject(api=api, name="llm")


def target_at(api: KubeApi, namespace: str, name: str = "llm") -> Target:
    connection = KubeConnection(server=api.url)
    return open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace=namespace, name=name, cluster=connection))


def test_k23_a_floor_above_the_ceiling_is_clamped_with_an_alert_and_follows_the_ceiling_up_again(hpa: HpaSubject) -> None:
    applied = stand(hpa.open(), 30)
    assert (hpa.floor(), applied.after) == (CEILING, CEILING)
    assert codes(applied) == {Code.CEILING_BELOW_FLOOR} <= ALERTS
    hpa.limit(40)
    assert stand(hpa.open(), 30).after == hpa.floor() == 30


def test_k29_a_floor_of_0_is_a_value_that_a_hpa_answers_with_1_and_a_reason(hpa: HpaSubject) -> None:
    stand(hpa.open(), 8)
    applied = stand(hpa.open(), 0)
    assert (applied.after, codes(applied), hpa.floor()) == (1, {Code.ZERO_NOT_TAKEN}, 1)


def test_k33_a_write_of_the_controller_in_between_is_a_conflict_and_the_next_round_moves_our_field_alone(hpa: HpaSubject) -> None:
    target = hpa.open()
    seen = target.observe(NOW)
    hpa.api.touch("inference", "llm")
    with pytest.raises(TargetConflict):
        target.set_floor(decided(target.name, 8), seen)
    hpa.limit(25)
    stand(target, 8)
    spec = hpa.api.hpa("inference", "llm")["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (8, 25)


def test_k34_a_floor_that_drifted_is_reported_and_asserted_again_in_the_next_cycle(hpa: HpaSubject) -> None:
    stand(hpa.open(), 8)
    hpa.meddle(2)
    assert hpa.open().observe(NOW).writer == "kubectl-edit"
    assert stand(hpa.open(), 8).written
    assert hpa.floor() == 8


@pytest.mark.parametrize(
    "signs",
    [
        {"owner": ("ScaledObject", "llm-queue")},
        {"labels": {"scaledobject.keda.sh/name": "llm-queue"}},
        {"annotations": {"scaledobject.keda.sh/name": "llm-queue"}},
    ],
    ids=["owner reference", "label", "annotation"],
)
def test_k35_a_hpa_that_keda_owns_is_refused_with_its_owner_and_the_remedy(api: KubeApi, signs: dict[str, object]) -> None:
    api.add_hpa("inference", "keda-hpa-llm", **signs)  # type: ignore[arg-type]  # one of three keywords
    with pytest.raises(TargetRefused, match=r"ScaledObject inference/llm-queue.*minReplicaCount"):
        target_at(api, "inference", "keda-hpa-llm").observe(NOW)
    assert api.writes == ()


def test_k36_a_target_that_is_gone_for_a_while_is_missing_and_found_again_as_it_is(hpa: HpaSubject) -> None:
    target = hpa.open()
    stand(target, 8)
    seen = target.observe(NOW)
    hpa.remove()
    with pytest.raises(TargetMissing, match="inference/llm"):
        target.set_floor(decided(target.name, 9), seen)
    HpaSubject(api=hpa.api, name="llm")
    assert (target.observe(NOW).floor, target.observe(NOW).original) == (FOUND, FOUND)


def test_k36_a_workload_that_is_gone_for_a_while_moves_no_floor(api: KubeApi) -> None:
    api.add_hpa("inference", "llm", min_replicas=2, scales="Deployment/renamed")
    seen = target_at(api, "inference").observe(NOW)
    assert (seen.floor, seen.ready) == (2, None)


def test_k37_the_original_outlives_a_crash_between_read_and_write_and_any_number_of_runs(hpa: HpaSubject) -> None:
    hpa.open().observe(NOW)  # and dies
    for floor in (8, 12, 3):
        stand(hpa.open(), floor)
        assert hpa.open().observe(NOW).original == FOUND
    hpa.api.fail_next(504, verb="patch", taken=True)  # dies while the API server writes
    with pytest.raises(TargetUnavailable):
        stand(hpa.open(), 9)
    assert let_go(hpa.open()).after == hpa.floor() == FOUND


@pytest.mark.parametrize("operation", ["TagResource", "UpdateNodegroupConfig"])
@pytest.mark.parametrize("taken", [False, True])
def test_k37_the_original_of_a_node_group_outlives_a_crash_between_its_two_writes(
    aws: Aws, account: AwsAccount, operation: str, *, taken: bool
) -> None:
    group = EksSubject(aws=aws, account=account)
    aws.fail_next(operation, "ResourceInUseException", status=409, taken=taken)
    with pytest.raises(TargetUnavailable):
        stand(group.open(), 8)
    assert group.open().observe(NOW).original == FOUND
    stand(group.open(), 8)
    assert (group.floor(), group.marks()["forecaster/original"]) == (8, str(FOUND))
    let_go(group.open())
    assert (group.floor(), group.marks()) == (FOUND, {})


@pytest.mark.parametrize("operation", ["UpdateNodegroupConfig", "UntagResource"])
def test_k37_a_release_of_a_node_group_that_was_cut_short_is_finished_by_the_next(aws: Aws, account: AwsAccount, operation: str) -> None:
    group = EksSubject(aws=aws, account=account)
    stand(group.open(), 8)
    aws.fail_next(operation, "ResourceInUseException", status=409)
    with pytest.raises(TargetUnavailable):
        let_go(group.open())
    assert let_go(group.open()).written
    assert (group.floor(), group.marks()) == (FOUND, {})


def test_k39_surge_pods_of_a_rolling_update_are_no_capacity(hpa: HpaSubject) -> None:
    hpa.api.add_workload("inference", "llm", replicas=8, ready=11)
    seen = hpa.open().observe(NOW)
    assert (seen.ready, seen.pending) == (8, 0)


def test_k40_the_desired_size_rises_with_the_minimum_and_lowering_ends_no_node(aws: Aws, account: AwsAccount) -> None:
    group = EksSubject(aws=aws, account=account)
    stand(group.open(), 8)
    assert aws.size("prod", group.name) == {"minSize": 8, "desiredSize": 8, "maxSize": CEILING}
    stand(group.open(), 3)
    assert aws.size("prod", group.name) == {"minSize": 3, "desiredSize": 8, "maxSize": CEILING}


def test_k43_a_write_that_was_accepted_shows_what_is_not_ready_yet(hpa: HpaSubject) -> None:
    stand(hpa.open(), 8)
    hpa.api.add_workload("inference", "llm", replicas=8, ready=3)
    seen = hpa.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (8, 3, 5)


def test_k44_one_namespace_without_rights_and_one_throttled_stop_no_third(api: KubeApi) -> None:
    for namespace in ("denied", "throttled", "sound"):
        api.add_hpa(namespace, "llm", min_replicas=2)
    api.fail_next(403, message="no rights")
    with pytest.raises(TargetForbidden, match="denied"):
        stand(target_at(api, "denied"), 5)
    api.fail_next(429, verb="patch", message="too many requests")
    with pytest.raises(TargetUnavailable, match="throttled"):
        stand(target_at(api, "throttled"), 5)
    assert stand(target_at(api, "sound"), 5).written
    assert [api.min_replicas(namespace, "llm") for namespace in ("denied", "throttled", "sound")] == [2, 2, 5]


def test_k47_a_dry_run_makes_no_write_and_tells_the_very_outcome_of_a_real_one(hpa: HpaSubject) -> None:
    real = hpa.open()
    rehearsal = RecordingTarget(real)
    for floor in (8, 0, 30, 5):
        rehearsed = stand(rehearsal, floor)
        writes = hpa.writes()
        done = stand(real, floor)
        assert hpa.writes() == writes + 1
        assert (rehearsed.before, rehearsed.after, rehearsed.reasons) == (done.before, done.after, done.reasons)
    writes = hpa.writes()
    let_go(rehearsal)
    assert (hpa.writes(), hpa.floor()) == (writes, 5)


def test_l24_a_ceiling_that_was_lowered_below_our_floor_is_no_api_error(hpa: HpaSubject) -> None:
    stand(hpa.open(), 8)
    hpa.api.edit("inference", "llm", minReplicas=5, maxReplicas=5)
    applied = stand(hpa.open(), 8)
    assert (applied.after, codes(applied), hpa.floor()) == (5, {Code.CEILING_BELOW_FLOOR}, 5)


def test_l31_a_second_writer_is_named_until_the_field_is_ours_again(hpa: HpaSubject) -> None:
    stand(hpa.open(), 8)
    hpa.api.edit("inference", "llm", manager="helm", minReplicas=3)
    assert hpa.open().observe(NOW).writer == "helm"
    stand(hpa.open(), 8)
    assert hpa.open().observe(NOW).writer is None


def test_l33_of_two_jobs_with_one_decision_one_writes_and_the_other_finds_it_done(hpa: HpaSubject) -> None:
    one, other = hpa.open(), hpa.open()
    seen_by_one, seen_by_other = one.observe(NOW), other.observe(NOW)
    assert one.set_floor(decided(one.name, 8), seen_by_one).written
    with pytest.raises(TargetConflict):
        other.set_floor(decided(other.name, 8), seen_by_other)
    assert not stand(other, 8).written
    assert hpa.writes() == 1


def test_l37_a_workload_at_zero_replicas_has_zero_ready_and_is_raised_all_the_same(hpa: HpaSubject) -> None:
    hpa.api.add_workload("inference", "llm", replicas=0, ready=None)
    seen = hpa.open().observe(NOW)
    assert (seen.ready, seen.pending) == (0, 0)
    assert stand(hpa.open(), 4).after == hpa.floor() == 4
