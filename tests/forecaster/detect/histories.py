"""Histories to look into: usual ones, and what may happen to them."""

from datetime import datetime, timedelta

from forecaster.detect.found import detect
from forecaster.detect.plateaus import Companions
from forecaster.marks import Mark, MarkKind
from forecaster.series import Floats, Series
from forecaster.units import DAY_S
from tests.traces import MONDAY, series_of, usual_rpm

STEP_S = 300
A_DAY = DAY_S // STEP_S
AN_HOUR = 3_600 // STEP_S
DAY = timedelta(days=1)


def usual(days: int = 28, *, noise_ratio: float = 0.05, seed: int = 0) -> Floats:
    """Five-minute RPM that ends on a Monday: 100 at night, 300 at noon, half of it at weekends."""
    return usual_rpm(days, step_s=STEP_S, noise_ratio=noise_ratio, seed=seed).mean.copy()


def at(day: int, hour: float = 0) -> int:
    """The bucket of that hour, so many days into a history."""
    return day * A_DAY + round(hour * AN_HOUR)


def series(load: Floats) -> Series:
    """Five-minute RPM up to MONDAY."""
    return series_of(load, step_s=STEP_S)


def instant(load: Floats, bucket: int) -> datetime:
    """When a bucket of a history starts."""
    return MONDAY - timedelta(seconds=(load.size - bucket) * STEP_S)


def found(load: Floats, *, now: datetime = MONDAY, companions: Companions | None = None) -> tuple[Mark, ...]:
    """What is found in a history."""
    return detect(series(load), now, companions or Companions())


def kinds(load: Floats, *, now: datetime = MONDAY) -> list[MarkKind]:
    """What kinds are found, in order."""
    return [mark.kind for mark in found(load, now=now)]


def spans(load: Floats, kind: MarkKind, *, now: datetime = MONDAY) -> list[tuple[int, int]]:
    """The buckets of the marks of one kind."""
    start = instant(load, 0)
    return [
        (int((mark.span.start - start).total_seconds() // STEP_S), int((mark.span.end - start).total_seconds() // STEP_S))
        for mark in found(load, now=now)
        if mark.kind is kind
    ]
