"""Autoscalers that forecast, and the clairvoyant: what a fleet could have run instead, on the same replay.

Each knows no more of a trial's record than its original would; the clairvoyant knows all of it.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from forecaster.models.members.holt_winters import smoothed
from forecaster.series import Floats
from forecaster.simulate.fleet import Policies, replicas_for
from forecaster.simulate.trial import Trial
from forecaster.units import DAY_S, MINUTE_S

_DAY_MIN = DAY_S // MINUTE_S

DYNAMO_TARGET = 0.8
DYNAMO_INTERVAL_MIN = 3
_LEVEL_NOISE, _TREND_NOISE, _MEASURED_NOISE = 1.0, 0.1, 10.0
_FIRST_VARIANCE = 1_000.0

HOLT_WINTERS_TARGET = 0.7
HOLT_WINTERS_INTERVAL_MIN = 10
_HPA_MEMORY_MIN = 5
_SEASON = _DAY_MIN // HOLT_WINTERS_INTERVAL_MIN
_MOST_SEASONS, _LEAST_SEASONS = 4, 2
_GAIN = 0.9
_ROWS = 1_000
"""Forecasts made together: 5 MB of history a thousand."""


def dynamo_like(trial: Trial) -> Policies:
    """As NVIDIA Dynamo's planner with both of its ways: a floor each 180 s for the load forecast for the next 180 s, load above it.

    Of its predictors (constant, ARIMA, Kalman, Prophet) this is the Kalman filter of a level and a trend, with the planner's own
    noise settings, fed with the whole record. Its load-based scaling, which gives up a replica when the others would stay below 80 %
    and moves by one, is an autoscaler at 0.8 that moves as far as it likes: kinder, as is that it is on, which it is not by default;
    alone, the floor never sees a queue that has formed. Source: NVIDIA Dynamo, Planner Guide and Planner Design: throughput- and
    load-based scaling, `load_predictor: kalman`, throughput_adjustment_interval 180, load_scaling_down_sensitivity 80.
    """
    loads = _before(trial, DYNAMO_INTERVAL_MIN).mean(axis=1)
    forecast = kalman_ahead(loads)[-_intervals(trial, DYNAMO_INTERVAL_MIN) :]
    floors = np.maximum(replicas_for(forecast, trial.fleet.replica_rpm), 1.0)
    return _each_interval(trial, DYNAMO_TARGET, floors, DYNAMO_INTERVAL_MIN)


def kalman_ahead(loads: Floats) -> Floats:
    """The load after each of `loads`, forecast from it and those before: a level and a trend that wander, shape (n,).

    Source: Kalman 1960; the local linear trend of Harvey 1989, with variances 1 (level), 0.1 (trend) and 10 (measurement) an interval.
    """
    level, trend = float(loads[0]), 0.0
    p_ll, p_lt, p_tt = _FIRST_VARIANCE, 0.0, _FIRST_VARIANCE
    ahead = np.empty(loads.size)
    for i, load in enumerate(loads.tolist()):
        gain_level, gain_trend = p_ll / (p_ll + _MEASURED_NOISE), p_lt / (p_ll + _MEASURED_NOISE)
        missed = load - level
        level, trend = level + gain_level * missed, trend + gain_trend * missed
        p_tt -= gain_trend * p_lt
        p_ll, p_lt = p_ll * (1 - gain_level), p_lt * (1 - gain_level)
        level += trend
        p_ll, p_lt, p_tt = p_ll + 2 * p_lt + p_tt + _LEVEL_NOISE, p_lt + p_tt, p_tt + _TREND_NOISE
        ahead[i] = level
    return ahead


def holt_winters(trial: Trial) -> Policies:
    """The larger of an autoscaler at 0.7 and of its own replica counts of the past, carried on by Holt-Winters by one interval.

    As the Predictive Horizontal Pod Autoscaler does it with `decisionType: maximum`: a count each 10 minutes (about one lead time, the
    furthest that it looks), a season of a day, the last four of them kept and at least two, gains of 0.9 as in its own example; without
    a trend, which at that gain overshoots. The counts are those of an autoscaler that sees arrivals and the highest of 5 minutes.
    Source: jthomperoo/predictive-horizontal-pod-autoscaler, "Models"; Holt 1957, Winters 1960.
    """
    each, count = HOLT_WINTERS_INTERVAL_MIN, _intervals(trial, HOLT_WINTERS_INTERVAL_MIN)
    busiest = _before(trial, each)[:, -_HPA_MEMORY_MIN:].max(axis=1)
    counts = np.maximum(replicas_for(busiest / HOLT_WINTERS_TARGET, trial.fleet.replica_rpm), 1.0)
    seasons = min(_MOST_SEASONS, (counts.size - count) // _SEASON)
    floors = np.ones(count)
    if seasons >= _LEAST_SEASONS:
        pasts = sliding_window_view(counts, seasons * _SEASON)[-count:]
        floors = np.maximum(np.ceil(np.concatenate([_next(pasts[i : i + _ROWS]) for i in range(0, count, _ROWS)])), 1.0)
    return _each_interval(trial, HOLT_WINTERS_TARGET, floors, each)


def _next(pasts: Floats) -> Floats:
    level, season = smoothed(pasts, _SEASON, _GAIN, _GAIN)
    ahead: Floats = level + season[:, 0]
    return ahead


def clairvoyant_cold_start(trial: Trial) -> Policies:
    """What each minute needs, requested exactly one lead time before: what nobody can undercut without being late.

    What the first minutes need is ready when the trial begins; nothing is needed after its end.
    """
    needed = np.maximum(replicas_for(trial.minutes.rpm[trial.first : trial.last], trial.fleet.replica_rpm), 1.0)
    lead = math.ceil(trial.fleet.lead_min)
    wanted = sliding_window_view(np.concatenate([needed, np.ones(lead)]), lead + 1).max(axis=1)
    return _each_interval(trial, np.inf, wanted, 1, start=wanted[:1])


def _intervals(trial: Trial, each_min: int) -> int:
    """How many intervals of so many minutes, from its start on, a trial takes; the last may be cut."""
    return -(-len(trial) // each_min)


def _before(trial: Trial, each_min: int) -> Floats:
    """The minutes of each interval that has ended by the start of the trial's last one, shape (intervals, minutes).

    They go back as far as whole intervals are recorded, and one more, in which the very first minute stands for those before it.
    """
    first = trial.first
    recorded = trial.minutes.rpm[first % each_min : first + (_intervals(trial, each_min) - 1) * each_min]
    before: Floats = np.concatenate([np.full(each_min, trial.minutes.rpm[0]), recorded]).reshape(-1, each_min)
    return before


def _each_interval(trial: Trial, target: float, floors: Floats, each_min: int, start: Floats | None = None) -> Policies:
    column = np.arange(len(trial), dtype=np.int64) // each_min
    return Policies(targets=np.array([target]), floors=floors[None, :], column=column, start=start)
