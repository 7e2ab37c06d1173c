"""`check --drill` rehearses every promise on the real objects, writes nothing, and tells what would break it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from connectors.leases.memory import MemoryLease
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import open_target
from forecaster.decision import Applied, Decision, Paused, Ruling, RulingKind, Seen
from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.config.reading import read_config
from jobs.drill.drill import drill
from jobs.drill.lease import exclusive
from jobs.drill.objects import untouched
from jobs.drill.outcome import Promise, Result
from jobs.leases import lease_of
from tests.jobs.drill.rehearsed import drilled, drilled_fleet, failed, foreseen, of, well_granted
from tests.jobs.world import NOW, World

HPAS = "horizontalpodautoscalers"
PLANNED = {Promise.SHOWN, Promise.EXPIRY, Promise.ENVELOPE}
"""What cannot be rehearsed without a plan."""


def test_where_all_is_well_every_promise_passes_and_nothing_of_the_users_is_written(world: World) -> None:
    world.workload("chat", mode="observe")
    well_granted(world)
    foreseen(world)
    before = world.api.hpa("serving", "chat")
    outcomes = drilled(world)
    assert {each.promise for each in outcomes if each.result is Result.PASS} == set(Promise), failed(outcomes)
    assert len(outcomes) == len(Promise)
    assert all(each.evidence for each in outcomes)
    assert world.api.writes == ()
    assert world.api.hpa("serving", "chat") == before  # its resourceVersion included


def test_the_store_is_as_it_was(world: World) -> None:
    world.workload("chat", mode="observe")
    foreseen(world)
    with world.fleet(rehearse="all") as fleet:
        apply_fleet(fleet, NOW - timedelta(minutes=1))
        before = dumped(world)
        drilled_fleet(world, fleet)
        assert dumped(world) == before


def dumped(world: World) -> list[str]:
    with closing(sqlite3.connect(world.folder / "forecaster.db")) as connection:
        return list(connection.iterdump())


def test_without_a_plan_it_says_what_could_not_be_rehearsed_and_what_makes_it_possible(world: World) -> None:
    world.workload("chat")
    outcomes = drilled(world)
    unplayed = {each.promise: each.evidence for each in outcomes if each.result is Result.NOT_APPLICABLE}
    assert unplayed.keys() == PLANNED
    assert all("`forecaster forecast` makes one" in evidence for evidence in unplayed.values())
    assert failed(outcomes) == {}


def test_a_floor_of_ours_in_auto_is_drilled_as_it_stands(world: World) -> None:
    world.workload("chat", mode="auto")
    foreseen(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW - timedelta(minutes=2))
    written = len(world.api.writes)
    outcomes = drilled(world)
    assert failed(outcomes) == {}
    assert of(outcomes, Promise.OWNER).evidence == "the last write is ours"
    assert "ours, original 2" in of(outcomes, Promise.SEEN).evidence
    assert "a release puts 2 back" in of(outcomes, Promise.ORIGINAL).evidence
    assert len(world.api.writes) == written


def test_a_workload_that_is_paused_and_overridden_is_drilled_as_if_it_were_not_and_that_is_said(world: World) -> None:
    world.workload("chat", mode="auto")
    foreseen(world)
    world.api.edit("serving", "chat", annotations={"forecaster/paused": "hold"})
    with world.fleet(rehearse="all") as fleet:
        for kind, more in ((RulingKind.PAUSE, {"paused": Paused.RELEASE}), (RulingKind.OVERRIDE, {"replicas": 1})):
            ruling = Ruling(at=NOW, workload="chat", kind=kind, author="ada", reason="a test", **more)
            fleet.store.append_ruling(ruling)
        outcomes = drilled_fleet(world, fleet)
    assert failed(outcomes) == {}
    assert of(outcomes, Promise.PAUSE).evidence.endswith("it is paused now (hold)")


def test_limits_on_the_way_are_no_failure(world: World) -> None:
    world.workload("chat", mode="auto", fallback=20, raise_per_min=1, lower_per_min=1)
    foreseen(world)
    assert failed(drilled(world)) == {}


def absent_hpa(world: World) -> None:
    world.api.delete_hpa("serving", "chat")


def source_down(world: World) -> None:
    (world.folder / "load.csv").unlink()


def low_maximum(world: World) -> None:
    world.api.edit("serving", "chat", maxReplicas=4)


def no_patch(world: World) -> None:
    world.api.forbid("patch")


def denied(world: World) -> None:
    def says(_before: object, after: dict[str, dict[str, int]]) -> str | None:
        return "no more than 10 GPUs for a team" if after["spec"]["minReplicas"] > 10 else None

    world.api.define(HPAS, kind="HorizontalPodAutoscaler", api_version="autoscaling/v2", denied=says)


def argo(world: World) -> None:
    world.api.edit("serving", "chat", manager="argocd-controller", minReplicas=3)


def stuck_hpa(world: World) -> None:
    condition = {"type": "ScalingActive", "status": "False", "reason": "FailedGetExternalMetric", "message": "no such metric"}
    world.api.change(HPAS, "serving", "chat", {"status": {"conditions": [condition]}})


@pytest.mark.parametrize(
    ("broken", "promise", "says"),
    [
        (absent_hpa, Promise.SEEN, "correct namespace and name"),
        (source_down, Promise.LIVE, "could not be fetched live"),
        (low_maximum, Promise.BOUNDS, "the least floor is 6, and no more than 4 are taken: raise the maximum"),
        (no_patch, Promise.RIGHTS, "{apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [patch]}"),
        (denied, Promise.TAKEN, "no more than 10 GPUs for a team"),
        (argo, Promise.OWNER, 'ignoreDifferences of the Argo CD Application: {group: "autoscaling"'),
        (stuck_hpa, Promise.KILLED, "FailedGetExternalMetric: no such metric"),
    ],
)
def test_what_would_break_a_promise_is_a_failure_with_the_remedy_or_the_servers_own_words(
    world: World, broken: Callable[[World], None], promise: Promise, says: str
) -> None:
    world.workload("chat", mode="observe", min=6 if broken is low_maximum else 2)
    foreseen(world)
    broken(world)
    found = failed(drilled(world))
    assert found.keys() == {promise}
    assert says in found[promise]
    assert world.api.writes == ()


def test_a_second_writer_after_us_is_named_with_what_to_change(world: World) -> None:
    world.workload("chat", mode="auto")
    foreseen(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    world.api.edit("serving", "chat", manager="argocd-controller", minReplicas=3)
    found = failed(drilled(world))
    assert found.keys() == {Promise.OWNER}
    assert found[Promise.OWNER].startswith("argocd-controller wrote the floor after us and set 3: add to spec.ignoreDifferences")


def test_a_role_that_may_more_than_it_needs_is_a_warning_that_names_each_right(world: World) -> None:
    world.workload("chat")
    excess = of(drilled(world), Promise.EXCESS)
    assert excess.result is Result.WARNING
    hpas = "horizontalpodautoscalers"
    assert f"create {hpas}, delete {hpas}, get secrets, delete pods, create pods/exec" in excess.evidence
    assert "docs/targets/kubernetes-hpa.md" in excess.evidence


def test_one_workload_that_cannot_be_drilled_hides_no_other(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    world.api.delete_hpa("serving", "code")
    outcomes = drilled(world)
    assert [each.promise for each in outcomes if each.result is Result.FAIL] == [Promise.SEEN]
    assert of(outcomes, Promise.SEEN, "code").result is Result.FAIL
    assert of(outcomes, Promise.TAKEN, "chat").result is Result.PASS


def test_targets_that_would_write_are_never_drilled(world: World) -> None:
    world.workload("chat", mode="auto")
    with world.fleet() as fleet:
        found = failed(drilled_fleet(world, fleet))
    assert found == {Promise.WALL: "the drill broke off: TypeError: kubernetes-hpa:serving/chat is not recorded"}


class Sloppy:
    """An object of a connector that keeps no promise: two more than was decided, written at every call, and an original that it forgets."""

    name = "kubernetes-hpa:serving/chat"

    def observe(self, now: datetime) -> Seen:
        return Seen(target=self.name, at=now, floor=2, ceiling=40, original=2, ready=None, pending=None, version="1")

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        return Applied(target=self.name, before=seen.floor, after=decision.floor + 2, written=True)

    def would_release(self, seen: Seen) -> Applied:
        return Applied(target=self.name, before=seen.floor, after=seen.floor, written=False)


def test_a_connector_that_keeps_no_promise_fails_those_that_are_its_own(world: World) -> None:
    world.workload("chat", mode="observe")
    foreseen(world)
    with world.fleet(rehearse="all") as fleet:
        (member,) = fleet.members
        hands = {Sloppy.name: RecordingTarget(Sloppy())}
        found = failed(drilled_fleet(world, replace(fleet, members=(replace(member, targets=hands, live=hands),))))
    assert found.keys() == {Promise.CEILING, Promise.ONCE, Promise.ORIGINAL}


class TestUntouched:
    def test_a_status_that_a_controller_writes_meanwhile_is_no_write_of_ours(self, world: World) -> None:
        world.workload("chat")
        target = open_target(hpa_of(world))
        before = target.observe(NOW)
        world.api.touch("serving", "chat")
        found = untouched(target, before, NOW)
        assert (found.result, "a controller has written its own status" in found.evidence) == (Result.PASS, True)

    def test_a_floor_that_moves_meanwhile_is_told_with_both_values(self, world: World) -> None:
        world.workload("chat")
        target = open_target(hpa_of(world))
        before = target.observe(NOW)
        world.api.edit("serving", "chat", minReplicas=3)
        found = untouched(target, before, NOW)
        assert (found.result, "floor: 2 -> 3" in found.evidence) == (Result.FAIL, True)

    def test_an_object_that_cannot_be_read_again_is_no_proof(self, world: World) -> None:
        world.workload("chat")
        target = open_target(hpa_of(world))
        before = target.observe(NOW)
        world.api.delete_hpa("serving", "chat")
        assert untouched(target, before, NOW).result is Result.FAIL


class TestLease:
    def test_a_store_that_keeps_nobody_out_fails(self) -> None:
        found = exclusive(lambda _: MemoryLease())  # each over a lock of its own
        assert (found.result, "a second holder is let in" in found.evidence) == (Result.FAIL, True)

    def test_another_drill_at_work_is_no_failure(self, world: World) -> None:
        world.workload("chat")
        other = lease_of(read_config(world.path), world.folder, "drill")
        assert other.try_acquire()
        outcomes = drilled(world)
        other.release()
        assert of(outcomes, Promise.LEASE, "the fleet").result is Result.NOT_APPLICABLE

    def test_a_lock_that_cannot_be_made_says_so(self, world: World) -> None:
        world.workload("chat")
        (world.folder / "forecaster.db.drill.lock").mkdir()
        assert "cannot be opened" in failed(drilled(world))[Promise.LEASE]

    def test_a_lease_in_kubernetes_is_rehearsed_there_and_left_without_a_holder(self, world: World) -> None:
        world.workload("chat")
        world.config["lease"] = {"type": "kubernetes", "namespace": "forecaster", "cluster": {"server": world.api.url}}
        world.config["store"] = "postgresql://nobody@127.0.0.1:1/none"  # of which only the lease is opened
        config = read_config(world.path)
        found = exclusive(lambda holder: lease_of(config, world.folder, "drill", holder=holder))
        assert found.result is Result.PASS
        assert world.api.look("leases", "forecaster", "forecaster-drill")["spec"].get("holderIdentity") is None
        assert all("/leases/" in request.path for request in world.api.writes)

    def test_the_store_of_one_process_has_no_second_one(self, world: World) -> None:
        world.config["store"] = "memory:"
        world.workload("chat")
        with world.fleet(rehearse="all") as fleet:
            assert of(drill(fleet, fleet.members, None, NOW), Promise.LEASE, "the fleet").result is Result.NOT_APPLICABLE


def hpa_of(world: World) -> KubernetesHpaConfig:
    return KubernetesHpaConfig.model_validate(
        {"type": "kubernetes-hpa", "namespace": "serving", "name": "chat", "cluster": {"server": world.api.url}}
    )


def test_a_virtual_object_has_nothing_that_an_api_could_say(world: World) -> None:
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["pools"][0]["targets"] = [{"type": "recording", "name": "chat", "floor": 2}]
    foreseen(world)
    outcomes = drilled(world)
    assert failed(outcomes) == {}
    unplayed = {each.promise for each in outcomes if each.result is Result.NOT_APPLICABLE}
    assert unplayed == {Promise.CEILING, Promise.TAKEN, Promise.RIGHTS, Promise.EXCESS, Promise.OWNER, Promise.KILLED}


def test_in_review_a_plan_waits_and_approving_it_is_the_remedy(world: World) -> None:
    world.workload("chat", mode="review")
    foreseen(world)
    outcomes = drilled(world)
    assert failed(outcomes) == {}
    assert "`forecaster approve` lets it be" in of(outcomes, Promise.EXPIRY).evidence
    assert iso(NOW) not in of(outcomes, Promise.ENVELOPE).evidence
