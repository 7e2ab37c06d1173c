"""What a pool lacks, and what another pool makes up for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forecaster.decision import Decision, Seen
from forecaster.overdue import Overdue, StandIn, stand_in
from forecaster.workload import Pool, Workload


def overdue_in(pool: Pool, looks: Sequence[tuple[Seen, Overdue | None]]) -> Overdue | None:
    """The most that is overdue of a pool's replicas, of its nodes where it has nothing else; None where nothing is.

    looks: what was seen of its targets. Replicas do not tell why: what is said of the nodes under them is why.
    """
    counted = set(pool.targets) - set(pool.nodes) or set(pool.targets)
    late = max((late for seen, late in looks if late is not None and seen.target in counted), key=lambda each: each.replicas, default=None)
    why = next((seen.shortage for seen, _ in looks if seen.shortage is not None), None)
    return late if late is None or late.shortage is not None else replace(late, shortage=why)


def missing_of(pool: Pool, late: Overdue | None, decided: Sequence[Decision]) -> int:
    """Replicas of an always-on pool that do not carry what they were to: overdue ones, or those that a pause or a ceiling keeps away.

    late: what is overdue of them. decided: what was just decided for its targets; one that could not be seen says nothing.
    """
    floors = [decision.floor for decision in decided if decision.target not in pool.nodes or set(pool.targets) == set(pool.nodes)]
    held_back = pool.always_on - min(floors, default=pool.always_on)
    return max(0, held_back, 0 if late is None else late.replicas)


def stands_in(workload: Workload, pool: Pool, short: Mapping[str, Overdue]) -> StandIn | None:
    """What a pool makes up for in the one that it stands in for. short: what is overdue, by pool.

    Nothing for a pool that it comes after: what that one lacks is not taken off its load in the first place (`sized`).
    """
    found = None if pool.stands_in_for in pool.after else short.get(pool.stands_in_for or "")
    other = next((each for each in workload.pools if each.name == pool.stands_in_for), None)
    ratio = pool.capacity.over(other.capacity) if other is not None else None
    return stand_in(other.name, found, ratio) if other is not None and found is not None and ratio is not None else None
