"""What is special about placeholders: their number is what the floor leaves beyond the replicas, which are somebody else's to move."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.targets.placeholder_pods import PlaceholderPodsConfig
from connectors.targets.registry import counts_nodes
from forecaster.errors import TargetConflict, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from tests.connectors.targets.scale_subjects import PlaceholderSubject
from tests.connectors.targets.subjects import NOW, decided, let_go, stand
from tests.kube_api import KubeApi

MANIFEST = Path(__file__).parents[3] / "deploy" / "placeholder" / "placeholder.yaml"


@pytest.fixture
def held(api: KubeApi) -> PlaceholderSubject:
    """No placeholders yet, beside 30 replicas, 25 of which have a node."""
    subject = PlaceholderSubject(api=api, found=0)
    subject.serve(30, placed=25)
    return subject


def test_k42_nodes_are_held_open_for_the_replicas_that_a_floor_asks_for_and_that_are_not_there_yet(held: PlaceholderSubject) -> None:
    applied = stand(held.open(), 40)
    assert (applied.before, applied.after, held.placeholders()) == (30, 40, 10)


def test_replicas_that_come_take_the_places_of_placeholders(held: PlaceholderSubject) -> None:
    stand(held.open(), 40)
    held.serve(36, placed=25)
    assert held.open().observe(NOW).floor == 46
    stand(held.open(), 40)
    assert (held.placeholders(), held.open().observe(NOW).floor) == (4, 40)


def test_beyond_the_floor_there_are_no_placeholders_and_the_replicas_are_left_alone(held: PlaceholderSubject) -> None:
    stand(held.open(), 40)
    held.serve(44, placed=44)
    applied = stand(held.open(), 40)
    assert (applied.after, held.placeholders()) == (44, 0)
    assert not any(write.path.endswith(f"/{held.workload}") for write in held.api.writes)
    assert not stand(held.open(), 40).written


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(floor=st.integers(0, 60), real=st.integers(0, 60), per=st.integers(1, 4))
def test_placeholders_and_replicas_together_are_the_floor(api: KubeApi, floor: int, real: int, per: int) -> None:
    subject = PlaceholderSubject(api=api, found=0, real=real, pods_per_replica=per)
    applied = stand(subject.open(), floor)
    assert subject.placeholders() == max(floor - real, 0) * per
    assert applied.after == max(floor, real) == subject.open().observe(NOW).floor


def test_what_the_workloads_own_autoscaler_does_is_no_minimum_of_ours(held: PlaceholderSubject) -> None:
    assert held.open().observe(NOW).original == 0
    stand(held.open(), 40)
    held.serve(3, placed=3)
    assert held.open().observe(NOW).original == 0


def test_a_node_is_ready_when_a_placeholder_runs_on_it_or_a_replica_has_it(held: PlaceholderSubject) -> None:
    stand(held.open(), 40)
    held.api.change("deployments", "inference", held.name, {"status": {"readyReplicas": 6}})
    seen = held.open().observe(NOW)
    assert (seen.ready, seen.pending) == (25 + 6, 5 + 4)


def test_a_replica_that_takes_the_place_of_a_placeholder_has_its_node(held: PlaceholderSubject) -> None:
    for name, status in (("nominated", {"nominatedNodeName": "gpu-9"}), ("waits", {})):
        held.api.put("pods", "inference", name, metadata={"labels": {"app": held.workload}}, status={"phase": "Pending"} | status)
    assert held.open().observe(NOW).ready == 26


def test_replicas_that_ended_or_were_told_to_go_hold_no_node(held: PlaceholderSubject) -> None:
    labels = {"labels": {"app": held.workload}}
    node = {"nodeName": "gpu-9"}
    held.api.put("pods", "inference", "ended", metadata=labels, spec=node, status={"phase": "Failed"})
    held.api.put("pods", "inference", "going", metadata=labels | {"deletionTimestamp": "2024-05-06T09:00:00Z"}, spec=node)
    assert held.open().observe(NOW).ready == 25


def test_where_pods_may_not_be_listed_nobody_says_how_many_nodes_are_ready_and_the_floor_stands_all_the_same(
    held: PlaceholderSubject,
) -> None:
    held.api.forbid("list", "pods")
    seen = held.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (30, None, None)
    assert stand(held.open(), 40).written


def test_surge_pods_of_a_rolling_update_hold_no_node(held: PlaceholderSubject) -> None:
    held.serve(30, placed=33)  # each with a node
    seen = held.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (30, 30, 0)


def test_replicas_that_changed_since_are_counted_again_before_a_write(held: PlaceholderSubject) -> None:
    target = held.open()
    seen = target.observe(NOW)
    held.serve(31, placed=25)
    with pytest.raises(TargetConflict, match="observe it again"):
        target.set_floor(decided(target.name, 40), seen)
    assert held.placeholders() == 0


def test_a_release_takes_the_placeholders_away_and_leaves_the_replicas(held: PlaceholderSubject) -> None:
    stand(held.open(), 40)
    applied = let_go(held.open())
    assert (applied.before, applied.after, held.placeholders(), held.marks()) == (40, 30, 0, {})


def test_a_crash_between_marks_and_count_loses_neither(held: PlaceholderSubject) -> None:
    held.api.fail_next(500, verb="patch", plural="scale")
    with pytest.raises(TargetUnavailable):
        stand(held.open(), 40)
    assert held.marks()["forecaster/floor"] == "0/10"
    stand(held.open(), 40)
    assert (held.placeholders(), held.marks()["forecaster/original"]) == (10, "0")


def test_placeholders_that_would_not_give_way_are_refused(api: KubeApi) -> None:
    subject = PlaceholderSubject(api=api, priority_class=None)
    with pytest.raises(TargetRefused, match=r"names no priorityClassName: give it a PriorityClass of a negative value"):
        subject.open().observe(NOW)


def test_placeholders_that_an_autoscaler_scales_are_refused(held: PlaceholderSubject) -> None:
    held.api.add_hpa("inference", "odd", scales=f"Deployment/{held.name}")
    with pytest.raises(TargetRefused, match="HPA inference/odd scales the placeholders"):
        held.open().observe(NOW)


def test_an_hpa_over_the_workload_is_as_it_should_be(held: PlaceholderSubject) -> None:
    held.api.add_hpa("inference", "llm", scales=f"Deployment/{held.workload}")
    assert stand(held.open(), 40).written


def test_a_workload_that_is_not_there_or_may_not_be_read_is_an_error_of_its_name(held: PlaceholderSubject) -> None:
    held.api.remove("deployments", "inference", held.workload)
    with pytest.raises(TargetMissing, match=held.workload):
        held.open().observe(NOW)
    held.api.forbid("get", "deployments")
    with pytest.raises(TargetForbidden, match=r"resources: \[deployments\], verbs: \[get\]"):
        held.open().observe(NOW)


def written(**changed: Any) -> dict[str, Any]:
    return {"type": "placeholder-pods", "namespace": "inference", "name": "held", "for": {"kind": "Deployment", "name": "llm"}} | changed


def test_placeholders_hold_nodes_for_something_else_than_themselves() -> None:
    with pytest.raises(ValidationError, match="must name the workload that serves"):
        PlaceholderPodsConfig.model_validate(written(name="llm"))
    PlaceholderPodsConfig.model_validate(written(name="llm", **{"for": {"kind": "StatefulSet", "name": "llm"}}))


def test_placeholders_count_nodes_which_come_before_the_replicas() -> None:
    assert counts_nodes(PlaceholderPodsConfig.model_validate(written()))


def test_the_manifest_gives_way_to_everybody_and_still_starts_nodes() -> None:
    priority, pods = yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))
    assert -10 <= priority["value"] < 0
    assert priority["preemptionPolicy"] == "Never"
    template = pods["spec"]["template"]
    assert template["spec"]["priorityClassName"] == priority["metadata"]["name"]
    assert template["metadata"]["labels"] == pods["spec"]["selector"]["matchLabels"]
    assert template["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    assert pods["spec"]["replicas"] == 0
