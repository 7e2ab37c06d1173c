"""What a young series gains from older ones of its chunk: its pinball loss beside them, over that without them.

Twelve old services, eight young ones, five-minute loads, a day ahead from a Monday, a Thursday and a Saturday. *Alike*: one daily shape
and one weekend, each with its own level, noise, wandering from day to day, and an hour's difference or less. *Unlike*: every service has
a shape and a weekend of its own, so whoever fits does so by chance. Without older ones nobody lends the size of errors either.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from benchmarks.accuracy.generated import START, STEP_S
from benchmarks.engine import forecasts
from benchmarks.figures import Figure
from forecaster.forecast import SCORED_LEVELS
from forecaster.series import Floats, Panel, Signal
from forecaster.units import DAY_S

AGES_DAYS = (1, 2, 4, 9)
_OLD, _YOUNG = 12, 8
_HISTORY_DAYS, _DAYS, _ORIGINS = 28, 34, (28, 31, 33)
_PER_DAY = DAY_S // STEP_S
_MINUTES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A service's day and weekend: hours of its peaks, how high the second one is, and the weekend's load over the workdays'."""

    peak_hour: float = 14.0
    second_hour: float = 3.0
    second: float = 0.4
    weekend: float = 0.4


def figures() -> Iterator[Figure]:
    for age_days in AGES_DAYS:
        found = {kind: np.mean([np.log(ratios(age_days, origin, kind)) for origin in _ORIGINS]) for kind in ("alike", "unlike")}
        for kind, ratio in found.items():
            name = f"pinball of a series of {age_days} day{'s' * (age_days > 1)} beside older ones {kind} / alone"
            yield Figure(name=name, value=float(np.exp(ratio)), unit="x")


def ratios(age_days: int, origin: int, kind: str) -> Floats:
    """Of each young series at the midnight `origin` days after the start."""
    rng = np.random.default_rng((age_days, origin, kind == "alike"))
    own = [_any_shape(rng) if kind == "unlike" else Shape() for _ in range(_YOUNG)]
    young = np.stack([_load(shape, rng) for shape in own])
    old = np.stack([_load(_any_shape(rng) if kind == "unlike" else Shape(), rng) for _ in range(_OLD)])
    found: Floats = _losses(old, young, age_days, origin) / _losses(old[:0], young, age_days, origin)
    return found


def _losses(old: Floats, young: Floats, age_days: int, origin: int) -> Floats:
    """The pinball loss of each young series on the day after the origin."""
    end = origin * _PER_DAY
    known = np.concatenate((old, young))[:, end - _HISTORY_DAYS * _PER_DAY : end]
    known[len(old) :, : -age_days * _PER_DAY] = np.nan
    names = tuple(f"service {i}" for i in range(len(known)))
    start = START + timedelta(days=origin - _HISTORY_DAYS)
    made = forecasts(Panel(signal=Signal.RPM, start=start, step_s=STEP_S, names=names, mean=known, peak=known))[len(old) :]
    levels = np.array(SCORED_LEVELS)[:, None]
    errors = [
        came - np.stack([forecast.at_level(level) for level in SCORED_LEVELS])
        for came, forecast in zip(young[:, end : end + _PER_DAY], made, strict=True)
    ]
    return np.array([np.maximum(levels * error, (levels - 1) * error).mean() for error in errors])


def _any_shape(rng: np.random.Generator) -> Shape:
    return Shape(
        peak_hour=rng.uniform(0, 24),
        second_hour=rng.uniform(0, 12),
        second=rng.uniform(0, 0.8),
        weekend=float(rng.choice([0.25, 0.5, 1.0, 1.5])),
    )


def _load(shape: Shape, rng: np.random.Generator) -> Floats:
    """Requests a minute of one service: its shape at a level, a phase and a noise of its own; the level wanders by 8 % a day."""
    days = np.arange(_DAYS * _PER_DAY) / _PER_DAY
    hours, weekend = (days % 1) * 24 + rng.normal(0, 0.4), days.astype(np.int64) % 7 >= 5
    first = 1.2 * np.cos((hours - shape.peak_hour) * 2 * np.pi / 24)
    day = np.exp(first + shape.second * np.cos((hours - shape.second_hour) * 4 * np.pi / 24))
    level = np.zeros(_DAYS + 1)
    for i in range(1, level.size):
        level[i] = 0.7 * level[i - 1] + rng.normal(0, 0.08)
    rate = np.exp(rng.uniform(np.log(3), np.log(1_000)) + np.interp(days, np.arange(level.size), level)) * day
    rate *= np.where(weekend, shape.weekend * rng.lognormal(0, 0.1), 1.0)
    noise = float(rng.choice([30, 100, 400]))
    found: Floats = rng.poisson(_MINUTES * rate * rng.gamma(noise, 1 / noise, rate.size)) / _MINUTES
    return found
