"""Twelve 5-minute loads of what the recorded traces lack: growth, cron spikes, holidays, level shifts, batch on and off, low counts.

Six weeks each. The rate is written down, the requests of a minute are drawn from it: Poisson, with a gamma-distributed factor a bucket
that real traffic has on top. Nothing here was looked at when the models were made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.recordings import LONG_DAYS, Group, Recording
from forecaster.series import Floats, Series, Signal
from forecaster.units import DAY_S

START = datetime(2026, 1, 5, tzinfo=UTC)
"""A Monday."""
STEP_S = 300
_DAYS = 42
_PER_DAY = DAY_S // STEP_S


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """Of each bucket: days since the start, hour of the day, weekday (Monday = 0), all of shape (n,)."""

    day: Floats = field(repr=False)
    hour: Floats = field(repr=False)
    weekday: NDArray[np.int64] = field(repr=False)


Rate: TypeAlias = Callable[[Clock, np.random.Generator], Floats]
"""Requests a minute expected in each bucket; the generator draws what a rule leaves open."""


def generated() -> tuple[Recording, ...]:
    """The twelve, at the midnights that have 28 days behind them."""
    midnights = tuple(START + timedelta(days=day) for day in range(1, _DAYS))
    early, scored = midnights[: LONG_DAYS - 1], midnights[LONG_DAYS - 1 :]
    return tuple(
        Recording(name=f"generated: {name}", group=Group.GENERATED, series=series, origins=scored, warm_up=early)
        for name, series in loads(_DAYS)
    )


def loads(days: int, seed: int = 0) -> Iterator[tuple[str, Series]]:
    """Each kind of load once, by name."""
    for number, (name, rate) in enumerate(RATES.items()):
        yield name, _drawn(rate, days, np.random.default_rng((seed, number)))


def _drawn(rate: Rate, days: int, rng: np.random.Generator) -> Series:
    bucket = np.arange(days * _PER_DAY)
    clock = Clock(day=bucket / _PER_DAY, hour=bucket % _PER_DAY * 24 / _PER_DAY, weekday=bucket // _PER_DAY % 7)
    expected = rate(clock, rng)
    minutes = rng.poisson(np.nan_to_num(expected * rng.gamma(100, 0.01, bucket.size))[:, None], (bucket.size, 5)).astype(np.float64)
    minutes[np.isnan(expected)] = np.nan
    return Series(signal=Signal.RPM, start=START, step_s=STEP_S, mean=minutes.mean(axis=1), peak=minutes.max(axis=1))


def _office(clock: Clock, _rng: np.random.Generator) -> Floats:
    weekend = np.where(clock.weekday >= 5, 0.3, 1.0)
    rate: Floats = 200 * _day(clock, peak_hour=14) * weekend
    return rate


def _growth(clock: Clock, rng: np.random.Generator) -> Floats:
    return _office(clock, rng) * 1.02**clock.day


def _decline(clock: Clock, rng: np.random.Generator) -> Floats:
    return _office(clock, rng) * 0.98**clock.day


def _cron(clock: Clock, rng: np.random.Generator) -> Floats:
    hourly, nightly = clock.hour % 1 < 0.1, np.abs(clock.hour - 2) < 0.2
    return _office(clock, rng) + np.where(hourly, 300.0, 0.0) + np.where(nightly, 800.0, 0.0)


def _holidays(clock: Clock, rng: np.random.Generator) -> Floats:
    """Three working days that pass like Sundays, the last among the days that are scored."""
    return _office(clock, rng) * np.where(np.isin(np.floor(clock.day), (10, 24, 37)), 0.3, 1.0)


def _shift(clock: Clock, rng: np.random.Generator) -> Floats:
    return _office(clock, rng) * np.where(clock.day >= 32.4, 1.7, 1.0)


def _batch(clock: Clock, _rng: np.random.Generator) -> Floats:
    """Full load for five hours a night, nothing else, and none on Saturday and Sunday."""
    on = (clock.hour >= 1) & (clock.hour < 6) & (clock.weekday < 5)
    return np.where(on, 500.0, 0.0)


def _few(clock: Clock, _rng: np.random.Generator) -> Floats:
    return 0.4 * _day(clock, peak_hour=18)


def _two_zones(clock: Clock, _rng: np.random.Generator) -> Floats:
    return 150 * _day(clock, peak_hour=9) ** 2 + 250 * _day(clock, peak_hour=20) ** 2


def _wandering(clock: Clock, rng: np.random.Generator) -> Floats:
    """A level of its own each day, which remembers the days before."""
    level = np.zeros(_whole_days(clock))
    for day in range(1, level.size):
        level[day] = 0.8 * level[day - 1] + rng.normal(0, 0.2)
    return _office(clock, rng) * np.exp(np.interp(clock.day, np.arange(level.size), level))


def _crowds(clock: Clock, rng: np.random.Generator) -> Floats:
    """Once in four days, at any time, a crowd that comes at once and leaves within hours."""
    rate = 100 * _day(clock, peak_hour=15)
    for day in np.flatnonzero(rng.random(_whole_days(clock)) < 0.25):
        since = 24 * (clock.day - day - rng.random())
        rate = rate + np.where(since >= 0, 600 * np.exp(-np.maximum(since, 0.0)), 0.0)
    return rate


def _gaps(clock: Clock, _rng: np.random.Generator) -> Floats:
    """Weekends busier than weekdays; two outages of the measurement, the last within the days that are scored."""
    lost = ((clock.day > 20.3) & (clock.day < 21.1)) | ((clock.day > 34.6) & (clock.day < 35.2))
    return np.where(lost, np.nan, 300 * _day(clock, peak_hour=21) * np.where(clock.weekday >= 5, 1.6, 1.0))


RATES: dict[str, Rate] = {
    "office hours": _office,
    "growth": _growth,
    "decline": _decline,
    "cron spikes": _cron,
    "holidays": _holidays,
    "level shift": _shift,
    "batch": _batch,
    "low counts": _few,
    "two zones": _two_zones,
    "wandering": _wandering,
    "flash crowds": _crowds,
    "gaps": _gaps,
}


def _day(clock: Clock, *, peak_hour: float) -> Floats:
    """0.1 at night to 1 at the peak."""
    return 0.55 + 0.45 * np.cos((clock.hour - peak_hour) * (2 * np.pi / 24))


def _whole_days(clock: Clock) -> int:
    return int(clock.day[-1]) + 1
