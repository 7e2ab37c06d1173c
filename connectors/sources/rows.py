"""Rows of (time, value) as any database gives them, on the grid of their buckets."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np

from forecaster.errors import SourceRejected
from forecaster.series import Floats
from forecaster.units import DAY_S, epoch_s, from_epoch_s, iso

_MILLISECONDS = 1e11  # seconds reach it in the year 5138, milliseconds did in 1973
_TELLABLE_S = 6e10  # the year 3871; beyond 9999 there is no date
_CROWDED = 1.5  # rows a bucket: jitter puts two into one now and then, finer rows always do


def numbers_of(rows: Iterable[Sequence[object]], start: datetime, buckets: int, bucket_s: int) -> Floats:
    """One number a bucket from `start` on, NaN where there is no row or its value is null; rows outside of them are left out.

    A row's time lies in the bucket that it speaks of: aware, or UTC without a zone, or seconds or milliseconds since the epoch, or ISO 8601
    text. Two rows in one bucket are a recorder's jitter and averaged. Raises SourceRejected for what is no time or number, for two
    rows of one time, for rows finer than the buckets, and where all rows lie more than a day away from them: their times are no times.
    """
    total, count = np.zeros(buckets), np.zeros(buckets)
    seen: set[float] = set()
    far: list[float] = []
    for time, value in map(_pair, rows):
        at = _epoch(time)
        index = int((at - epoch_s(start)) // bucket_s)
        if not 0 <= index < buckets:
            far.append(at)
            continue
        if at in seen:
            msg = f"there are two rows for {iso(from_epoch_s(int(at)))}; group by time, with sum(...) of parts or max(...) of copies"
            raise SourceRejected(msg)
        seen.add(at)
        number = _number(value)
        if not np.isnan(number):
            total[index] += number
            count[index] += 1
    if far and not seen:
        _check_near(far, start, buckets * bucket_s)
    filled = np.count_nonzero(count)
    if filled and count.sum() > _CROWDED * filled:
        msg = f"rows come more often than every {bucket_s} s; set bucket_s to what one row speaks of, or group them"
        raise SourceRejected(msg)
    with np.errstate(invalid="ignore"):  # +inf and -inf in one bucket
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _check_near(stamps: Sequence[float], start: datetime, span_s: int) -> None:
    """Rows just beside what was asked are of a query that rounds its bounds; rows far from it answer another question."""
    first, last = epoch_s(start) - DAY_S, epoch_s(start) + span_s + DAY_S
    if not any(first <= at <= last for at in stamps):
        remedy = "select the time first, and compare it with both"
        raise SourceRejected(f"none of them lies within :start and :end, the first time is {_told(stamps[0])}; {remedy}")


def _told(at: float) -> str:
    return iso(from_epoch_s(int(at))) if abs(at) < _TELLABLE_S else f"{at:g} s since 1970"


def _pair(row: Sequence[object]) -> tuple[object, object]:
    if len(row) != 2:  # noqa: PLR2004  # time and value
        msg = f"a row must hold a time and a value, got {len(row)} columns; select these two"
        raise SourceRejected(msg)
    return row[0], row[1]


def _epoch(time: object) -> float:
    match time:
        case datetime():
            aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
            return (aware - from_epoch_s(0)) / timedelta(seconds=1)
        case date():
            return _epoch(datetime(time.year, time.month, time.day, tzinfo=UTC))
        case bool() | None:
            pass
        case int() | float() | Decimal():
            seconds = float(time)
            return seconds / 1_000 if abs(seconds) >= _MILLISECONDS else seconds
        case str():
            try:
                return _epoch(datetime.fromisoformat(time.strip()))
            except ValueError:
                pass
    msg = f"{time!r:.60} is no time; select an instant, UTC without a zone, seconds since 1970 or ISO 8601 text first"
    raise SourceRejected(msg)


def _number(value: object) -> float:
    match value:
        case None:
            return float("nan")
        case bool():
            pass
        case int() | float() | Decimal():
            return float(value)
    msg = f"{value!r:.60} is not a number; select the time first and a number, or null, second"
    raise SourceRejected(msg)
