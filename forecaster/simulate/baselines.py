"""What a fleet does without Forecaster: the policies to be beaten, on the same replay.

Each knows no more of a trial's record than its original would, save those that are chosen in hindsight, whose candidates these are.
"""

from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from forecaster.series import Floats
from forecaster.simulate.fleet import Ints, Policies, replicas_for
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, WEEK_S

_HOUR_MIN = HOUR_S // MINUTE_S
_DAY_MIN = DAY_S // MINUTE_S
_WEEK_MIN = WEEK_S // MINUTE_S
_HOURS = 24
_SATURDAY = 5

STATIC_DAYS = 14
LAST_WEEK_TARGET = 0.8
_LAST_WEEK_AHEAD_MIN = 30

AWS_TARGET = 0.7
_AWS_DAYS = 14
_AWS_BUFFER_MIN = 5

_HPA_TARGETS = np.arange(2, 21) / 20
"""0.1 to 1.0: whatever a person would set."""

_CRON_STARTS_H = range(0, 24, 2)
_CRON_LENGTHS_H = (6, 9, 12, 15, 18)
_CRON_NEED_LEVELS = (0.5, 0.75, 0.9, 0.97, 1.0)
_CRON_TARGETS = (0.5, 0.6, 0.7, 0.8, 0.9)


def hpa(targets: Floats, minutes: int) -> Policies:
    """A plain autoscaler without a floor for each target, over so many minutes."""
    return Policies(targets=targets, floors=np.ones((targets.size, 1)), column=np.zeros(minutes, dtype=np.int64))


def hpa_candidates(minutes: int) -> Policies:
    """Every target that a person would try."""
    return hpa(_HPA_TARGETS, minutes)


def static(trial: Trial) -> Policies:
    """A fixed fleet, ready from the first minute, for the largest minute of the 14 days before the trial."""
    first = trial.first
    largest = trial.minutes.rpm[max(0, first - STATIC_DAYS * _DAY_MIN) : first].max(keepdims=True)
    replicas = np.maximum(replicas_for(largest, trial.fleet.replica_rpm), 1.0)
    return Policies(targets=np.array([np.inf]), floors=replicas[None, :], column=np.zeros(len(trial), dtype=np.int64), start=replicas)


def last_week(trial: Trial) -> Policies:
    """An autoscaler at 0.8 over the largest minute of [t - 7 days, t - 7 days + 30 minutes], no floor where that was not recorded."""
    minutes, first, last = trial.minutes, trial.first, trial.last
    recorded = np.concatenate([np.zeros(_WEEK_MIN), minutes.rpm])
    ahead = sliding_window_view(recorded, _LAST_WEEK_AHEAD_MIN + 1)[first:last].max(axis=1)
    return _every_minute(LAST_WEEK_TARGET, replicas_for(ahead, trial.fleet.replica_rpm))


def aws_like(trial: Trial) -> Policies:
    """Predictive scaling as AWS offers it: an hourly forecast from the last 14 days, renewed at each UTC midnight.

    The forecast of an hour is its mean over those days times the weekday's share of the mean day. Capacity for an hour, at the
    target of the dynamic policy that runs beneath (0.7), is requested 5 minutes before it begins and kept until it ends.
    """
    minutes, first, last = trial.minutes, trial.first, trial.last
    hour = (minutes.first_minute() + np.arange(first, last + _AWS_BUFFER_MIN)) // _HOUR_MIN
    hours = np.arange(hour[0], hour[-1] + 1)
    forecast = _hourly_forecast(minutes, hours)[hour - hours[0]]
    load = np.maximum(forecast[:-_AWS_BUFFER_MIN], forecast[_AWS_BUFFER_MIN:])
    return _every_minute(AWS_TARGET, replicas_for(load / AWS_TARGET, trial.fleet.replica_rpm))


def keda_cron_candidates(trial: Trial) -> Policies:
    """Cron triggers beside an autoscaler: so many replicas from one hour to another (UTC), on all days or on weekdays.

    Replicas are quantiles of what the span itself needed, since the best of these is chosen in hindsight.
    """
    minutes, first, last = trial.minutes, trial.first, trial.last
    needed = np.maximum(replicas_for(minutes.rpm[first:last], trial.fleet.replica_rpm), 1.0)
    replicas = np.unique(np.ceil(np.quantile(needed, _CRON_NEED_LEVELS)))
    rows = tuple(product(_CRON_STARTS_H, _CRON_LENGTHS_H, replicas, (True, False), _CRON_TARGETS))
    hours = np.arange(_HOURS)
    floors = np.ones((len(rows), 2, _HOURS))
    for floor, (begin, length, wanted, weekend_too, _) in zip(floors, rows, strict=True):
        busy = (hours - begin) % _HOURS < length
        floor[0, busy] = wanted
        floor[1, busy] = wanted if weekend_too else 1.0
    hour, weekend = minutes.day_minute() // _HOUR_MIN, minutes.weekday() >= _SATURDAY
    return Policies(
        targets=np.array([row[-1] for row in rows]),
        floors=floors.reshape(len(rows), -1),
        column=(hour + _HOURS * weekend)[first:last],
    )


def _every_minute(target: float, floors: Floats) -> Policies:
    return Policies(targets=np.array([target]), floors=floors[None, :], column=np.arange(floors.size))


def _hourly_forecast(minutes: MinuteLoad, hours: Ints) -> Floats:
    """The mean load forecast for each hour (counted from the epoch), each from the 14 days before its midnight, shape (hours,)."""
    known_from = -(-minutes.first_minute() // _HOUR_MIN)
    head = known_from * _HOUR_MIN - minutes.first_minute()
    whole = (len(minutes) - head) // _HOUR_MIN
    hourly = minutes.rpm[head : head + whole * _HOUR_MIN].reshape(-1, _HOUR_MIN).mean(axis=1)
    forecast = np.zeros(hours.size)
    for day in np.unique(hours // _HOURS):
        wanted = hours // _HOURS == day
        history = np.arange(max(known_from, (day - _AWS_DAYS) * _HOURS), day * _HOURS)
        if history.size:
            forecast[wanted] = _mean_day(hourly[history - known_from], history)[hours[wanted] % _HOURS] * _weekday_share(
                hourly[history - known_from], history // _HOURS, day
            )
    return forecast


def _mean_day(load: Floats, hours: Ints) -> Floats:
    """The mean of each hour of the day, 0 for one never seen, shape (24,)."""
    count = np.bincount(hours % _HOURS, minlength=_HOURS)
    mean: Floats = np.bincount(hours % _HOURS, weights=load, minlength=_HOURS) / np.maximum(count, 1)
    return mean


def _weekday_share(load: Floats, days: Ints, day: int) -> float:
    """The mean load of this weekday over that of all days; 1 where the weekday was not seen or nothing was served."""
    same = (days - day) % 7 == 0
    everyday = load.mean()
    return float(load[same].mean() / everyday) if same.any() and everyday > 0 else 1.0
