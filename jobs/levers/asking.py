"""Sources asked beside the tick: one that does not answer must not keep levers from acting on what engines say themselves."""

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from forecaster.errors import SourceError, SourceUnavailable
from forecaster.ports import InstantSource, MetricSource, Query, Unit
from forecaster.series import Signal, Window
from forecaster.units import MINUTE_S, floor_to

_FRESH_MIN = 2
"""Minutes: of a source that knows no instants a sample counts as the present one, the minute it speaks of and one that it may be late."""
_PATIENCE_S = 3.0
"""All sources of a tick together are waited for so long: the next tick is five seconds away."""
_THREADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSignal:
    """A signal that a source answers."""

    signal: str
    source: MetricSource
    expression: str


class Asking:
    """Asks sources in threads of its own. For one caller at a time; no signal is asked again while its last question is open."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._open: dict[str, Future[float]] = {}

    def ask(self, signals: tuple[SourceSignal, ...], now: datetime) -> dict[str, float | SourceError]:
        """The newest number of each (NaN = there is none), or why it is not known. What comes too late for its tick counts for none."""
        if not signals:
            return {}
        pool = self._pool = self._pool or ThreadPoolExecutor(_THREADS, thread_name_prefix="levers")
        late = {name for name, future in self._open.items() if not future.done()}
        asked = {each.signal: pool.submit(latest, each, now) for each in signals if each.signal not in late}
        self._open = {name: self._open[name] for name in late} | asked
        deadline_s = time.monotonic() + _PATIENCE_S
        return {each.signal: _answered(each, asked.get(each.signal), deadline_s) for each in signals}

    def close(self) -> None:
        """Ask no more; who is asked still is waited for by nobody."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


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


def _answered(asked: SourceSignal, future: Future[float] | None, deadline_s: float) -> float | SourceError:
    try:
        if future is not None:
            return future.result(timeout=max(deadline_s - time.monotonic(), 0.0))
    except SourceError as error:
        return error
    except NotYet:
        pass
    msg = f"its source has not answered {asked.expression!r} within {_PATIENCE_S:g} s: see that it is up; it is asked again next time"
    return SourceUnavailable(msg)
