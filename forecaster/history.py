"""What a model is given: measured load as known now, without what would teach it something that is not so."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.detect.found import detect
from forecaster.detect.grid import medians, runs
from forecaster.detect.missing import SHORT_GAP_BUCKETS, SHORT_GAP_S
from forecaster.marks import Mark, Treatment
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Series
from forecaster.units import DAY_S, HOUR_S, epoch_s, iso

_EVERY_DAY, _EVERY_WEEK = 1, 7


def prepare(series: Series, now: datetime, span_s: float, marks: Iterable[Mark] = ()) -> Series:
    """The last `span_s` before `now`, without what marks in force say was not the demand, and with short gaps filled.

    What a mark leaves out becomes NaN; what it calls a lower bound stays where it is above the median of other days at that time of the
    week, or of the day where no week was measured, and becomes NaN where it is not: what was served under a cap may raise a forecast
    and never lowers it. A gap is short up to 30 minutes, or up to two buckets where they are longer: it is filled linearly, unless it was
    left by a lower bound. Longer ones and those at the ends stay NaN. A service that was deployed with zeros before its first request did
    not have a week of no demand, so those zeros go; a series that is zero throughout stays zero. Length and grid are the span's,
    whatever was measured.
    """
    known = series.known_at(now).between(now - timedelta(seconds=span_s), now)
    said = tuple(mark for mark in marks if mark.signal is series.signal)
    out = _under(known, said, Treatment.LEFT_OUT)
    bounds = _under(known, said, Treatment.LOWER_BOUND) & ~out
    believed = np.where(out, np.nan, known.mean)
    busy = np.flatnonzero(believed > 0)
    out |= np.arange(len(known)) < (busy[0] if busy.size else 0)
    uninformative = bounds & ~_above_others(np.where(out, np.nan, known.mean), bounds, known.step_s) if bounds.any() else bounds
    out |= uninformative
    short = _short(np.where(out, np.nan, known.mean), known.step_s) & ~uninformative
    return replace(
        known,
        mean=_filled(np.where(out, np.nan, known.mean), short),
        peak=_filled(np.where(out, np.nan, known.peak), short),
    )


def prepare_alone(series: Series, now: datetime, span_s: float) -> Series:
    """As `prepare`, with what is found in the span at `now` and no word of a person: for backtests and what has no store."""
    known = series.known_at(now).between(now - timedelta(seconds=span_s), now)
    return prepare(known, now, span_s, detect(known, now))


def gaps(series: Series) -> tuple[Reason, ...]:
    """One reason that sums up what is missing since the first measured bucket; none when nothing is."""
    missing = [(start, stop) for start, stop in runs(np.isnan(series.mean)) if start > 0]
    if not missing or series.measured_ratio == 0:
        return ()
    hours = [(stop - start) * series.step_s / HOUR_S for start, stop in missing]
    longest = int(np.argmax(hours))
    since = series.start + timedelta(seconds=missing[longest][0] * series.step_s)
    detail = (
        f"{len(missing)} gap(s) of {sum(hours):.1f} h in all, the longest of {hours[longest]:.1f} h from {iso(since)}: left out, not zero"
    )
    return (Reason(code=Code.GAPS_IN_HISTORY, detail=detail),)


def _short(values: Floats, step_s: int) -> NDArray[np.bool_]:
    """Which buckets lie in a short gap between measured ones."""
    most = max(SHORT_GAP_BUCKETS, int(SHORT_GAP_S // step_s))
    short = np.zeros(values.size, dtype=bool)
    for start, stop in runs(np.isnan(values)):
        short[start:stop] = start > 0 and stop < values.size and stop - start <= most
    return short


def _filled(values: Floats, short: NDArray[np.bool_]) -> Floats:
    known = np.flatnonzero(~np.isnan(values))
    return np.where(short, np.interp(np.arange(values.size), known, values[known]), values) if known.size else values


def _under(series: Series, marks: Iterable[Mark], treatment: Treatment) -> NDArray[np.bool_]:
    """Which buckets lie, wholly or in part, in a span that is treated so."""
    under = np.zeros(len(series), dtype=bool)
    first_s, step_s = epoch_s(series.start), series.step_s
    for mark in marks:
        if mark.kind.treatment is treatment and not mark.unmark:
            start, stop = (mark.span.start.timestamp() - first_s) // step_s, -((first_s - mark.span.end.timestamp()) // step_s)
            under[max(0, int(start)) : max(0, int(stop))] = True
    return under


def _above_others(load: Floats, bounds: NDArray[np.bool_], step_s: int) -> NDArray[np.bool_]:
    """Which buckets are no lower than others at their time, or have no others to compare with."""
    reference = np.full(load.size, np.nan)
    free = np.where(bounds, np.nan, load)
    for days in (_EVERY_WEEK, _EVERY_DAY):
        period = max(1, days * DAY_S // step_s)
        rows = np.pad(free, (0, -load.size % period), constant_values=np.nan).reshape(-1, period)
        typical = np.tile(medians(rows), len(rows))[: load.size]
        reference = np.where(np.isnan(reference), typical, reference)
    return ~(load < reference)
