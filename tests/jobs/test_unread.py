"""Targets that an apply could not look at: told from the store alone, for as long as that lasts."""

import re
from datetime import timedelta

import pytest

from connectors.stores.memory import MemoryStore
from forecaster.errors import NothingKept
from forecaster.reasons import Code
from forecaster.units import iso
from jobs.apply import Cycle, apply_fleet
from jobs.cli import views
from jobs.forecast import forecast_fleet
from jobs.unread import Unread, keep_unread, unread_targets
from jobs.views.explained import explained
from jobs.views.kept import Kept
from jobs.views.review import review
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)
CHAT = "kubernetes-hpa:serving/chat"


def cycle(workload: str, **unread: str) -> Cycle:
    return Cycle(workload=workload, records=(), failures=(), unread=unread)


def test_a_target_that_is_gone_is_told_by_every_view_from_the_store_alone(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        (member,) = fleet.members
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        world.api.delete_hpa("serving", "chat")
        apply_fleet(fleet, NOW + MINUTE)
        apply_fleet(fleet, NOW + 2 * MINUTE)
        kept = Kept(store=fleet.store, member=member, now=NOW + 2 * MINUTE)
        (told,) = kept.unread().values()
        (shown,) = explained(kept, member.workload.pools[0].targets)
        asked = [item.sentence for item in review(kept).attention if item.code is Code.TARGET_FAILED]
    assert (told.since, told.at) == (NOW + MINUTE, NOW + 2 * MINUTE)
    assert re.search(r"not found .*; it is not there: correct namespace and name", told.cause)
    assert shown.unread == told
    assert asked == [f"{CHAT} is {told.words}"]
    views.status(config=world.path, now=iso(NOW + 3 * MINUTE))
    assert capsys.readouterr().out.count(f"not decided on since {iso(NOW + MINUTE)}") == 2  # its row, and below its last decision
    views.explain("chat", config=world.path, now=iso(NOW + 3 * MINUTE))
    assert f"That was its last decision: {CHAT} is {told.words}" in " ".join(capsys.readouterr().out.split())


def test_a_target_that_was_never_read_has_its_reason_where_its_floor_would_stand(world: World) -> None:
    world.workload("chat")
    world.api.delete_hpa("serving", "chat")
    with world.fleet() as fleet:
        (member,) = fleet.members
        apply_fleet(fleet, NOW)
        with pytest.raises(NothingKept, match=rf"no floor was decided by .*; {CHAT}: not decided on since .* not found"):
            explained(Kept(store=fleet.store, member=member, now=NOW), member.workload.pools[0].targets)


def test_one_that_is_decided_on_again_is_no_longer_told(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        world.api.fail_next(403, verb="get", plural="horizontalpodautoscalers")
        apply_fleet(fleet, NOW)
        assert set(unread_targets(fleet.store)) == {("chat", CHAT)}
        apply_fleet(fleet, NOW + MINUTE)
        assert unread_targets(fleet.store) == {}


def test_an_apply_of_some_workloads_leaves_what_is_known_of_the_others() -> None:
    store = MemoryStore()
    keep_unread(store, [cycle("chat", a="gone"), cycle("code", b="gone")], NOW)
    keep_unread(store, [cycle("chat")], NOW + MINUTE)
    assert unread_targets(store) == {("code", "b"): Unread(since=NOW, at=NOW, cause="gone")}


def test_a_workload_that_left_the_fleet_is_forgotten_after_two_weeks() -> None:
    store = MemoryStore()
    keep_unread(store, [cycle("old", a="gone")], NOW)
    keep_unread(store, [cycle("chat")], NOW + timedelta(days=15))
    assert unread_targets(store) == {}


def test_what_is_not_known_yet_at_an_instant_of_the_past_is_not_told(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        (member,) = fleet.members
        keep_unread(fleet.store, [Cycle(workload="chat", records=(), failures=(), unread={CHAT: "gone"})], NOW)
        assert Kept(store=fleet.store, member=member, now=NOW - MINUTE).unread() == {}
