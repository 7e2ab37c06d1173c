"""What the floors are worth: a fleet under them and a HPA at our target, against the plain HPA whose target is chosen in hindsight.

Each trace is backtested under the contract of `forecaster backtest`. The rival is the cheapest plain HPA that is late no more often than
ours, of all targets from 0.1 to 1 in steps of 0.01; where no target is as timely as ours it is the least late one, whatever it costs.
Lateness of 0.05 % and less is no difference: both are on time.

| figure                   | is                                                                                    |
|--------------------------|---------------------------------------------------------------------------------------|
| ratio                    | our replica-hours over the rival's                                                    |
| share of the gap closed  | (rival's - ours) / (rival's - those of a fleet that knows each minute, no cold start) |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time

import numpy as np

from benchmarks.accuracy.generated import generated
from benchmarks.accuracy.judged import geometric_mean
from benchmarks.accuracy.recordings import traces
from benchmarks.accuracy.rolling import processes
from benchmarks.figures import Figure, Table
from forecaster.backtest.run import backtest
from forecaster.backtest.settings import Settings
from forecaster.series import Floats, Series
from forecaster.simulate.baselines import hpa
from forecaster.simulate.fleet import Outcome
from forecaster.simulate.minutes import minute_load
from forecaster.simulate.trial import Trial
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S
from jobs.backtest import CONTRACT_POLICY

TARGETS: Floats = np.arange(10, 101) / 100
ON_TIME_RATIO = 0.0005
_LATE_LIMIT_RATIO = 0.001
_RATIO_GOAL, _LARGEST_GOAL, _GAP_GOAL, _LATE_GOAL_PERCENT = 0.70, 1.02, 0.50, 0.1
_RATIO = "the decision: replica-hours / best plain HPA in hindsight"
_OURS = "ours"
_NO_SUCH_TRACE = "no plain HPA is in time on any trace here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one policy did on a trace. changes: of the fleet wanted, a day."""

    late_ratio: float
    replica_hours: float
    changes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """The plain HPA that ours is judged against."""

    target: float
    late_ratio: float
    replica_hours: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Our floors on one trace, beside everything else that a person could have set up.

    least_late_ratio: of all plain HPAs. target, levels: what was recommended, the level of each day. spent_s: CPU seconds of the
    backtest alone.
    """

    name: str
    ran: Mapping[str, Ran] = field(repr=False)
    rival: Rival
    least_late_ratio: float
    clairvoyant_hours: float
    target: float
    levels: tuple[float, ...] = field(repr=False)
    spent_s: float

    @property
    def ours(self) -> Ran:
        """The fleet under our floors and our target."""
        return self.ran[_OURS]

    @property
    def ratio(self) -> float:
        """Our replica-hours over the rival's."""
        return self.ours.replica_hours / self.rival.replica_hours

    @property
    def gap_closed(self) -> float:
        """NaN where the rival pays no more than who knows each minute: it is late instead, and there is no gap."""
        gap = self.rival.replica_hours - self.clairvoyant_hours
        return (self.rival.replica_hours - self.ours.replica_hours) / gap if gap > 0 else np.nan


def figures() -> Iterator[Figure | Table]:
    """The rows with goals, over recorded traces; those of generated ones for the record; a line a trace, and a table each."""
    real, made = traces(), tuple((one.name, counted(one.series)) for one in generated())
    longest_first = sorted((*real, *made), key=lambda one: one[1].start - one[1].end)
    with processes() as pool:
        waiting = {name: pool.submit(judged, name, trace) for name, trace in longest_first}
        found = {name: future.result() for name, future in waiting.items()}
    recorded, invented = ([found[name] for name, _ in some] for some in (real, made))
    yield from summed_up(recorded)
    yield from for_the_record(invented, "12 generated traces")
    yield Figure(name="the decision: slowest backtest of them", value=max(one.spent_s for one in found.values()), unit="CPU-s")
    yield trace_by_trace((*recorded, *invented))
    yield from map(policies, (*recorded, *invented))


def judged(name: str, trace: Trace) -> Verdict:
    """One trace, backtested under the contract."""
    begun = process_time()
    found = backtest(trace, CONTRACT_POLICY, Settings())
    spent_s = process_time() - begun
    minutes = minute_load(trace)
    trial = Trial(minutes=minutes, start=found.first_origin, end=minutes.end, fleet=found.fleet, late_limit_ratio=_LATE_LIMIT_RATIO)
    plain, days = trial.outcome(hpa(TARGETS, len(trial))), len(trial) * MINUTE_S / DAY_S
    return Verdict(
        name=name,
        ran={policy: _ran(outcome, days) for policy, outcome in found.outcomes.items()},
        rival=rival_of(float(found.outcomes[_OURS].late_ratio[0]), plain),
        least_late_ratio=float(plain.late_ratio.min()),
        clairvoyant_hours=found.clairvoyant_hours,
        target=found.points[0].target,
        levels=tuple(point.level for point in found.points),
        spent_s=spent_s,
    )


