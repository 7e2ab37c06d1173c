"""A spot pool down the line: plan and live load both count what is away."""

from datetime import timedelta

from forecaster.reasons import Code
from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World


def test_expected_losses_of_a_spot_pool_are_asked_for_on_top_in_plans_and_by_live_load(world: World) -> None:
    world.workload("chat")
    world.workload("spot")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[-1]["pools"][0]["spot"] = {"preempted_per_hour": 3}  # with 10 minutes to another one half is away
    peak = NOW + timedelta(hours=4)
    with world.fleet() as fleet:
        drafts = forecast_fleet(fleet, NOW)
        steady, spot = (draft.plans[0].floor_at(peak) for draft in drafts)
        assert steady is not None
        assert spot is not None
        assert 2 * steady.replicas - 2 <= spot.replicas <= 2 * steady.replicas
        assert Code.SPOT_LOSSES in {reason.code for reason in drafts[1].plans[0].reasons}
        for minutes in range(0, 250, 30):
            apply_fleet(fleet, NOW + timedelta(minutes=minutes))
    assert world.floor("spot") >= 2 * world.floor("chat") - 3
