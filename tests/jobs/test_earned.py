"""A promotion raises a workload to auto until it is taken back or the configuration goes lower."""

from datetime import timedelta

from forecaster.decision import Ruling, RulingKind
from forecaster.workload import Mode
from jobs.apply import apply_fleet
from jobs.cli.session import session
from jobs.earned import with_promotions
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World

HOUR = timedelta(hours=1)


def promoted(fleet: Fleet, *, mode: Mode = Mode.OBSERVE, hours: int = 0) -> None:
    at = NOW + hours * HOUR
    fleet.store.append_ruling(Ruling(at=at, workload="chat", kind=RulingKind.PROMOTE, author="ada", reason="earned", mode=mode))


def mode_of(fleet: Fleet, hours: int = 0) -> Mode:
    (member,) = with_promotions(fleet, NOW + hours * HOUR).members
    return member.workload.policy.mode


def test_a_promoted_workload_is_written_from_the_next_apply_on_and_the_same_process(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        assert world.floor("chat") == 2
        promoted(fleet)
        (cycle,) = apply_fleet(fleet, NOW + timedelta(seconds=30))
        assert world.floor("chat") > 2
        assert cycle.records[0].mode is Mode.AUTO


def test_a_promotion_lifts_review_and_its_plans_wait_for_nobody(world: World) -> None:
    world.workload("chat", mode="review")
    with world.fleet() as fleet:
        promoted(fleet, mode=Mode.REVIEW)
        (draft,) = forecast_fleet(fleet, NOW)
        assert draft.waiting == ()
        apply_fleet(fleet, NOW)
    assert world.floor("chat") > 2


def test_a_dry_run_of_a_promoted_workload_writes_nothing(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet(rehearse="all") as fleet:
        promoted(fleet)
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
    assert world.api.writes == ()


def test_a_promotion_holds_from_its_instant_until_it_is_taken_back(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        promoted(fleet, hours=1)
        fleet.store.append_ruling(
            Ruling(at=NOW + 3 * HOUR, workload="chat", kind=RulingKind.DEMOTE, author="bob", reason="the launch is risky")
        )
        assert [mode_of(fleet, hours) for hours in (0, 1, 2, 3)] == [Mode.OBSERVE, Mode.AUTO, Mode.AUTO, Mode.OBSERVE]


def test_a_lower_mode_in_the_configuration_outranks_an_older_promotion(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        promoted(fleet, mode=Mode.REVIEW)
        assert mode_of(fleet) is Mode.OBSERVE


def test_a_higher_mode_in_the_configuration_keeps_the_promotion(world: World) -> None:
    world.workload("chat", mode="review")
    with world.fleet() as fleet:
        promoted(fleet)
        assert mode_of(fleet) is Mode.AUTO


def test_without_a_promotion_the_configured_mode_holds(world: World) -> None:
    world.workload("chat", mode="auto")
    with world.fleet() as fleet:
        (member,) = with_promotions(fleet, NOW).members
        assert (member.workload.policy.mode, member.promotion) == (Mode.AUTO, None)


def test_every_command_sees_the_mode_that_holds(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        promoted(fleet)
    with session(world.path, NOW.isoformat()) as at:
        member = at.member("chat")
        assert (member.workload.policy.mode, member.configured) == (Mode.AUTO, Mode.OBSERVE)
