"""A drill of the small fleet of tests, and what it found."""

from collections.abc import Mapping

from jobs.config.reading import read_config
from jobs.drill.drill import drill
from jobs.drill.outcome import Outcome, Promise, Result
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.leases import lease_of
from tests.jobs.world import NOW, World

NOT_NEEDED = [
    ("create", "horizontalpodautoscalers"), ("delete", "horizontalpodautoscalers"), ("get", "secrets"), ("delete", "pods"),
    ("create", "pods/exec"),
]  # fmt: skip


def foreseen(world: World) -> None:
    """Make a plan for every workload."""
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)


def well_granted(world: World) -> None:
    """Take away the rights that no target needs."""
    for verb, plural in NOT_NEEDED:
        world.api.forbid(verb, plural)


def drilled(world: World) -> tuple[Outcome, ...]:
    """The drill as `forecaster check --drill` has it."""
    with world.fleet(rehearse="all") as fleet:
        return drilled_fleet(world, fleet)


def drilled_fleet(world: World, fleet: Fleet) -> tuple[Outcome, ...]:
    """The same of a fleet that is open."""
    config = read_config(world.path)
    return drill(fleet, fleet.members, lambda holder: lease_of(config, world.folder, "drill", holder=holder), NOW)


def of(outcomes: tuple[Outcome, ...], promise: Promise, workload: str = "chat") -> Outcome:
    """The one outcome of a promise on a workload."""
    (found,) = [each for each in outcomes if each.promise is promise and each.workload == workload]
    return found


def failed(outcomes: tuple[Outcome, ...]) -> Mapping[Promise, str]:
    """What failed, with the evidence."""
    return {each.promise: each.evidence for each in outcomes if each.result is Result.FAIL}
