"""How far a forecast may be believed, by how the earlier ones did: below the gate, plans do not rest on it.

| what earlier forecasts did                                           | verdict  | plans rest on                       |
|----------------------------------------------------------------------|----------|-------------------------------------|
| score at or above the gate, or too few days were scored to say       | trusted  | the forecast                        |
| score below the gate                                                 | naive    | the load at the same time earlier   |
| whichever of the two is left follows no cycle and spreads widely     | reactive | the base load; live load does more  |

score = skill x coverage x drift, each from 0 to 1:
skill = 1.5 - pinball / naive pinball: 1 at half of the naive loss or less, 0.5 where both lose alike, 0 at half as much again;
coverage: 1 where at least 90 % of the load lay at or below P95, 0 at 60 % and below, a line between;
drift: 1 while the last days lay within a factor of 1.5 of the median, 0 from a factor of 3 on, a line in the logarithm between.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from forecaster.forecast import Forecast, TrackRecord
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Signal
from forecaster.units import DAY_S, WEEK_S, check_not_negative

_COVERED = (0.6, 0.9)
_DRIFTED = (math.log(1.5), math.log(3.0))
_RETURN_MARGIN = 0.1
"""A forecast that was distrusted is trusted again this far above the gate, so that a score near it does not flap."""
_NEGLIGIBLE_RATIO = 0.01
"""A loss below this share of the median load is no reason for distrust, whatever the naive one's: constant load is easy to both."""
_NO_DRIFT_RATIO = 0.005  # less would read as +0% or -0%
_NO_CYCLE, _CYCLE_AGAIN = 0.1, 0.2
"""A cycle that takes away less of the level's error than this is none; one that was none must take away twice that to be one."""
_WIDE_RATIO, _WIDE_STILL_RATIO = 2.0, 1.6
"""A standing floor at P95 of more than this many medians pays for replicas that mostly wait; the lower one holds once it was so."""
_BASE_QUANTILE = 0.1
_BASE_LEAST_RATIO = 0.01
"""Of the mean load: enough for one replica where there is any traffic, so that distrust takes nothing to zero."""


class Verdict(StrEnum):
    """What plans rest on: the forecast, the load at the same time earlier, or the base load alone."""

    TRUSTED = "trusted"
    NAIVE = "naive"
    REACTIVE = "reactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """From which score on a forecast is planned from; 0 = every forecast is. days: fewer scored ones say nothing."""

    score: float = 0.4
    days: int = 3

    def __post_init__(self) -> None:
        check_not_negative("trust.gate", self.score, "")
        check_not_negative("trust.days", self.days, "days")
        if self.score > 1:
            msg = f"trust.gate must lie between 0 and 1, got {self.score:g}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What is thought of one signal's forecast. None = not known, which is no distrust.

    score: 0..1. pinball_ratio: our loss over the naive one's. coverage: share of the load at or below P95. drift_log: mean of
    log(actual / median) lately. cycle_ratio: how much closer than its level a cycle comes to the load, known where it was asked.
    reason: None where there is nothing to say.
    """

    signal: Signal
    verdict: Verdict
    score: float | None
    pinball_ratio: float | None
    coverage: float | None
    drift_log: float | None
    sentence: str
    cycle_ratio: float | None = None
    reason: Reason | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the verdict is one: a forecast that was scored too little is trusted for want of a reason against it."""
        return self.score is not None or self.verdict is not Verdict.TRUSTED


def trust(forecast: Forecast, gate: Gate, last: Verdict | None) -> Trust:
    """TRUSTED or NAIVE by the forecast's record. last: the verdict on the forecast before, None = there was none."""
    record, signal = forecast.record, forecast.signal
    if record is None or record.days == 0 or not math.isfinite(record.pinball + record.naive_pinball):
        return _unjudged(signal)
    scored = _scored(signal, record, float(forecast.at_level(0.5).mean()))
    if record.days < gate.days:  # the score of a day or two is chance, and would read as a verdict
        told = f"{signal}: not judged yet {scored.sentence}; {gate.days} scored days are needed"
        return replace(scored, score=None, sentence=told, reason=Reason(code=Code.TRUST_YOUNG, detail=told))
    judged = replace(scored, sentence=f"{signal}: trust {scored.score:.2f} {scored.sentence}")
    doubted = last is not None and last is not Verdict.TRUSTED
    needed = min(gate.score + (_RETURN_MARGIN if doubted else 0.0), 1.0)
    if gate.score == 0 or judged.score is None or judged.score >= needed:
        return judged
    told = f"{judged.sentence}; below {needed:g}, so plans rest on the load at the same time earlier"
    return replace(judged, verdict=Verdict.NAIVE, sentence=told, reason=Reason(code=Code.TRUST_NAIVE, detail=told))