def counted(series: Series) -> Trace:
    """A load as the trace that it would be recorded as: requests a bucket."""
    return Trace(start=series.start, bucket_s=series.step_s, counts=series.mean * (series.step_s / MINUTE_S))


def rival_of(late_ratio: float, plain: Outcome) -> Rival:
    """The cheapest of TARGETS that is late no more often, or the least late one, the cheapest of several such."""
    limit = max(late_ratio, ON_TIME_RATIO, float(plain.late_ratio.min()))
    row = int(np.argmin(np.where(plain.late_ratio <= limit, plain.replica_hours, np.inf)))
    return Rival(target=float(TARGETS[row]), late_ratio=float(plain.late_ratio[row]), replica_hours=float(plain.replica_hours[row]))


def summed_up(found: Sequence[Verdict]) -> Iterator[Figure]:
    """The rows that have goals."""
    ratios = [one.ratio for one in found]
    yield _figure(f"{_RATIO}, geometric mean over recorded traces", geometric_mean(ratios), goal=_RATIO_GOAL)
    yield _figure(f"{_RATIO}, largest of them", max(ratios), goal=_LARGEST_GOAL)
    name = "the decision: share of the gap to the clairvoyant closed, mean"
    yield Figure(name=name, value=_mean(one.gap_closed for one in found), unit="", goal=_GAP_GOAL, better="higher")
    late = [100 * one.ours.late_ratio for one in found if one.least_late_ratio <= _LATE_LIMIT_RATIO]
    name, note = "the decision: late, the worst of the traces that a plain HPA can serve in time", "" if late else _NO_SUCH_TRACE
    yield Figure(name=name, value=max(late, default=None), unit="%", goal=_LATE_GOAL_PERCENT, note=note)
    in_time = [percent <= _LATE_GOAL_PERCENT for percent in late]
    name = "the decision: share of these traces that ours serves in time"
    yield Figure(name=name, value=_mean(in_time), unit="", better="higher", note=note)


def for_the_record(found: Sequence[Verdict], group: str) -> Iterator[Figure]:
    """The same of traces that nothing is promised of."""
    ratios = [one.ratio for one in found]
    yield _figure(f"{_RATIO}, geometric mean over {group}", geometric_mean(ratios))
    yield _figure(f"{_RATIO}, largest of {group}", max(ratios))
    name = f"the decision: share of the gap to the clairvoyant closed, mean, {group}"
    yield Figure(name=name, value=_mean(one.gap_closed for one in found), unit="", better="higher")


def trace_by_trace(found: Iterable[Verdict]) -> Table:
    """A line a trace."""
    header = ("trace", "days", "late", "rival at", "its late", "least of any", "ratio", "gap closed", "our target", "levels", "backtest")
    return Table(title="Ours against the best plain HPA in hindsight, trace by trace", header=header, rows=tuple(map(_line, found)))


def policies(verdict: Verdict) -> Table:
    """A line a policy, side by side."""
    rows = [
        (name, f"{ran.late_ratio:.3%}", f"{ran.replica_hours / verdict.clairvoyant_hours:.3f}", f"{ran.changes:.0f}")
        for name, ran in verdict.ran.items()
    ]
    return Table(title=verdict.name, header=("policy", "late", "hours / clairvoyant", "changes a day"), rows=tuple(rows))


def _line(one: Verdict) -> tuple[str, ...]:
    return (
        one.name,
        f"{len(one.levels)}",
        f"{one.ours.late_ratio:.3%}",
        f"{one.rival.target:.2f}",
        f"{one.rival.late_ratio:.3%}",
        f"{one.least_late_ratio:.3%}",
        f"{one.ratio:.3f}",
        "" if np.isnan(one.gap_closed) else f"{one.gap_closed:.2f}",
        f"{one.target:g}",
        f"{min(one.levels):g} to {max(one.levels):g}",
        f"{one.spent_s:.0f} CPU-s",
    )


def _ran(outcome: Outcome, days: float) -> Ran:
    return Ran(
        late_ratio=float(outcome.late_ratio[0]),
        replica_hours=float(outcome.replica_hours[0]),
        changes=float(outcome.changes[0].sum()) / days,
    )


def _figure(name: str, value: float | None, *, goal: float | None = None) -> Figure:
    return Figure(name=name, value=value, unit="x", goal=goal)


def _mean(values: Iterable[float]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else None


if __name__ == "__main__":
    for what in figures():
        print(what if isinstance(what, Table) else what.line, flush=True)
        print()
