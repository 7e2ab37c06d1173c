"""Postings: what every apply leaves for those who pull."""

from datetime import timedelta

from connectors.stores.memory import MemoryStore
from forecaster.workload import Mode
from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from jobs.postings import keep, postings
from tests.jobs.hooks.desks import posting
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)
CHAT = ("chat", "gpu")


def test_every_apply_renews_what_is_posted_also_where_nothing_changed(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (first,) = apply_fleet(fleet, NOW)
        before = postings(fleet.store)[CHAT]
        apply_fleet(fleet, NOW + MINUTE)
        after = postings(fleet.store)[CHAT]
    decision = first.records[0].decision
    assert (before.floor, before.valid_until, before.mode) == (decision.floor, decision.valid_until, Mode.AUTO)
    assert (before.original, before.least, before.most) == (2, 2, 40)
    assert (before.at, after.at) == (NOW, NOW + MINUTE)


def test_the_plan_is_posted_for_now_and_one_lead_time_ahead(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        found = postings(fleet.store)[CHAT]
    (plan,) = draft.plans
    floors = [plan.floor_at(NOW + ahead) for ahead in (timedelta(0), timedelta(minutes=10))]
    assert [found.planned, found.planned_ahead] == [floor.replicas for floor in floors if floor is not None]
    assert found.lead_s == 600


def test_what_a_target_tells_of_its_replicas_is_posted_and_what_it_does_not_is_unknown(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert (postings(fleet.store)[CHAT].ready, postings(fleet.store)[CHAT].pending) == (None, None)
        world.api.add_workload("serving", "llm", replicas=5, ready=3)
        apply_fleet(fleet, NOW + MINUTE)
        assert (postings(fleet.store)[CHAT].ready, postings(fleet.store)[CHAT].pending) == (3, 2)


def test_a_workload_that_could_not_be_decided_on_keeps_its_posting_with_its_age(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        world.api.delete_hpa("serving", "code")
        apply_fleet(fleet, NOW + MINUTE)
        found = postings(fleet.store)
    assert {name: each.at for (name, _), each in found.items()} == {"chat": NOW + MINUTE, "code": NOW}


def test_a_pool_that_left_the_fleet_is_forgotten_after_two_weeks() -> None:
    store = MemoryStore()
    keep(store, {("old", "gpu"): posting(at=NOW)}, NOW)
    later = NOW + timedelta(days=15)
    keep(store, {CHAT: posting(at=later)}, later)
    assert set(postings(store)) == {CHAT}


def test_a_store_that_was_never_applied_on_has_no_posting() -> None:
    assert postings(MemoryStore()) == {}


def test_a_posting_is_read_as_it_was_written() -> None:
    store, full = MemoryStore(), posting(most=40, ready=3, pending=2, queue=7.5, planned=12, planned_ahead=14, lead_s=600.0)
    keep(store, {CHAT: full}, NOW)
    assert postings(store)[CHAT] == full
