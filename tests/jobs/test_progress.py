"""How far a run is, told to whoever watches."""

from itertools import pairwise

from jobs.forecast import forecast_fleet
from jobs.progress import beside, told
from tests.jobs.world import NOW, World


def test_each_item_is_told_as_it_comes() -> None:
    heard: list[tuple[float, str]] = []
    items = told(iter("ab"), 2, lambda done, doing: heard.append((done, doing)), "fetch workload")
    assert (next(items), heard) == ("a", [(0.5, "fetch workload 1 of 2")])
    assert (list(items), heard[-1]) == (["b"], (1.0, "fetch workload 2 of 2"))


def test_items_that_come_in_batches_are_counted_on() -> None:
    heard: list[str] = []
    assert list(told(iter("c"), 3, lambda _, doing: heard.append(doing), "fetch workload", 2)) == ["c"]
    assert heard == ["fetch workload 3 of 3"]


def test_parts_of_the_work_that_go_on_at_once_add_up_to_the_whole() -> None:
    heard: list[float] = []
    one, other = beside(lambda done, _: heard.append(done), 0.5, 0.25)
    one(0.5, "")
    other(1.0, "")
    one(1.0, "")
    assert heard == [0.25, 0.5, 0.75]


def test_a_forecast_of_a_fleet_tells_every_workload_and_never_goes_back(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    heard: list[tuple[float, str]] = []
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW, lambda done, doing: heard.append((done, doing)))
    assert [doing for _, doing in heard] == [
        "fetch workload 1 of 2",
        "fetch workload 2 of 2",
        "forecast workload 1 of 2",
        "forecast workload 2 of 2",
        "plan",
    ]
    assert all(0 <= before <= after <= 1 for (before, _), (after, _) in pairwise(heard))
