"""One reading a signal: from pages of metrics and sources as of this moment, else from sources as of the last minute that they have."""

import math
from datetime import datetime, timedelta

import numpy as np

from connectors.live.pages import Look
from forecaster.errors import SourceError
from forecaster.ports import InstantSource, Query, Unit
from forecaster.series import Signal, Window
from forecaster.units import MINUTE_S, floor_to
from jobs.failure import Failure, failure
from jobs.levers.desk import Desk, SourceSignal

_FRESH_MIN = 2
"""Minutes: of a source that knows no instants a sample counts as the present one, the minute it speaks of and one that it may be late."""


def read(desk: Desk, before: Look | None, now: datetime) -> tuple[Look | None, dict[str, float], list[Failure]]:
    """This look at the pages, the readings by signal (NaN = unknown), and what could not be read."""
    look, readings, errors = desk.pages.look(desk.asked, before, now) if desk.asked else (None, {}, [])
    failures = [failure("levers", error) for error in errors]
    for asked in desk.sources:
        try:
            readings[asked.signal] = latest(asked, now)
        except SourceError as error:
            readings[asked.signal] = math.nan
            failures.append(failure("levers", error, f"{asked.signal} could not be read: {error}"))
    return look, readings, failures


def latest(asked: SourceSignal, now: datetime) -> float:
    """The newest number that a source has, NaN = it has none. Raises SourceError."""
    if isinstance(asked.source, InstantSource):
        return asked.source.newest(asked.expression, now)
    end = floor_to(now, MINUTE_S)
    window = Window(start=end - timedelta(minutes=_FRESH_MIN), end=end)
    query = Query(signal=Signal.CONDITION, expression=asked.expression, unit=Unit.COUNT)
    mean = asked.source.fetch(query, window, MINUTE_S).mean
    known = mean[np.isfinite(mean)]
    return float(known[-1]) if known.size else math.nan
