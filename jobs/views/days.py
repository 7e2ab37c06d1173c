"""Local days of measured load: mean, peak, and what was not measured."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

import numpy as np

from forecaster.calendar import Calendar
from forecaster.marks import Mark, MarkKind, Treatment
from forecaster.series import Series, Window
from forecaster.units import from_epoch_s

ENOUGH_RATIO = 0.5
"""A day of which less was measured says nothing of its peak."""
_SPOILED_RATIO = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDay:
    """What was measured of a local day, or of the part `covers` of it, in the signal's unit; None = nothing was.

    peak: the largest step mean, which is what daily peaks are forecast of. peak_minute: the largest minute. gaps: what was not measured.
    marked: why its peak is not the demand's, None where nothing says so.
    """

    day: date
    covers: Window
    measured_ratio: float
    mean: float | None
    peak: float | None
    peak_at: datetime | None
    peak_minute: float | None
    gaps: tuple[Window, ...]
    marked: MarkKind | None = None

    @property
    def enough(self) -> bool:
        """Whether enough was measured to know its peak."""
        return self.peak is not None and self.measured_ratio >= ENOUGH_RATIO

    @property
    def comparable(self) -> bool:
        """Whether its peak says enough of the demand to compare it with another day's."""
        return self.enough and self.marked is None

    def under(self, marks: Iterable[Mark]) -> "MeasuredDay":
        """The day under marks in force: marked by one that models do not believe, over its peak or a quarter of it. Gaps are `gaps`."""
        doubted = (mark for mark in marks if mark.kind is not MarkKind.GAP and mark.kind.treatment is not Treatment.KEPT)
        return replace(self, marked=next((mark.kind for mark in doubted if self._spoiled_by(mark.span)), None))

    def _spoiled_by(self, span: Window) -> bool:
        common_s = (min(span.end, self.covers.end) - max(span.start, self.covers.start)).total_seconds()
        at_peak = self.peak_at is not None and span.start <= self.peak_at < span.end
        return at_peak or common_s >= _SPOILED_RATIO * self.covers.length_s


def local_day(calendar: Calendar, day: date) -> Window:
    """The span of a local day, 23 to 25 hours."""
    midnight = datetime.fromisoformat(f"{day.isoformat()}T00:00:00Z")
    around = Window(start=midnight - timedelta(days=2), end=midnight + timedelta(days=3))
    return next(window for found, window in calendar.local_days(around) if found == day)


def measured_days(series: Series, calendar: Calendar) -> tuple[MeasuredDay, ...]:
    """Every local day that a series touches, in order."""
    if not len(series):
        return ()
    return tuple(_measured(series, day, covers) for day, covers in calendar.local_days(Window(start=series.start, end=series.end)))


def _measured(series: Series, day: date, covers: Window) -> MeasuredDay:
    part = series.between(covers.start, covers.end)
    known = ~np.isnan(part.mean)
    some = bool(known.any())
    top = int(np.nanargmax(part.mean)) if some else 0
    return MeasuredDay(
        day=day,
        covers=covers,
        measured_ratio=part.measured_ratio,
        mean=float(part.mean[known].mean()) if some else None,
        peak=float(part.mean[top]) if some else None,
        peak_at=_start_of(part, top) if some else None,
        peak_minute=float(part.peak[known].max()) if some else None,
        gaps=_gaps(part),
    )


def _gaps(series: Series) -> tuple[Window, ...]:
    """The runs of buckets that were not measured."""
    unknown = np.concatenate([[False], np.isnan(series.mean), [False]])
    edges = np.flatnonzero(np.diff(unknown)).tolist()
    return tuple(Window(start=_start_of(series, a), end=_start_of(series, b)) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _start_of(series: Series, i: int) -> datetime:
    return from_epoch_s(series.start.timestamp() + i * series.step_s)
