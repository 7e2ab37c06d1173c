"""What a model is given: measured load as known now, without what would teach it something that is not so."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Series
from forecaster.units import HOUR_S, MINUTE_S, iso

_SHORT_GAP_S = 30 * MINUTE_S
_SHORT_GAP_BUCKETS = 2


def prepare(series: Series, now: datetime, span_s: float) -> Series:
    """The last `span_s` before `now`, with short gaps filled and zeros before the first traffic taken for unmeasured.

    A gap is short up to 30 minutes, or up to two buckets where they are longer: it is filled linearly. Longer ones and those at the
    ends stay NaN. A service that was deployed with zeros before its first request did not have a week of no demand, so those zeros
    go; a series that is zero throughout stays zero. Length and grid are the span's, whatever was measured.
    """
    known = series.known_at(now).between(now - timedelta(seconds=span_s), now)
    busy = np.flatnonzero(known.mean > 0)
    before_traffic = np.arange(len(known)) < (busy[0] if busy.size else 0)
    short = _short(np.where(before_traffic, np.nan, known.mean), known.step_s)
    return replace(
        known,
        mean=_filled(np.where(before_traffic, np.nan, known.mean), short),
        peak=_filled(np.where(before_traffic, np.nan, known.peak), short),
    )


def gaps(series: Series) -> tuple[Reason, ...]:
    """One reason that sums up what is missing since the first measured bucket; none when nothing is."""
    missing = [(start, stop) for start, stop in _runs(np.isnan(series.mean)) if start > 0]
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
    most = max(_SHORT_GAP_BUCKETS, _SHORT_GAP_S // step_s)
    short = np.zeros(values.size, dtype=bool)
    for start, stop in _runs(np.isnan(values)):
        short[start:stop] = start > 0 and stop < values.size and stop - start <= most
    return short


def _filled(values: Floats, short: NDArray[np.bool_]) -> Floats:
    known = np.flatnonzero(~np.isnan(values))
    return np.where(short, np.interp(np.arange(values.size), known, values[known]), values) if known.size else values


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The half-open stretches in which the flags are set, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True)]
