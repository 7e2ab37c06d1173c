"""A whole backtest: rolling origins, the operating point, the floors, the replay, the scores."""

import math
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from forecaster.backtest.accuracy import Accuracy, Peak, accuracy, peaks_of
from forecaster.backtest.comparison import others, ours
from forecaster.backtest.floors import Day, Line, floor_step_s, line_of
from forecaster.backtest.operating_point import Candidates, OperatingPoint, operating_points
from forecaster.backtest.origins import early_origins, first_origin, origins
from forecaster.backtest.rolling import forecasts
from forecaster.backtest.settings import Progress, Settings, silent
from forecaster.errors import TraceRejected
from forecaster.forecast import Forecast
from forecaster.series import Series
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from forecaster.simulate.fleet import Fleet, Ints, Outcome
from forecaster.simulate.minutes import MinuteLoad, known_until, minute_load
from forecaster.simulate.replay import clairvoyant_hours
from forecaster.simulate.trial import Trial
from forecaster.trace import Trace
from forecaster.units import MINUTE_S, iso
from forecaster.workload import Policy

_PEAK_REPLICAS = 30
_PEAK_LEVEL = 0.999
_LIVE_AT, _FLOORS_AT, _REPLAY_AT, _COMPARE_AT = 0.2, 0.35, 0.75, 0.85  # shares of the work done, by its time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backtest:
    """What a backtest found.

    forecasts, peaks, points: one an origin, the first at `first_origin`. floors: one each `floor_step_s` from there to the trace's end,
    each in force from then on. outcomes: by policy, one row each, one part a UTC day. clairvoyant_hours: replica-hours of a
    fleet that knows each minute and has no cold start.
    """

    trace: Trace
    settings: Settings
    fleet: Fleet
    forecasts: tuple[Forecast, ...] = field(repr=False)
    peaks: tuple[Peak, ...] = field(repr=False)
    points: tuple[OperatingPoint, ...]
    floors: Ints = field(repr=False)
    outcomes: dict[str, Outcome] = field(repr=False)
    clairvoyant_hours: float
    accuracy: Accuracy

    @property
    def floor_step_s(self) -> int:
        """How long each of the floors is in force."""
        return floor_step_s(self.forecasts[0].step_s)

    @property
    def first_origin(self) -> datetime:
        """Where forecasts, floors and the replay begin."""
        return self.forecasts[0].issued_at


def backtest(trace: Trace, policy: Policy, settings: Settings, progress: Progress = silent, *, theirs: Hpa | None = None) -> Backtest:
    """Forecast, plan, correct, guard and replay a trace as the contract of `forecaster backtest` has it.

    Nothing after an origin is looked at, save by the policies that are named best in hindsight; live correction sees buckets
    that have ended. theirs: the user's own HPA, under which the pair is then chosen. `policy.level` is used only where no day before
    the first origin could be replayed. Raises TraceRejected when the trace is too short or too empty.
    """
    series = trace.series()
    first, minutes = first_origin(trace, series), minute_load(trace)
    fleet = Fleet(replica_rpm=settings.replica_rpm or replica_rpm(minutes, first), lead_min=math.ceil(settings.lead_time_s / MINUTE_S))
    trial = Trial(minutes=minutes, start=first, end=minutes.end, fleet=fleet, late_limit_ratio=settings.late_limit_ratio)
    scored = origins(first, trace.end)
    issued = _forecasts(series, (*early_origins(series, first), *scored), settings, progress)
    line = line_of(policy, fleet.replica_rpm, settings.lead_time_s)
    progress(_LIVE_AT, "live load")
    days = line.days(issued, series)
    candidates = _candidates(line, days, settings, progress, theirs.behavior if theirs is not None else None)
    progress(_REPLAY_AT, "operating point")
    known = [known_until(trace, origin) for origin in scored]
    points = operating_points(trial, candidates, settings, known, policy.level)
    floors = line.floors(days[-len(scored) :], [point.level for point in points])
    progress(_COMPARE_AT, "the other policies")
    of_scored = issued[-len(scored) :]
    peaks = peaks_of(series, of_scored)
    return Backtest(
        trace=trace,
        settings=settings,
        fleet=fleet,
        forecasts=of_scored,
        peaks=peaks,
        points=points,
        floors=floors,
        outcomes={**others(trial, theirs), **ours(trial, floors, candidates.step_s, points[0].target, theirs)},
        clairvoyant_hours=clairvoyant_hours(minutes.rpm[trial.first :], fleet),
        accuracy=accuracy(series, of_scored, peaks),
    )


def replica_rpm(minutes: MinuteLoad, first: datetime) -> float:
    """What one replica serves: the 99.9th percentile of the minutes before the first origin, over 30.

    Raises TraceRejected when that is nothing.
    """
    busiest = float(np.quantile(minutes.rpm[: minutes.index(first)], _PEAK_LEVEL))
    if busiest <= 0:
        msg = f"999 in 1,000 minutes before {iso(first)} had no request, so no replica can be sized: start it where the traffic starts"
        raise TraceRejected(msg)
    return busiest / _PEAK_REPLICAS


def _forecasts(series: Series, origins: tuple[datetime, ...], settings: Settings, progress: Progress) -> tuple[Forecast, ...]:
    issued = []
    for i, forecast in enumerate(forecasts(series, origins, settings)):
        progress(_LIVE_AT * i / len(origins), f"forecast for {forecast.issued_at:%Y-%m-%d}")
        issued.append(forecast)
    return tuple(issued)


def _candidates(line: Line, days: tuple[Day, ...], settings: Settings, progress: Progress, behavior: HpaBehavior | None) -> Candidates:
    """The floors that each candidate level would have set, day after day."""
    floors = []
    for i, level in enumerate(settings.levels):
        progress(_FLOORS_AT + (_REPLAY_AT - _FLOORS_AT) * i / len(settings.levels), f"floors at level {level:g}")
        floors.append(line.floors(days, [level] * len(days)))
    step_s = floor_step_s(days[0].forecast.step_s)
    return Candidates(start=days[0].issued_at, step_s=step_s, levels=settings.levels, floors=np.stack(floors), behavior=behavior)
