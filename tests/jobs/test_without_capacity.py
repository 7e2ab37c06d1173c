"""A workload without a capacity is held where it is and told of, never guessed."""

from datetime import timedelta

import pytest

from forecaster.capacity import HOW_TO_TELL
from forecaster.errors import ConfigRejected
from forecaster.reasons import Code
from jobs.apply import apply_fleet
from jobs.config.reading import read_config
from jobs.forecast import forecast_fleet
from jobs.views.review import review_members
from tests.jobs.cli.process import forecaster
from tests.jobs.world import NOW, World


def without_capacity(world: World, windows: tuple[dict[str, object], ...] = ()) -> None:
    world.workload("chat", windows=list(windows))
    del world.config["workloads"][0]["pools"][0]["capacity"]  # type: ignore[index]  # the file as it will be written


def with_capacity(world: World, capacity: dict[str, object]) -> None:
    world.workload("chat")
    world.config["workloads"][0]["pools"][0]["capacity"] = capacity  # type: ignore[index]  # the file as it will be written


def test_it_has_no_plan_and_the_forecast_says_why(world: World) -> None:
    without_capacity(world)
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
    assert draft.plans == ()
    assert [(failed.error, failed.sentence) for failed in draft.failures] == [
        (Code.NO_CAPACITY, f"pool gpu has no capacity for rpm: it is held where it is; {HOW_TO_TELL}")
    ]


def test_its_floor_stays_as_found_with_that_reason_and_an_alert(world: World) -> None:
    without_capacity(world)
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (cycle,) = apply_fleet(fleet, NOW)
    decision = cycle.records[0].decision
    assert [reason.code for reason in decision.reasons] == [Code.NO_CAPACITY]
    assert decision.alerts == decision.reasons
    assert (decision.floor, world.floor("chat")) == (2, 2)
    assert f"the floor is held at 2; {HOW_TO_TELL}" in cycle.records[0].sentence


def test_a_floor_that_stood_when_capacity_was_taken_away_is_not_lowered(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
    stood = world.floor("chat")
    del world.config["workloads"][0]["pools"][0]["capacity"]  # type: ignore[index]  # the file as it will be written
    with world.fleet() as fleet:
        for minutes in range(10, 200, 30):
            apply_fleet(fleet, NOW + timedelta(minutes=minutes))
            assert world.floor("chat") >= stood > 2


def test_configured_windows_hold_all_the_same(world: World) -> None:
    without_capacity(world, ({"from": "07:00", "to": "09:00", "min_replicas": 7},))
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    assert world.floor("chat") == 7


def test_review_tells_it_once(world: World) -> None:
    without_capacity(world)
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        (found,) = review_members(fleet.store, fleet.members, NOW)
    assert [item.code for item in found.attention] == [Code.NO_CAPACITY]


def test_run_tells_it_and_is_partly_done_where_others_were_planned(world: World) -> None:
    without_capacity(world)
    world.workload("search")
    ended = forecaster(world.folder, "run", "--config", str(world.path), "--now", NOW.isoformat())
    assert ended.code == 3
    assert f"chat: pool gpu has no capacity for rpm: it is held where it is; {HOW_TO_TELL}" in ended.err


@pytest.mark.parametrize(
    ("capacity", "said"),
    [
        ({"rpm": 0}, "capacity.rpm: must be above 0, got 0"),
        ({"rpm": -5}, "capacity.rpm: must be above 0, got -5"),
        ({"tokens": "many"}, "capacity.tokens: must be a number, got 'many'"),
        ({"rpm": 600, "concurrency": 0.01}, "capacity of 600 rpm and 0.01 in flight means 0.001 s a request"),
        ({"rpm": 60, "tokens": 0.5}, "capacity of 60 rpm and 0.5 tokens/s means 0.5 tokens a request"),
    ],
)
def test_a_capacity_that_cannot_be_is_one_clear_sentence(world: World, capacity: dict[str, object], said: str) -> None:
    with_capacity(world, capacity)
    with pytest.raises(ConfigRejected) as refused:
        read_config(world.path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
