"""What `check` finds in a world."""

from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.jobs.world import NOW, World


def found(world: World, what: str, where: str = "") -> Finding:
    (finding,) = [one for one in check_all(world.path, NOW) if one.what == what and where in one.where]
    return finding


def states(world: World) -> dict[State, int]:
    findings = check_all(world.path, NOW)
    return {state: sum(one.state is state for one in findings) for state in State}
