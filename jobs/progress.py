"""How far a run is, told to whoever watches."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from forecaster.backtest.settings import Progress

Item = TypeVar("Item")


def beside(progress: Progress, *shares: float) -> tuple[Progress, ...]:
    """The progress of parts of the work that go on at once, each of which is a share of the whole."""
    done = [0.0] * len(shares)

    def part(i: int, done_ratio: float, doing: str) -> None:
        done[i] = done_ratio * shares[i]
        progress(sum(done), doing)

    return tuple(partial(part, i) for i in range(len(shares)))


def told(items: Iterable[Item], total: int, progress: Progress, doing: str, before: int = 0) -> Iterator[Item]:
    """The items as they come, of `total`, each of them told. before: how many others came already."""
    for done, item in enumerate(items, start=before + 1):
        progress(done / total, f"{doing} {done:,} of {total:,}")
        yield item
