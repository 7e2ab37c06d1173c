"""From median paths to issued forecasts, the same way for every model."""

from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.errors import NotEnoughHistory
from forecaster.forecast import DailyPeak, Forecast, Horizon
from forecaster.models.conformal import peak_spread, spread
from forecaster.models.hindcast import Draw, Hindcasts, Paths, hindcasts, window_max
from forecaster.models.wallclock import History, WallClock, histories
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Panel, Window
from forecaster.units import DAY_S, HOUR_S

HINDCASTS = 28
"""Origins to learn errors from, one a day: four weeks hold each weekday four times."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """What is asked of a model for a panel: who answers, how much history it needs, and on how many hindcasts it may call."""

    model: str
    minimum_history_s: int
    horizon: Horizon
    levels: tuple[float, ...]
    calendar: Calendar
    origins: int = HINDCASTS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Segment:
    """A local day as far as the horizon holds it, as steps of the horizon and as slots of the wall clock."""

    day: date
    covers: Window
    steps: slice
    slots: NDArray[np.int64] = field(repr=False)


def issue(panel: Panel, request: Request, draw: Draw) -> tuple[Forecast, ...]:
    """One forecast a series, in order: the drawn path with quantiles learnt from the drawn hindcasts.

    A series that was never above zero is forecast as zero without asking the model. Raises NotEnoughHistory for the first series whose
    measured span is below the minimum or less than half measured, and ModelFailed for a path that is not one of a load.
    """
    return tuple(_issued(history, request, draw) for history in histories(panel, request.horizon, request.calendar))


def _issued(history: History, request: Request, draw: Draw) -> Forecast:
    _check_enough(history, request)
    reach = int(history.clock.future.max()) + request.horizon.window_steps
    if np.nanmax(history.days) > 0:
        paths = draw(history, _origins(history, request), reach)
    else:
        detail = f"{history.name} was never above zero in its history and is forecast as zero"
        paths = Paths(median=np.zeros((1, reach)), notes=(Reason(code=Code.FLAT_ZERO, detail=detail),))
    return _forecast(hindcasts(paths, history, request.model), paths.notes, history, request)


def _forecast(past: Hindcasts, notes: tuple[Reason, ...], history: History, request: Request) -> Forecast:
    horizon, clock = request.horizon, history.clock
    expected = spread(past.errors(), clock.per_day, request.levels)
    values = _rising(past.lifted(past.path, expected.quantiles))[:, clock.future]
    largest = spread(past.window_errors(horizon.window_steps), clock.per_day, request.levels)
    window = _rising(past.lifted(window_max(past.path, horizon.window_steps), largest.quantiles))[:, clock.future]
    # A maximum is at or below x less often than any bucket in it, so none of its quantiles lies below theirs.
    ahead = np.pad(values, ((0, 0), (0, horizon.window_steps - 1)), mode="edge")
    first_s = int(history.measured[0]) * horizon.step_s
    return Forecast(
        signal=history.signal,
        issued_at=horizon.issued_at,
        start=horizon.start,
        step_s=horizon.step_s,
        levels=request.levels,
        values=values,
        window_max=np.maximum(window, window_max(ahead, horizon.window_steps)),
        window_s=horizon.window_steps * horizon.step_s,
        daily_peaks=_daily_peaks(past, values, clock, request),
        model=request.model,
        trained_on=Window(start=horizon.start + timedelta(seconds=first_s), end=horizon.start),
        coverage=expected.coverage(),
        notes=notes,
    )


def _daily_peaks(past: Hindcasts, values: Floats, clock: WallClock, request: Request) -> tuple[DailyPeak, ...]:
    """For each local day the path's peak, lifted by what peaks were above earlier paths' peaks on the same part of the day."""
    segments = _segments(clock, request)
    errors = np.stack([past.span_errors(int(s.slots.min()), int(s.slots.max()) + 1) for s in segments], axis=1)
    quantiles = peak_spread(errors, request.levels)
    return tuple(_daily_peak(segment, past, row, values, request) for segment, row in zip(segments, quantiles, strict=True))


def _daily_peak(segment: _Segment, past: Hindcasts, errors: Floats, values: Floats, request: Request) -> DailyPeak:
    path = past.path[segment.slots]
    highest = segment.steps.start + int(path.argmax())
    at = request.horizon.start + timedelta(seconds=highest * request.horizon.step_s)
    return DailyPeak(
        day=segment.day,
        zone=request.calendar.zone,
        covers=segment.covers,
        levels=request.levels,
        values=np.maximum(_rising(past.lifted(path.max(), errors)), values[:, segment.steps].max(axis=1)),
        at=max(at, segment.covers.start),
    )


def _segments(clock: WallClock, request: Request) -> tuple[_Segment, ...]:
    """The local days of the horizon. A step belongs to the day in which it starts.

    A part of a day in which no step starts has the one in progress.
    """
    horizon = request.horizon
    segments = []
    for day, covers in request.calendar.local_days(Window(start=horizon.start, end=horizon.end)):
        first, last = (-(-int((instant - horizon.start).total_seconds()) // horizon.step_s) for instant in (covers.start, covers.end))
        steps = slice(first, last) if first < last else slice(first - 1, first)
        segments.append(_Segment(day=day, covers=covers, steps=steps, slots=clock.future[steps]))
    return tuple(segments)


def _rising(quantiles: Floats) -> Floats:
    """Quantiles that do not decrease with the level, in the seven digits that a store keeps in half the room."""
    rising = np.maximum.accumulate(quantiles, axis=0)
    short = rising.astype(np.float32)
    return np.where(short > rising, np.nextafter(short, np.float32(0)), short).astype(np.float64)  # down: a ceiling stays one


def _origins(history: History, request: Request) -> int:
    """How many whole days before the horizon still leave the model its minimum of history."""
    days = -int(history.measured[0]) // history.clock.per_day
    return min(request.origins, max(0, days - request.minimum_history_s // DAY_S))


def _check_enough(history: History, request: Request) -> None:
    needed = request.minimum_history_s // history.clock.step_s
    measured = history.measured
    span = int(measured[-1] - measured[0] + 1) if measured.size else 0
    if span < needed or 2 * measured.size < needed:
        hour = HOUR_S / history.clock.step_s
        msg = (
            f"{history.name} has {span / hour:.1f} h of history of which {measured.size / hour:.1f} h were measured, and {request.model} "
            f"needs {needed / hour:.0f} h, half of it measured: wait for more, or fetch history from further back"
        )
        raise NotEnoughHistory(msg)
