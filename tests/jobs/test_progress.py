"""How far a run is, told to whoever watches."""

from itertools import pairwise

from jobs.forecast import forecast_fleet
from jobs.progress import told, within
from tests.jobs.world import NOW, World


def test_each_item_is_told_as_it_comes() -> None:
    heard: list[tuple[float, str]] = []
    items = told(iter("ab"), 2, lambda done, doing: heard.append((done, doing)), "fetch workload")
    assert (next(items), heard) == ("a", [(0.5, "fetch workload 1 of 2")])
    assert (list(items), heard[-1]) == (["b"], (1.0, "fetch workload 2 of 2"))


def test_a_part_of_the_work_takes_its_share_of_the_whole() -> None:
    heard: list[float] = []
    part = within(lambda done, _: heard.append(done), 0.5, 0.9)
    part(0.0, "")
    part(1.0, "")
    assert heard == [0.5, 0.9]


def test_a_forecast_of_a_fleet_tells_every_workload_and_never_goes_back(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    heard: list[tuple[float, str]] = []
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW, lambda done, doing: heard.append((done, doing)))
    assert [doing for _, doing in heard] == [
        "fetch workload 1 of 2",
        "fetch workload 2 of 2",
        "forecast series 1 of 2",
        "forecast series 2 of 2",
        "plan",
    ]
    assert all(0 <= before <= after <= 1 for (before, _), (after, _) in pairwise(heard))
