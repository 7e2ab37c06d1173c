"""What the store has kept of a route: a workload's history and marks, led by those of the workloads that it continues.

Nothing is copied: it is put together at every reading, so that a share that was wrong is put right in the configuration alone.
"""

from dataclasses import dataclass

from forecaster.errors import HistoryAtOtherStep
from forecaster.lineage import Lineage, began, continued, inherited
from forecaster.marks import Mark
from forecaster.ports import Store
from forecaster.series import Series, Signal, Window, empty_series


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A signal over a span. marks: everything said of it, in order. absent: a sentence for each older name of which nothing is kept."""

    series: Series
    marks: tuple[Mark, ...] = ()
    absent: tuple[str, ...] = ()


def route(store: Store, of: Lineage, signal: Signal, window: Window, step_s: int) -> Route:
    """The history of a workload under all its names. Raises StoreError, and HistoryAtOtherStep for the workload's own history."""
    return led(store, of, store.history(of.name, signal, window, step_s), window)


def led(store: Store, of: Lineage, own: Series, window: Window) -> Route:
    """The same where the workload's own history over the window is at hand. Raises StoreError."""
    signal, step_s = own.signal, own.step_s
    marks = store.marks(of.name, signal, window)
    begin = began(own)
    if not of.continues or begin <= own.start:
        return Route(series=own, marks=marks)
    before = [(_older(store, older, signal, window, step_s), older) for older in of.continues]
    return Route(
        series=continued(own, [(found.series, older.share_ratio) for found, older in before]),
        marks=(*(mark for found, _ in before for mark in inherited(found.marks, begin)), *marks),
        absent=tuple(sentence for found, _ in before for sentence in found.absent),
    )


def said_of(store: Store, of: Lineage, signal: Signal, window: Window, step_s: int) -> tuple[Mark, ...]:
    """Only the marks of a route; the history is read where older names make it needed."""
    return route(store, of, signal, window, step_s).marks if of.continues else store.marks(of.name, signal, window)


def _older(store: Store, older: Lineage, signal: Signal, window: Window, step_s: int) -> Route:
    try:
        found = route(store, older, signal, window, step_s)
    except HistoryAtOtherStep as error:
        return Route(series=empty_series(signal, window, step_s), absent=(str(error),))
    if found.series.measured_ratio > 0 or found.absent:
        return found
    sentence = f"nothing is kept of {older.name}, which it continues: its {signal} begins with its own first sample"
    return Route(series=found.series, marks=found.marks, absent=(sentence,))
