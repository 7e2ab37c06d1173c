"""Operating points in words, in tables and for programs."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from forecaster.recommendation import Grid, Recommendation, Tried
from jobs.cli.show import Cell, Table
from jobs.fleet import Member
from jobs.recommendations import pair_json

if TYPE_CHECKING:
    from jobs.operating_point import Chosen

_AROUND = 4


def point_lines(pool: str, point: Recommendation) -> Iterator[str]:
    """What is recommended for a pool, what that rests on, and how it is set: a line each."""
    yield f"{pool}: {point.told}"
    yield f"as it is: {point.aim}; the level is ours to set, the target is yours:"
    yield point.remedy


def member_lines(member: Member) -> list[str]:
    """The same for each pool of a workload that has a recommendation."""
    return [line for pool, point in member.points.items() for line in point_lines(pool, point)]


def points_json(points: Mapping[str, Recommendation]) -> dict[str, object]:
    """The recommendations of a workload, by pool."""
    return {pool: point_json(point) for pool, point in points.items()}


def point_json(point: Recommendation) -> dict[str, object]:
    """One recommendation."""
    return {
        "chosen_at": point.at,
        "since": point.since,
        "replayed_from": point.covers.start,
        "replayed_until": point.covers.end,
        "days": point.days,
        "late_limit_ratio": point.late_limit_ratio,
        "price_of_late_minute": point.price,
        "in_time": point.in_time,
        "recommended": pair_json(point.pair),
        "as_it_is": pair_json(point.as_it_is),
        "level_now": point.level,
        "least_late_ratio": point.least_late_ratio,
        "saved_ratio": point.saved_ratio,
        "as_it_is_known_from": point.aim,
        "how_to_set_target": point.remedy,
        "sentence": point.told,
    }


def chosen_json(chosen: "Chosen") -> dict[str, object]:
    """One pool that was chosen for, with its frontier."""
    workload, pool = chosen.name
    found = None if chosen.made is None else point_json(chosen.made)
    frontier = [] if chosen.grid is None else [pair_json(pair) for pair in chosen.grid.frontier()]
    return {"workload": workload, "pool": pool, "missing": chosen.looked.missing or None, "operating_point": found, "frontier": frontier}


def frontier_table(name: str, made: Recommendation, grid: Grid) -> Table:
    """The recommended pair among those than which none is as cheap and less late, and the pair as it is."""
    rows = tuple(_row(pair, made) for pair in _around(made, grid))
    columns = ("level", "HPA target", "replica-hours", "late", "")
    return Table(title=f"{name}: what {grid.days} days would have cost", columns=columns, rows=rows)


def _around(made: Recommendation, grid: Grid) -> list[Tried]:
    """The nearest of the frontier on both sides of the recommended pair, that one and the one as it is, the cheapest first."""
    frontier = sorted({*grid.frontier(), made.pair}, key=_dearness)
    at = frontier.index(made.pair)
    near = {*frontier[max(0, at - _AROUND) : at + _AROUND + 1], made.as_it_is}
    return sorted(near, key=_dearness)


def _dearness(pair: Tried) -> tuple[float, float]:
    return pair.replica_hours, pair.late_ratio


def _row(pair: Tried, made: Recommendation) -> tuple[object, ...]:
    said = [word for word, of in (("recommended", made.pair), ("as it is", made.as_it_is)) if pair == of]
    return (
        Cell(value=pair.level, words=f"P{pair.level * 100:g}"),
        Cell(value=pair.target, words=f"{pair.target:.0%}"),
        Cell(value=pair.replica_hours, words=f"{pair.replica_hours:,.1f}"),
        Cell(value=pair.late_ratio, words=f"{pair.late_ratio * 100:.3f} %"),
        ", ".join(said) or None,
    )
