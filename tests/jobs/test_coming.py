"""After every forecast the objects are looked at, and what they will not give is told in the plan."""

from forecaster.reasons import Code
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.world import NOW, World


def codes(plan_reasons: tuple[object, ...]) -> set[object]:
    return {getattr(reason, "code", None) for reason in plan_reasons}


def test_a_maximum_below_tomorrows_peak_is_told_with_the_plan_and_forgotten_once_it_was_raised(world: World) -> None:
    world.workload("chat", mode="observe")
    world.api.edit("serving", "chat", maxReplicas=8)
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        (kept,) = (plan for plan in draft.plans)
        assert Code.CEILING_AHEAD in codes(kept.reasons)
        world.api.edit("serving", "chat", maxReplicas=40)
        (again,) = plan_fleet(fleet, NOW)
        assert Code.CEILING_AHEAD not in codes(again.plans[0].reasons)


def test_an_object_that_cannot_be_seen_keeps_no_plan_from_being_made(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    world.api.edit("serving", "code", maxReplicas=3)
    world.api.delete_hpa("serving", "chat")
    with world.fleet() as fleet:
        chat, code = forecast_fleet(fleet, NOW)
    assert chat.problems == ()
    assert chat.plans
    assert Code.CEILING_AHEAD in codes(code.plans[0].reasons)
