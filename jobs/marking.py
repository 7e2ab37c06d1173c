"""The marks of a history: found at every fetch, kept where they are new, and overruled by what people said."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from forecaster.detect.found import detect
from forecaster.detect.plateaus import Companions
from forecaster.marks import NEAR, Mark, MarkKind, marks_in_force, news, told_anew
from forecaster.ports import Store
from forecaster.series import LOAD_SIGNALS, Series, Window
from forecaster.units import WEEK_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where marks are looked for: load as measured, without what the calendar explains, and queue and refusals beside it."""

    measured: Series
    load: Series
    pressures: tuple[Series, ...] = ()


def marked(store: Store, name: str, kept: tuple[Mark, ...], search: Search, now: datetime) -> tuple[Mark, ...]:
    """The marks in force at `now`, after what is newly found was kept. Raises StoreError.

    Only load is searched: a length of requests has no outages.
    """
    said = tuple(mark for mark in kept if mark.at <= now)  # a run for the past knows what had been said then
    if search.load.signal not in LOAD_SIGNALS or not len(search.load):
        return marks_in_force(said)
    found = [mark for mark in detect(search.load, now, Companions(pressures=search.pressures)) if not _explained(mark, search.measured)]
    new = news(found, said, _seen(search.load), now)
    if new:
        store.append_marks(name, new)
    return marks_in_force((*said, *new))


def keep_told(store: Store, name: str, told: tuple[Mark, ...]) -> None:
    """Keep what a source or a second look said of samples as they came, as far as it was not said before. Raises StoreError."""
    if not told:
        return
    span = Window(start=min(mark.span.start for mark in told) - NEAR, end=max(mark.span.end for mark in told))
    new = told_anew(told, store.marks(name, told[0].signal, span))
    if new:
        store.append_marks(name, new)


def _explained(mark: Mark, measured: Series) -> bool:
    """Whether a gap is one only because an event was taken out there."""
    return mark.kind is MarkKind.GAP and measured.between(mark.span.start, mark.span.end).measured_ratio > 0


def _seen(series: Series) -> Window:
    """Where detection sees as much as when it last looked: not in the first week of a span that has moved on within a longer history."""
    measured = np.flatnonzero(~np.isnan(series.mean))
    first = series.start + timedelta(seconds=int(measured[0]) * series.step_s) if measured.size else series.start
    young = first - series.start > timedelta(seconds=WEEK_S)
    start = first if young else series.start + timedelta(seconds=WEEK_S)
    return Window(start=min(start, series.end - timedelta(seconds=series.step_s)), end=series.end)
