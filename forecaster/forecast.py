"""What a model promises: quantiles of the load, of its maximum over the lead window, and of each day's peak."""

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from forecaster.calendar import Calendar
from forecaster.gains import Gains
from forecaster.nowcast import Nowcast
from forecaster.reasons import Reason
from forecaster.series import Floats, Signal, Window, check_grid, frozen_floats, reduce_frozen
from forecaster.units import check_instant, check_level, check_named, check_positive, epoch_s

STANDARD_LEVELS = (0.05, 0.1, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99)
SCORED_LEVELS = (0.5, 0.9, 0.95, 0.99)
"""The levels over which the pinball loss of a forecast is averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """What is to be forecast: `steps` buckets from `start`, and at each the maximum over the `window_steps` buckets from it.

    `start` is the bucket in progress at `issued_at`, so start <= issued_at: what has ended before `start` is known.
    """

    issued_at: datetime
    start: datetime
    step_s: int
    steps: int
    window_steps: int

    def __post_init__(self) -> None:
        check_instant("issued_at", self.issued_at)
        check_grid(self.start, self.step_s)
        check_positive("steps", self.steps, "buckets")
        check_positive("window_steps", self.window_steps, "buckets")
        if not self.start <= self.issued_at < self.start + timedelta(seconds=self.step_s):
            msg = "start must be the bucket in progress at issued_at"
            raise ValueError(msg)

    @property
    def end(self) -> datetime:
        """The end of the last forecast bucket."""
        return self.start + timedelta(seconds=self.steps * self.step_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a model for a chunk of series: how far ahead, at which levels, by which calendar."""

    horizon: Horizon
    levels: tuple[float, ...]
    calendar: Calendar


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A fitted model as versioned bytes, so that it can wait in the store. `version` changes when the bytes' meaning does."""

    model: str
    version: int
    payload: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_named("state.model", self.model)
        check_positive("state.version", self.version, "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DailyPeak:
    """Quantiles of the largest step mean of one local day, and when it is expected.

    `covers` is the part of the day that the quantiles speak of: the whole day, or what the horizon holds of it (the rest of
    today, the start of the last day). `values[level]` in the signal's unit, shape (levels,), not decreasing.
    """

    day: date
    zone: str
    covers: Window
    levels: tuple[float, ...]
    values: Floats
    at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen_floats(self.values, ndim=1, name="daily peak values"))
        _check_levels(self.levels)
        _check_quantiles("daily peak", self.values[:, None], len(self.levels), 1)
        if self.at not in self.covers:
            msg = "the expected instant of a daily peak must lie in the part of the day that it covers"
            raise ValueError(msg)

    __reduce__ = reduce_frozen

    def at_level(self, level: float) -> float:
        """The peak at any level between the lowest and the highest stated one, by interpolation in normal scores."""
        return float(_interpolate(self.levels, self.values[:, None], level)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberScore:
    """One member of the ensemble: its share of the forecast, and how it did lately.

    weight_ratio: 0..1, all of a forecast add up to 1; 0 = scored on a sample and shown, not used. loss_ratio: its pinball loss at the
    median over that of the load at the same time yesterday, None = not scored yet. days: so many were scored.
    """

    name: str
    weight_ratio: float
    loss_ratio: float | None
    days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """How earlier forecasts of the series did, each against what came after it.

    days: scored days. pinball, naive_pinball: mean over SCORED_LEVELS and measured buckets, of ours and of the load at the same time
    yesterday or last week with its own calibrated quantiles, in the signal's unit. coverage: the share of buckets at or below P95.
    drift_log: the mean of log(actual / median) over the last three scored days. loss_ratio: as that of a member, of the whole.
    """

    days: int
    pinball: float
    naive_pinball: float
    coverage: float
    drift_log: float
    loss_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """Quantiles of one signal from `start` on, as issued at one instant.

    `values[level, i]`: quantiles of the mean of bucket i; `window_max[level, i]`: quantiles of the largest bucket mean over
    [start + i step, start + i step + window_s), calibrated on that maximum. Both have shape (levels, n), are finite, at least
    0 and not decreasing in the level. `coverage[level]`: share of recent actuals below that level's value, None = not known
    yet. `trained_on` is the span of history used; `notes` say how the model was degraded, if it was. `members`: what it was made
    of. `record`: how earlier ones did, None = none was scored yet. `gains`: how much of a deviation of live load from the median lasts,
    `nowcast`: what live load says of the largest minute of the lead window; both None = not learned.
    """

    signal: Signal
    issued_at: datetime
    start: datetime
    step_s: int
    levels: tuple[float, ...]
    values: Floats = field(repr=False)
    window_max: Floats = field(repr=False)
    window_s: int
    daily_peaks: tuple[DailyPeak, ...]
    model: str
    trained_on: Window
    coverage: tuple[float | None, ...]
    notes: tuple[Reason, ...] = ()
    members: tuple[MemberScore, ...] = ()
    record: TrackRecord | None = None
    gains: Gains | None = None
    nowcast: Nowcast | None = None

    def __post_init__(self) -> None:
        check_instant("issued_at", self.issued_at)
        check_grid(self.start, self.step_s)
        check_positive("window_s", self.window_s, "seconds")
        check_named("model", self.model)
        _check_levels(self.levels)
        object.__setattr__(self, "values", frozen_floats(self.values, ndim=2, name="values"))
        object.__setattr__(self, "window_max", frozen_floats(self.window_max, ndim=2, name="window_max"))
        n = self.values.shape[1]
        _check_quantiles("values", self.values, len(self.levels), n)
        _check_quantiles("window_max", self.window_max, len(self.levels), n)
        if len(self.coverage) != len(self.levels):
            msg = f"coverage needs one entry a level, got {len(self.coverage)} for {len(self.levels)}"
            raise ValueError(msg)

    __reduce__ = reduce_frozen

    def __len__(self) -> int:
        return int(self.values.shape[1])

    @property
    def end(self) -> datetime:
        """The end of the last bucket."""
        return self.start + timedelta(seconds=self.step_s * len(self))

    def index(self, instant: datetime) -> int | None:
        """The bucket that holds `instant`, None outside of the forecast."""
        i = (epoch_s(instant) - epoch_s(self.start)) // self.step_s
        return i if 0 <= i < len(self) else None

    def at_level(self, level: float) -> Floats:
        """`values` at any level between the lowest and the highest stated one, shape (n,)."""
        return _interpolate(self.levels, self.values, level)

    def window_max_at(self, level: float) -> Floats:
        """`window_max` at any level between the lowest and the highest stated one, shape (n,)."""
        return _interpolate(self.levels, self.window_max, level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Issued:
    """A forecast, and what the model wants to be given back when the series is forecast next; None = nothing."""

    forecast: Forecast
    state: State | None


def _check_levels(levels: tuple[float, ...]) -> None:
    for level in levels:
        check_level("level", level)
    if not levels or any(a >= b for a, b in pairwise(levels)):
        msg = f"levels must be at least one and increasing, got {levels}"
        raise ValueError(msg)


def _check_quantiles(name: str, values: Floats, levels: int, n: int) -> None:
    if values.shape != (levels, n) or n == 0:
        msg = f"{name} must have one row a level and at least one column, got shape {values.shape} for {levels} levels"
        raise ValueError(msg)
    if not np.isfinite(values).all() or (values < 0).any():
        msg = f"{name} must be finite and at least 0 at every level"
        raise ValueError(msg)
    if (np.diff(values, axis=0) < 0).any():
        msg = f"{name} must not decrease from one level to the next"
        raise ValueError(msg)


def _interpolate(levels: tuple[float, ...], values: Floats, level: float) -> Floats:
    """Between two stated levels, linear in normal scores: exact for Gaussian errors, close for the log-like ones of load."""
    if not levels[0] <= level <= levels[-1]:
        msg = f"level must lie between {levels[0]:g} and {levels[-1]:g}, the lowest and highest of the forecast, got {level:g}"
        raise ValueError(msg)
    upper = bisect_left(levels, level)
    if levels[upper] == level:
        exact: Floats = values[upper]
        return exact
    low, high, here = (NormalDist().inv_cdf(p) for p in (levels[upper - 1], levels[upper], level))
    weight = (here - low) / (high - low)
    between: Floats = values[upper - 1] * (1 - weight) + values[upper] * weight
    return between
