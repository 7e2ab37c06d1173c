"""Tomorrow under each variant: planned over the stored forecast, with its own capacity, lead time and price; nothing is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from forecaster.errors import ConfigRejected
from forecaster.series import Window
from jobs.capacity.compare import Option, compare
from jobs.capacity.known import with_capacities
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World
from tests.loopback_prometheus import loopback_prometheus, steady
from tests.profiles import entry, point, profile

FAST = profile([point(rpm) for rpm in (100, 160, 200)] + [point(220, ttft_s=0.8)])


@contextmanager
def fleet(
    world: World, *variants: dict[str, Any], prices: bool = True, task: dict[str, Any] | None = None, url: str | None = None
) -> Iterator[Fleet]:
    """url: of a Prometheus that is asked in place of the file."""
    world.workload("chat")
    workloads: Any = world.config["workloads"]
    workloads[-1] |= {"variants": list(variants), **({} if task is None else {"task": task})}
    if url is not None:
        world.config["sources"] = {"trace-chat": {"type": "prometheus", "url": url, "retry_wait_s": 0}}
    world.config |= {"forecast": {"model": "seasonal_naive"}, **({"prices": {"currency": "EUR", "gpu_hour": 4.0}} if prices else {})}
    with world.fleet() as opened:
        yield with_capacities(opened, NOW)


def options(at: Fleet) -> dict[str, Option]:
    return {option.variant: option for option in compare(at, at.members[0], NOW)}


def test_a_variant_with_twice_the_capacity_takes_about_half_the_gpu_hours_and_the_price_decides(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}, {"name": "big", "capacity": {"rpm": 200}, "gpu_hour": 10.0}) as at:
        forecast_fleet(at, NOW)
        found = options(at)
        now, int8, big = found["gpu"], found["int8"], found["big"]
        assert list(found) == ["gpu", "int8", "big"]
        assert now.most is not None
        assert int8.most is not None
        assert now.most / 2 <= int8.most <= now.most / 2 + 1
        assert now.gpu_hours is not None
        assert int8.gpu_hours is not None
        assert now.gpu_hours / 2 <= int8.gpu_hours <= now.gpu_hours / 2 + 24
        assert now.cost == pytest.approx(4 * now.gpu_hours)
        assert big.cost == pytest.approx(10 * int8.gpu_hours)
        assert now.cost is not None
        assert int8.cost is not None
        assert 10 * int8.gpu_hours > now.cost > int8.cost


def test_what_runs_is_as_it_is_planned_and_comparing_keeps_nothing(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}) as at:
        (draft,) = forecast_fleet(at, NOW)
        found = options(at)["gpu"]
        day = NOW.replace(hour=0, minute=0) + timedelta(days=1)
        assert found.gpu_hours == pytest.approx(draft.plans[0].replica_hours(day, day + timedelta(days=1)))
        assert found.day == day.date()
        assert len(at.store.plans("chat", "gpu", Window(start=NOW - timedelta(days=1), end=NOW + timedelta(days=1)))) == 1


def test_the_profile_of_a_variant_is_imported_under_its_name(world: World) -> None:
    with fleet(world, {"name": "int8", "gpus_per_replica": 2}) as at:
        forecast_fleet(at, NOW)
        unknown = options(at)["int8"]
        assert unknown.gpu_hours is None
        assert "import a load test with --pool int8" in unknown.doubt
        at.store.append_profiles([("chat", "int8", entry(NOW, FAST))])
        found = options(at)["int8"]
        assert found.capacity.rpm == 200
        assert found.gpu_hours is not None
        assert found.cost == pytest.approx(found.gpu_hours / 2 * 4)


def test_a_variant_that_nobody_measured_is_compared_by_its_estimate(world: World) -> None:
    estimate = {"output_tokens_per_s": 50, "coefficient": 0, "input_tokens": 500, "output_tokens": 240}
    int8 = {"name": "int8", "capacity": {"estimate": estimate}, "serving": {"max_batch": 16}}
    bare = {"name": "bare", "capacity": {"estimate": estimate}}
    with fleet(world, int8, bare) as at:
        forecast_fleet(at, NOW)
        found = options(at)
        assert found["int8"].capacity.rpm == pytest.approx(16 * 50 * 60 / 240)
        assert found["int8"].gpu_hours is not None
        assert found["bare"].gpu_hours is None
        assert "`forecaster capacity show` says what it lacks" in found["bare"].doubt


def test_cost_of_a_thousand_requests_is_that_of_the_day_over_those_that_are_expected(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}) as at:
        forecast_fleet(at, NOW)
        found = options(at)["int8"]
        assert found.cost is not None
        assert found.per_1000 is not None
        requests = 1_000 * found.cost / found.per_1000
        assert 600_000 < requests < 900_000  # the world's day: 100 a minute at night, 1,000 by day


def test_a_variant_that_starts_more_slowly_than_the_forecast_looks_ahead_is_doubted(world: World) -> None:
    with fleet(world, {"name": "slow", "capacity": {"rpm": 100}, "lead_time": {"warm": "40m", "cold": "1h"}}) as at:
        forecast_fleet(at, NOW)
        assert "floors are too low in a ramp" in options(at)["slow"].doubt


def test_without_a_forecast_or_prices_nothing_is_made_up(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}, prices=False) as at:
        assert all("run `forecaster forecast` first" in option.doubt for option in options(at).values())
        forecast_fleet(at, NOW)
        found = options(at)["int8"]
        assert (found.cost, found.per_1000, found.gpu_hours is None) == (None, None, False)


def test_one_and_a_half_times_the_price_at_half_the_calls_is_three_quarters_of_the_cost_a_task(world: World) -> None:
    dear = {"name": "big", "capacity": {"rpm": 100}, "gpu_hour": 6.0, "task": {"calls": 2}}
    with fleet(world, dear, task={"calls": 4}) as at:
        forecast_fleet(at, NOW)
        now, big = options(at)["gpu"], options(at)["big"]
        assert (now.calls_a_task, big.calls_a_task) == (4, 2)
        assert now.per_task is not None
        assert now.per_1000 is not None
        assert now.per_task == pytest.approx(4 * now.per_1000 / 1_000)
        assert big.per_task == pytest.approx(0.75 * now.per_task)


def test_a_variant_takes_the_calls_and_rounds_of_the_workload_where_it_says_none(world: World) -> None:
    distilled = {"name": "small", "capacity": {"rpm": 200}, "task": {"calls": 2, "rounds": 3, "completion": 0.8}}
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}, distilled, task={"calls": 4}) as at:
        forecast_fleet(at, NOW)
        assert [(name, option.calls_a_task) for name, option in options(at).items()] == [("gpu", 4), ("int8", 4), ("small", 7.5)]


def test_without_a_task_or_prices_nothing_is_said_of_tasks(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}) as at:
        forecast_fleet(at, NOW)
        assert {(option.calls_a_task, option.per_task, option.doubt) for option in options(at).values()} == {(None, None, "")}


def test_a_task_without_a_price_has_calls_and_no_cost(world: World) -> None:
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}, task={"calls": 4}, prices=False) as at:
        forecast_fleet(at, NOW)
        assert {(option.calls_a_task, option.per_task) for option in options(at).values()} == {(4, None)}


def test_the_source_is_asked_once_what_a_task_takes_however_many_variants_there_are(world: World) -> None:
    asked = {"calls": {"query": "sum(calls) / sum(tasks)"}}
    variants = [{"name": name, "capacity": {"rpm": 200}} for name in ("a", "b")]
    own = {"name": "c", "capacity": {"rpm": 200}, "task": {**asked, "rounds": 2}}
    with loopback_prometheus(steady(3)) as prometheus, fleet(world, *variants, own, task=asked, url=prometheus.url) as at:
        found = {option.variant: option.calls_a_task for option in compare(at, at.members[0], NOW)}
        questions = [each.form["query"] for each in prometheus.asked if each.form["query"] == asked["calls"]["query"]]
    assert found == pytest.approx({"gpu": 3, "a": 3, "b": 3, "c": 6})
    assert len(questions) == 1


def test_a_question_that_nobody_answers_leaves_the_cost_of_a_task_empty_and_says_so(world: World) -> None:
    asked = {"calls": {"query": "nowhere"}}
    with fleet(world, {"name": "int8", "capacity": {"rpm": 200}}, task=asked) as at:
        forecast_fleet(at, NOW)
        found = options(at)["int8"]
        assert (found.per_task, found.per_1000 is None) == (None, False)
        assert "what a task takes is not known, its calls could not be read" in found.doubt


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ([{"name": "gpu"}], "gpu is the name of another variant or pool"),
        ([{"name": "a"}, {"name": "a"}], "a is the name of another variant or pool"),
        ([{"name": "a", "pool": "cpu"}], "a would take the place of cpu, which is no pool; there is: gpu"),
    ],
)
def test_variants_that_cannot_be_told_apart_or_placed_are_refused(world: World, variants: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(ConfigRejected, match=said), fleet(world, *variants):
        pass
