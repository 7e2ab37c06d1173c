"""How far a run is, told to whoever watches."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from forecaster.backtest.settings import Progress

Item = TypeVar("Item")


def within(progress: Progress, start: float, end: float) -> Progress:
    """The progress of a part of the work that takes it from `start` to `end`, shares of the whole."""
    return lambda done, doing: progress(start + (end - start) * done, doing)


def told(items: Iterable[Item], total: int, progress: Progress, doing: str) -> Iterator[Item]:
    """The items as they come, of `total`, each of them told."""
    for done, item in enumerate(items, start=1):
        progress(done / total, f"{doing} {done:,} of {total:,}")
        yield item
