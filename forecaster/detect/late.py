"""Samples that came after their bucket was kept, seen by asking again: what is answered now differs from what was answered then."""

from datetime import datetime, timedelta

import numpy as np

from forecaster.marks import Mark, MarkKind
from forecaster.series import Series, Window

_CHANGED_RATIO = 0.05  # of the larger value: rates are extrapolated from samples, and a digit less or more is not late


def late(known: Series, fresh: Series, now: datetime) -> tuple[Mark, ...]:
    """One mark from the first to the last bucket that changed, or was measured, only after later buckets had been kept; or none.

    known: what was kept before `fresh` was fetched, on the same step. The newest kept bucket does not count, since samples of it may
    have been on their way.
    """
    measured = np.flatnonzero(~np.isnan(known.mean))
    if not measured.size or known.step_s != fresh.step_s:
        return ()
    newest = known.start + timedelta(seconds=known.step_s * int(measured[-1]))
    before, after = known.between(fresh.start, newest), fresh.between(known.start, newest)
    filled = np.isnan(before.mean) & ~np.isnan(after.mean)
    change, larger = np.abs(after.mean - before.mean), np.maximum(before.mean, after.mean)
    changed = change > _CHANGED_RATIO * larger  # NaN compares as false
    at = np.flatnonzero(filled | changed)
    if not at.size:
        return ()
    first, stop = (after.start + timedelta(seconds=after.step_s * int(i)) for i in (at[0], at[-1] + 1))
    parts = []
    if changed.any():
        most = float((change[changed] / larger[changed]).max())
        parts.append(_told(int(changed.sum()), f"changed by up to {most:.0%} after being kept"))
    if filled.any():
        parts.append(_told(int(filled.sum()), "measured after later ones"))
    return (Mark(kind=MarkKind.LATE, span=Window(start=first, end=stop), signal=fresh.signal, at=now, detail="; ".join(parts)),)


def _told(count: int, what: str) -> str:
    return f"{count} bucket{'s' * (count != 1)} {what}"
