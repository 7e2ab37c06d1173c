"""What a backtest comes to for the person who decides: hours, minutes and mornings of each policy, and the frontier."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from forecaster.backtest.comparison import PLAIN_TARGET, as_it_is, ways
from forecaster.backtest.run import Backtest
from forecaster.series import Floats
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from forecaster.simulate.fleet import Ints, Outcome, Policies
from forecaster.simulate.minutes import minute_load
from forecaster.simulate.replay import replay
from forecaster.simulate.trial import Trial
from jobs.proof.cron import Timetable, timetable_of
from jobs.proof.mornings import Morning, missed, mornings

YOURS, OURS_YOURS, RETARGETED, OURS = "hpa_yours", "ours_hpa_yours", "ours_retargeted", "ours"
"""The user's HPA alone, our floors under it, and both with its target moved to the recommended one; and `ours` of the contract."""

HPAS, CRONS, FLOORS = "plain HPA", "KEDA cron", "our floors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one policy over all replayed days.

    late_minutes: those in which more than the limit's share of the arrivals was late. missed: the mornings on which it was so.
    target: of its autoscaler, a share of what a replica carries; None where there is none. wait_s: what WAIT_LEVELS of all requests wait
    at most.
    """

    name: str
    replica_hours: float
    late_ratio: float
    late_minutes: int
    missed: tuple[Morning, ...]
    changes: int
    target: float | None
    wait_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One policy on the frontier; target: of its autoscaler, a share of what a replica carries."""

    replica_hours: float
    late_ratio: float
    target: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstDay:
    """One day of `ours`: the requests that were late, and the UTC hour in which most of them came."""

    index: int
    late: float
    late_ratio: float
    busiest_h: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """A backtest, judged. rows: by policy, those of `hpa_yours` only where an HPA was given. frontier: by kind, dearest first."""

    rows: dict[str, Row]
    mornings: tuple[Morning, ...]
    frontier: dict[str, tuple[Point, ...]]
    cron: Timetable = field(repr=False)
    worst: tuple[WorstDay, ...]


def judge(found: Backtest, theirs: Hpa | None = None) -> Judged:
    """Replay everything that was compared once more, by the minute; theirs: the HPA that stands there today."""
    trial = trial_of(found)
    named, frontier, cron = dict[str, Policies](), dict[str, tuple[Point, ...]](), Timetable(minimum=1, windows=())
    for name, policies in ways(trial).items():
        outcome = trial.outcome(policies)
        row = trial.cheapest(outcome)
        named[name] = policies.only(row)
        if name == "hpa_best":
            frontier[HPAS] = tuple(_points(policies, outcome))
        if name == "keda_cron_best":
            frontier[CRONS] = tuple(_undercut_by_none(_points(policies, outcome)))
            cron = timetable_of(trial, policies, row)
    named |= _with_floors(trial, found, theirs)
    sweep = _under(trial, found, np.array(found.settings.targets))
    frontier[FLOORS] = tuple(_points(sweep, trial.outcome(sweep)))
    rises = mornings(trial)
    rows = {name: _row(name, policies, trial, rises) for name, policies in named.items()}
    return Judged(rows=rows, mornings=rises, frontier=frontier, cron=cron, worst=_worst(trial, named[OURS]))


def trial_of(found: Backtest) -> Trial:
    """The days that a backtest replayed, with its fleet."""
    minutes = minute_load(found.trace)
    limit = found.settings.late_limit_ratio
    return Trial(minutes=minutes, start=found.first_origin, end=minutes.end, fleet=found.fleet, late_limit_ratio=limit)


def _with_floors(trial: Trial, found: Backtest, theirs: Hpa | None) -> dict[str, Policies]:
    recommended = np.array([found.points[0].target])
    plain = _under(trial, found, np.array([PLAIN_TARGET]))
    contract = {f"ours_hpa_{PLAIN_TARGET:g}": plain, OURS: _under(trial, found, recommended)}
    if theirs is None:
        return contract
    return {
        YOURS: as_it_is(theirs, len(trial)),
        OURS_YOURS: _under(trial, found, np.array([theirs.target]), theirs.behavior),
        RETARGETED: _under(trial, found, recommended, theirs.behavior),
        **contract,
    }


def _under(trial: Trial, found: Backtest, targets: Floats, behavior: HpaBehavior | None = None) -> Policies:
    """Our floors under an autoscaler at each of the targets."""
    floors = np.tile(found.floors.astype(np.float64), (targets.size, 1))
    return Policies(targets=targets, floors=floors, column=trial.steps(found.floor_step_s), behavior=behavior)


def _points(policies: Policies, outcome: Outcome) -> Iterator[Point]:
    for target, hours, late in zip(policies.targets, outcome.replica_hours, outcome.late_ratio, strict=True):
        yield Point(replica_hours=float(hours), late_ratio=float(late), target=float(target))


def _undercut_by_none(points: Iterator[Point]) -> Iterator[Point]:
    """Those than which none is at once as cheap and less late, the cheapest first."""
    least = np.inf
    for point in sorted(points, key=lambda one: (one.replica_hours, one.late_ratio)):
        if point.late_ratio < least:
            least = point.late_ratio
            yield point


def _row(name: str, policies: Policies, trial: Trial, rises: tuple[Morning, ...]) -> Row:
    outcome = _by_minute(trial, policies)
    late, arrivals, limit = outcome.late[0], outcome.arrivals, trial.late_limit_ratio
    return Row(
        name=name,
        replica_hours=float(outcome.replica_hours[0]),
        late_ratio=float(outcome.late_ratio[0]),
        late_minutes=int((late > limit * arrivals).sum()),
        missed=missed(rises, late, arrivals, limit),
        changes=int(outcome.changes.sum()),
        target=float(policies.targets[0]) if np.isfinite(policies.targets[0]) else None,
        wait_s=() if outcome.wait_s is None else tuple(float(wait) for wait in outcome.wait_s[0]),
    )


def _by_minute(trial: Trial, policies: Policies) -> Outcome:
    traffic = trial.minutes.traffic(trial.start, trial.end)
    edges: Ints = np.arange(len(trial) + 1, dtype=np.int64)
    return replay(replace(traffic, edges=edges), policies, trial.fleet, waits=True)


_WORST_DAYS = 5
_DAY_MIN, _HOUR_MIN = 1_440, 60


def _worst(trial: Trial, policies: Policies) -> tuple[WorstDay, ...]:
    outcome = _by_minute(trial, policies)
    late, arrivals = (np.pad(a, (0, -a.size % _DAY_MIN)).reshape(-1, _DAY_MIN) for a in (outcome.late[0], outcome.arrivals))
    by_day = late.sum(axis=1)
    worst = [int(i) for i in np.argsort(-by_day, kind="stable")[:_WORST_DAYS] if by_day[i] > 0]
    return tuple(
        WorstDay(
            index=i,
            late=float(by_day[i]),
            late_ratio=float(by_day[i] / arrivals[i].sum()),
            busiest_h=int(late[i].reshape(-1, _HOUR_MIN).sum(axis=1).argmax()),
        )
        for i in worst
    )
