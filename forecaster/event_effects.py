"""What events do to load: ahead, to a forecast of ordinary days; behind, to the history from which ordinary days are learned.

Models never see an event and forecasts are kept without: so an event that is entered, moved or taken back changes the next plan at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.events import Event
from forecaster.forecast import DailyPeak, Forecast
from forecaster.reasons import Code, Reason
from forecaster.series import LOAD_SIGNALS, Floats, Series, Signal, Window
from forecaster.units import DAY_S, epoch_s, from_epoch_s, iso

_LEAST_DAYS = 3
_LEAST_RATIO = 0.5


def strength(event: Event, start_s: int, step_s: int, n: int) -> Floats:
    """How much of the event is felt in each of n buckets from `start_s` (seconds since the epoch), 0 to 1, shape (n,).

    The mean over the bucket of a trapezoid: 1 from start to end, linear over the ramps. Where occurrences overlap, the larger one.
    """
    edges_s = start_s + step_s * np.arange(n + 1, dtype=np.float64)
    felt = np.zeros(n)
    if n:
        up, down = event.ramp_up_s, event.ramp_down_s
        for core in event.occurrences(Window(start=from_epoch_s(start_s), end=from_epoch_s(start_s + n * step_s))):
            risen = _ramp_area(edges_s - (core.start.timestamp() - up), up)
            fallen = _ramp_area(edges_s - core.end.timestamp(), down)
            felt = np.maximum(felt, np.clip(np.diff(risen - fallen) / step_s, 0, 1))
    return felt


def with_events(forecast: Forecast, workload: str, events: Iterable[Event]) -> Forecast:
    """The forecast with every event that its workload feels, and a note of each; the same object where there is none.

    Factors multiply all levels; the loads of absolute events then stand at all levels, the largest where several overlap. A lead window
    changes by as much as the largest bucket median in it does, so an event inside counts from the lead time before it on; and so
    does a daily peak.
    """
    felt = [
        (event, strength(event, epoch_s(forecast.start), forecast.step_s, len(forecast)))
        for event in events
        if _concerns(event, forecast.signal)
    ]
    felt = [(event, part) for event, part in felt if event.is_for(workload) and part.any()]
    if not felt:
        return forecast
    change = _change(felt, len(forecast))
    values = change.of(forecast.values)
    eventful = replace(forecast, values=values)
    median, moved = forecast.values[_middle(forecast.levels)], values[_middle(forecast.levels)]
    return replace(
        eventful,
        window_max=_window_max(forecast, change, values),
        daily_peaks=tuple(_peak(peak, eventful, change, median, moved) for peak in forecast.daily_peaks),
        notes=(*forecast.notes, *(_note(event, forecast) for event, _ in felt)),
    )


def ordinary(series: Series, workload: str, events: Iterable[Event]) -> Series:
    """The history without what events did to it, for models to learn ordinary days from.

    What comes again with a factor is divided by it: were the factor wrong, forecast x factor would still be what is measured. Spans of
    all other events are not measured, unless that leaves less than three days, or less than half of what there was. The same object
    where no event touches it.
    """
    if not len(series):
        return series
    factor, hidden = np.ones(len(series)), np.zeros(len(series), dtype=bool)
    for event in (event for event in events if event.is_for(workload) and _concerns(event, series.signal)):
        part = strength(event, epoch_s(series.start), series.step_s, len(series))
        if event.factor is not None and event.every is not None:
            factor *= 1 + part * (event.factor - 1)
        else:
            hidden |= part > 0
    known = ~np.isnan(series.mean)
    left = np.count_nonzero(known & ~hidden)
    if left < max(_LEAST_DAYS * DAY_S / series.step_s, _LEAST_RATIO * np.count_nonzero(known)):
        hidden[:] = False
    if not hidden.any() and (factor == 1).all():
        return series
    mean, peak = (np.where(hidden, np.nan, each / factor) for each in (series.mean, series.peak))
    return replace(series, mean=mean, peak=peak)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Change:
    """What all events together do to each of n buckets: load x factor, then towards absolute loads by the parts of these.

    factor: shape (n,). parts, loads: of the absolute events, shapes (events, n) and (events,).
    """

    factor: Floats
    parts: Floats
    loads: Floats

    @property
    def absolute(self) -> NDArray[np.bool_]:
        """Where any absolute load is felt, shape (n,)."""
        found: NDArray[np.bool_] = self.parts.max(axis=0, initial=0.0) > 0
        return found

    @property
    def raised(self) -> NDArray[np.bool_]:
        """Where the changed load is a new one that no window or day of the forecast has seen, shape (n,)."""
        return self.absolute | (self.factor > 1)

    @property
    def scale(self) -> Floats:
        """What is left of the ordinary load beside absolute ones, shape (n,)."""
        left: Floats = self.factor * (1 - self.parts.max(axis=0, initial=0.0))
        return left

    def of(self, values: Floats) -> Floats:
        """The changed quantiles, shape (levels, n)."""
        scaled = values * self.factor
        told = [(1 - part) * scaled + part * load for part, load in zip(self.parts, self.loads, strict=True)]
        if not told:
            return scaled
        asked = np.max(np.where((self.parts > 0)[:, None], np.array(told), 0.0), axis=0)
        changed: Floats = np.where(self.absolute, asked, scaled)
        return changed


def _change(felt: list[tuple[Event, Floats]], n: int) -> _Change:
    factor = np.ones(n)
    for event, part in felt:
        if event.factor is not None:
            factor *= 1 + part * (event.factor - 1)
    told = [(part, event.load) for event, part in felt if event.load is not None]
    parts = np.array([part for part, _ in told]).reshape(-1, n)
    return _Change(factor=factor, parts=parts, loads=np.array([load for _, load in told], dtype=np.float64))


def _window_max(forecast: Forecast, change: _Change, values: Floats) -> Floats:
    """Quantiles of the largest bucket of each lead window, as far as the forecast reaches; at least those of a raised bucket in it."""
    buckets = max(1, -(-forecast.window_s // forecast.step_s))
    median = forecast.values[_middle(forecast.levels)]
    padding = np.full(buckets - 1, -np.inf)

    def largest(row: Floats) -> Floats:
        padded = np.concatenate([row, padding])
        top: Floats = np.lib.stride_tricks.sliding_window_view(padded, buckets).max(axis=1)
        return top

    ratio = _ratio(largest(median * change.scale), largest(median), largest(change.scale))
    raised = np.where(change.raised, values, 0.0)
    changed: Floats = np.maximum(forecast.window_max * ratio, np.array([largest(row) for row in raised]))
    return changed


def _peak(peak: DailyPeak, eventful: Forecast, change: _Change, median: Floats, moved: Floats) -> DailyPeak:
    """The day's peak with the events: scaled as the largest median of the day is, at least that of a raised bucket."""
    first = max(0, (epoch_s(peak.covers.start) - epoch_s(eventful.start)) // eventful.step_s)
    last = min(len(eventful), -((epoch_s(eventful.start) - epoch_s(peak.covers.end)) // eventful.step_s))
    day = slice(first, last)
    if last <= first or ((change.factor[day] == 1).all() and not change.absolute[day].any()):
        return peak
    scaled = peak.values * _ratio((median * change.scale)[day].max(), median[day].max(), change.scale[day].max())
    raised = np.where(change.raised, eventful.values, 0.0)[:, day].max(axis=1)
    values = np.maximum(scaled, np.interp(peak.levels, eventful.levels, raised))
    before, after = int(median[day].argmax()), int(moved[day].argmax())
    at = eventful.start + timedelta(seconds=(first + after) * eventful.step_s)
    return replace(peak, values=values, at=peak.at if before == after else max(at, peak.covers.start))


def _ratio(after: Floats, before: Floats, factor: Floats) -> Floats:
    """How much a largest median has changed; the largest factor where the median says nothing, being 0."""
    return np.where(before > 0, after / np.where(before > 0, before, 1.0), factor)


def _ramp_area(after_s: Floats, ramp_s: float) -> Floats:
    """The integral of a ramp from 0 to 1 over `ramp_s` and 1 ever after, up to so many seconds after its start."""
    steep = np.maximum(after_s - ramp_s, 0.0)
    return steep + np.clip(after_s, 0, ramp_s) ** 2 / (2 * ramp_s) if ramp_s > 0 else steep


def _concerns(event: Event, signal: Signal) -> bool:
    """Whether the event says anything of a signal: a factor is one on load, and leaves the length of requests as it is."""
    return signal is event.signal or (event.signal is None and signal in LOAD_SIGNALS)


def _middle(levels: tuple[float, ...]) -> int:
    """The stated level nearest to the median."""
    return min(range(len(levels)), key=lambda i: abs(levels[i] - 0.5))


def _note(event: Event, forecast: Forecast) -> Reason:
    core = next(event.occurrences(Window(start=forecast.start, end=forecast.end)))
    return Reason(code=Code.EVENT, detail=f"{event.name}: {event.effect} from {iso(core.start)} to {iso(core.end)}")
