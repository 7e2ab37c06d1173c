"""From the ensemble's path and its earlier errors to a forecast of each series: buckets, window maxima, daily peaks."""

from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.forecast import DailyPeak, Forecast, Request, TrackRecord
from forecaster.gains import learn_each
from forecaster.models.keeping import Circle, ceiling, loads
from forecaster.models.kept import DAYS, DRIFT, FIRST_LEVEL, NAIVE_PINBALL, PINBALL, Kept
from forecaster.models.nowcasting import Days
from forecaster.models.nowcasting import learn_each as learn_nowcasts
from forecaster.models.peaks import blended, measured_max, peak_spread
from forecaster.models.wallclock import wall_slots
from forecaster.series import Floats, Window
from forecaster.units import DAY_S, epoch_s

_RECORD_DAYS, _DRIFT_DAYS, _LEAST_DAYS = 14, 3, 3
_MEASURED_RATIO = 0.8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """All that the forecasts of a chunk are made from.

    median: the ensemble's log median of the slots after the origin, (series, reach). early: slots of today before the origin.
    largest: the largest minutes of the buckets of local days, as `circle.actual` has their means.
    """

    request: Request
    circle: Circle
    kept: Kept
    median: Floats = field(repr=False)
    early: int
    largest: Floats = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quantiles:
    """Of a chunk, in the signal's unit: buckets and window maxima (series, levels, steps), and each local day's peak.

    peaks: (series, segments, levels). at: the bucket at which each is expected, (series, segments).
    """

    values: Floats = field(repr=False)
    window_max: Floats = field(repr=False)
    peaks: Floats = field(repr=False)
    at: NDArray[np.intp] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A local day as far as the horizon holds it, as buckets of the horizon and as slots after the origin."""

    day: date
    covers: Window
    steps: slice
    first: int
    last: int


def future_slots(request: Request) -> NDArray[np.int64]:
    """The slot on the wall of each bucket of the horizon; an hour that the zone skips is skipped, one that it repeats comes twice."""
    horizon = request.horizon
    slots = wall_slots(request.calendar, epoch_s(horizon.start), horizon.step_s, np.arange(horizon.steps))
    return np.maximum(0, slots)  # a start inside of an hour that repeats has that hour's second pass behind it on the wall


def segments(request: Request, future: NDArray[np.int64]) -> tuple[Segment, ...]:
    """The local days of the horizon. A step belongs to the day in which it starts; a part without one has the step in progress."""
    horizon = request.horizon
    found = []
    for day, covers in request.calendar.local_days(Window(start=horizon.start, end=horizon.end)):
        first, last = (-(-int((instant - horizon.start).total_seconds()) // horizon.step_s) for instant in (covers.start, covers.end))
        steps = slice(first, last) if first < last else slice(first - 1, first)
        slots = future[steps]
        found.append(Segment(day=day, covers=covers, steps=steps, first=int(slots.min()), last=int(slots.max()) + 1))
    return tuple(found)


def quantiles(basis: Basis) -> Quantiles:
    """Calibrated on what the ensemble had said of the kept days."""
    future, width = future_slots(basis.request), basis.request.horizon.window_steps
    largest = path_window_max(basis.median, width)
    values = _lifted(basis, basis.median[:, : largest.shape[1]], basis.circle.errors(basis.kept))[:, :, future]
    window = _lifted(basis, largest, _window_errors(basis, width))[:, :, future]
    # A maximum is at or below x less often than any bucket in it, so none of its quantiles lies below theirs.
    ahead = np.pad(values, ((0, 0), (0, 0), (0, width - 1)), mode="edge")
    parts = segments(basis.request, future)
    return Quantiles(
        values=values,
        window_max=np.maximum(window, path_window_max(ahead, width)),
        peaks=np.stack([_peaks(basis, part, values) for part in parts], axis=1),
        at=np.stack([part.steps.start + basis.median[:, future[part.steps]].argmax(axis=1) for part in parts], axis=1),
    )


def path_window_max(rows: Floats, width: int) -> Floats:
    """The largest of each slot and the width - 1 after it, along the last axis, which gets shorter by that."""
    largest, have = rows, 1
    while have < width:
        step = min(have, width - have)
        largest = np.maximum(largest[..., : largest.shape[-1] - step], largest[..., step:])
        have += step
    return largest


def _lifted(basis: Basis, median: Floats, errors: Floats) -> Floats:
    """Log medians moved by the errors to expect at each slot, as loads (series, levels, slots).

    A kind of day at a time, since the errors of workdays and weekends differ.
    """
    circle, per_day = basis.circle, basis.kept.form.per_day
    slots = basis.early + np.arange(median.shape[1])
    days = slots // per_day
    kinds = circle.weekends(-np.arange(int(days[-1]) + 1))
    lifted = np.empty((len(median), circle.levels.size, median.shape[1]))
    for kind in np.unique(kinds):
        found = circle.spread(errors, 0, basis.kept.steps, weekend=bool(kind))
        here = kinds[days] == kind
        lifted[:, :, here] = median[:, None, here] + found.quantiles(slots[here] % per_day, 1 + days[here])
    return _loads(lifted, basis)


def _loads(logs: Floats, basis: Basis) -> Floats:
    """The loads of log quantiles (series, levels, n), in the seven digits that a store keeps in half the room."""
    rising = loads(logs, basis.circle.midnight, ceiling(basis.circle.midnight, basis.median))
    short = rising.astype(np.float32)
    return np.where(short > rising, np.nextafter(short, np.float32(0)), short).astype(np.float64)  # down: a ceiling stays one


def _window_errors(basis: Basis, width: int) -> Floats:
    """The log errors of the maximum over a window from each slot, cut off at midnight, (series, DAYS, slots)."""
    kept, circle = basis.kept, basis.circle
    if width == 1:
        return circle.errors(kept)
    offset = circle.offset[:, None, None]
    known = ~np.isnan(circle.actual)
    pad = ((0, 0), (0, 0), (0, width - 1))
    came = path_window_max(np.pad(np.where(known, circle.actual, -np.inf), pad, constant_values=-np.inf), width)
    total = np.cumsum(np.pad(known, ((0, 0), (0, 0), (1, width - 1))), axis=2)
    measured = total[..., width:] - total[..., :-width]
    ends = np.minimum(width, known.shape[2] - np.arange(known.shape[2]))
    said = path_window_max(np.pad(kept.median, pad, constant_values=-np.inf), width)
    enough = measured >= _MEASURED_RATIO * ends
    errors: Floats = np.log((np.where(enough, came, np.nan) + offset) / (said + offset))
    return errors


def _peaks(basis: Basis, part: Segment, values: Floats) -> Floats:
    """Quantiles of the largest bucket of a part of a day, (series, levels); never below those of a single bucket in it."""
    kept, circle = basis.kept, basis.circle
    slots = (basis.early + np.arange(part.first, part.last)) % kept.form.per_day
    ahead = (basis.early + part.first) // kept.form.per_day
    offset = circle.offset[:, None]
    came = np.log(measured_max(circle.actual[:, :, slots]) + offset)
    before = np.concatenate((came[:, 1:], np.full((len(came), 1), np.nan)), axis=1)
    known_days = circle.known_days[:, None] - np.arange(DAYS)
    errors = came - blended(np.log(kept.median[:, :, slots].max(axis=2) + offset), before, known_days)
    weekend = bool(circle.weekends(np.array([-ahead]))[0])
    sigma = circle.prior_sigma(errors[..., None], 0, weekend=weekend)
    learned = peak_spread(errors, circle.day_weights(0, weekend=weekend), circle.levels, sigma, ahead + 1)
    newest = came[:, 1] if ahead == 0 else np.full(len(came), np.nan)
    expected = blended(basis.median[:, part.first : part.last].max(axis=1), newest, circle.known_days)
    peaks = _loads((expected[:, None] + learned)[..., None], basis)[..., 0]
    highest: Floats = np.maximum(peaks, values[:, :, part.steps].max(axis=2))
    return highest


def forecasts(basis: Basis, model: str) -> list[Forecast]:
    """One forecast a series, in order."""
    found, horizon = quantiles(basis), basis.request.horizon
    parts = segments(basis.request, future_slots(basis.request))
    gains = learn_each(basis.circle.errors(basis.kept)[:, ::-1].reshape(len(found.values), -1), horizon.step_s)
    nowcasts = learn_nowcasts(_days(basis))
    first_s = -basis.early * horizon.step_s - basis.circle.history_days * DAY_S
    return [
        Forecast(
            signal=basis.circle.midnight.signal,
            issued_at=horizon.issued_at,
            start=horizon.start,
            step_s=horizon.step_s,
            levels=basis.request.levels,
            values=found.values[row],
            window_max=found.window_max[row],
            window_s=horizon.window_steps * horizon.step_s,
            daily_peaks=tuple(_daily_peak(part, found.peaks[row, i], int(found.at[row, i]), basis.request) for i, part in enumerate(parts)),
            model=model,
            trained_on=Window(start=horizon.start + timedelta(seconds=round(first_s[row])), end=horizon.start),
            coverage=_coverage(basis.kept.scores[row, :_RECORD_DAYS, FIRST_LEVEL:]),
            record=_record(basis.kept.scores[row], basis.request.levels),
            gains=gains[row],
            nowcast=nowcasts[row],
        )
        for row in range(len(found.values))
    ]


def _days(basis: Basis) -> Days:
    """The kept days, of which today is the last: it has nothing yet from the origin on."""
    said, came, largest = (of[:, ::-1].reshape(len(of), -1) for of in (basis.kept.median, basis.circle.actual, basis.largest))
    horizon, step_s = basis.request.horizon, basis.request.horizon.step_s
    midnight = horizon.start - timedelta(seconds=basis.early * step_s)
    return Days(said=said, came=came, largest=largest, step_s=step_s, window_steps=horizon.window_steps, end=midnight + timedelta(days=1))


def _daily_peak(part: Segment, values: Floats, highest: int, request: Request) -> DailyPeak:
    at = request.horizon.start + timedelta(seconds=highest * request.horizon.step_s)
    zone = request.calendar.zone
    return DailyPeak(day=part.day, zone=zone, covers=part.covers, levels=request.levels, values=values, at=max(at, part.covers.start))


def _coverage(shares: Floats) -> tuple[float | None, ...]:
    """The mean share of each level over the scored days, None with fewer than 3 of them."""
    scored = shares[~np.isnan(shares).any(axis=1)]
    return tuple(float(share) for share in scored.mean(axis=0)) if len(scored) >= _LEAST_DAYS else (None,) * shares.shape[1]


def _record(scores: Floats, levels: tuple[float, ...]) -> TrackRecord | None:
    recent = scores[:_RECORD_DAYS]
    recent = recent[~np.isnan(recent).any(axis=1)]
    if not len(recent):
        return None
    return TrackRecord(
        days=len(recent),
        pinball=float(recent[:, PINBALL].mean()),
        naive_pinball=float(recent[:, NAIVE_PINBALL].mean()),
        coverage=float(np.interp(0.95, levels, recent[:, FIRST_LEVEL:].mean(axis=0))),
        drift_log=float(recent[:_DRIFT_DAYS, DRIFT].mean()),
    )