def spread_ratio(forecast: Forecast) -> float:
    """P95 over the median, both summed over the next day: infinite where the median is nothing, 1 where both are."""
    day = max(1, DAY_S // forecast.step_s)
    upper, median = (float(forecast.at_level(level)[:day].sum()) for level in (0.95, 0.5))
    if median > 0:
        return upper / median
    return math.inf if upper > 0 else 1.0


def is_wide(forecast: Forecast, last: Verdict | None) -> bool:
    """Whether a floor at P95 would mostly stand idle, unless a cycle says when it will not."""
    return spread_ratio(forecast) > (_WIDE_STILL_RATIO if last is Verdict.REACTIVE else _WIDE_RATIO)


def reactive(found: Trust, cycle_ratio: float | None, last: Verdict | None) -> Trust:
    """The same of a widely spread forecast once its cycle is known: REACTIVE without one. A cycle that is not known is no reason."""
    asked = replace(found, cycle_ratio=cycle_ratio)
    if cycle_ratio is None or cycle_ratio >= (_CYCLE_AGAIN if last is Verdict.REACTIVE else _NO_CYCLE):
        return asked
    told = (
        f"{found.signal} follows no daily or weekly cycle (the same hour of earlier days comes {max(cycle_ratio, 0):.0%} closer than its "
        "level) and spreads widely: plans hold its base load, windows and min, and live load does the rest"
    )
    return replace(asked, verdict=Verdict.REACTIVE, sentence=told, reason=Reason(code=Code.TRUST_REACTIVE, detail=told))


def base_forecast(forecast: Forecast, history: Series) -> Forecast:
    """The load that is nearly always there, P10 of the last week's buckets, at every step and level of the forecast's grid.

    Where there was any traffic it is above zero. A history without a measurement gives no load.
    """
    week = history.mean[-max(1, WEEK_S // history.step_s) :]
    loads = week[~np.isnan(week)]
    base = max(float(np.quantile(loads, _BASE_QUANTILE)), _BASE_LEAST_RATIO * float(loads.mean())) if loads.size else 0.0
    flat = np.full_like(forecast.values, base)
    return replace(forecast, values=flat, window_max=flat, daily_peaks=(), model="base_load", members=(), nowcast=None)


def _unjudged(signal: Signal) -> Trust:
    told = f"{signal}: not judged yet, no forecast was scored, so nothing speaks against it"
    return Trust(
        signal=signal,
        verdict=Verdict.TRUSTED,
        score=None,
        pinball_ratio=None,
        coverage=None,
        drift_log=None,
        sentence=told,
        reason=Reason(code=Code.TRUST_YOUNG, detail=told),
    )


def _scored(signal: Signal, record: TrackRecord, load: float) -> Trust:
    """Score and parts of a record, trusted, with what its days showed for a sentence; load: the mean of the median forecast."""
    ratio = record.pinball / record.naive_pinball if record.naive_pinball > 0 else math.inf if record.pinball > 0 else 1.0
    negligible = record.pinball <= _NEGLIGIBLE_RATIO * load
    skill = 1.0 if negligible else min(1.0, max(0.0, 1.5 - ratio))
    coverage = record.coverage if math.isfinite(record.coverage) else None
    drift = record.drift_log if math.isfinite(record.drift_log) else None
    parts = [_loss_words(ratio, negligible=negligible)]
    parts += [f"P95 covered {coverage:.0%}"] if coverage is not None else []
    parts += [_drift_words(drift)] if drift is not None else []
    score = skill * (1.0 if coverage is None else _between(coverage, *_COVERED)) * (1.0 if drift is None else _steady(drift))
    return Trust(
        signal=signal,
        verdict=Verdict.TRUSTED,
        score=score,
        pinball_ratio=ratio if math.isfinite(ratio) else None,
        coverage=coverage,
        drift_log=drift,
        sentence=f"after {record.days} scored day{'s' * (record.days != 1)}: {', '.join(parts)}",
    )


def _loss_words(ratio: float, *, negligible: bool) -> str:
    if math.isfinite(ratio):
        return f"loss {ratio:.2f} x that of the same time earlier"
    return f"a loss under {_NEGLIGIBLE_RATIO:.0%} of the load" if negligible else "a loss where the same time earlier had none"


def _drift_words(drift_log: float) -> str:
    off = math.expm1(drift_log)
    return f"load {off:+.0%} off the median lately" if abs(off) >= _NO_DRIFT_RATIO else "no drift lately"


def _between(value: float, low: float, high: float) -> float:
    """0 up to low, 1 from high on, a line between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _steady(drift_log: float) -> float:
    return 1.0 - _between(abs(drift_log), *_DRIFTED)
