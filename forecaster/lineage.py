"""History belongs to the route, not to the Deployment: what a workload continues, and the load that it had under other names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

import numpy as np

from forecaster.marks import Mark
from forecaster.series import Series, Window
from forecaster.units import check_named, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A workload and those whose load it took over, wholly or in part.

    share_ratio: the younger one's load over this one's; above 1 where one name took over from one of several alike.
    """

    name: str
    share_ratio: float = 1.0
    continues: tuple[Self, ...] = ()

    def __post_init__(self) -> None:
        check_named("lineage.name", self.name)
        check_positive("lineage.share_ratio", self.share_ratio, "")


def began(own: Series) -> datetime:
    """When a series has its first traffic; the end of it when it has none: zeros before that are an idle new name."""
    busy = np.flatnonzero(own.mean > 0)
    return own.start + timedelta(seconds=int(busy[0]) * own.step_s) if busy.size else own.end


def continued(own: Series, before: Sequence[tuple[Series, float]]) -> Series:
    """The load of a route: a series from its first traffic on, and until then the sum of others on the same grid, each times its share.

    Own samples win; nothing is ever added to them. A bucket that one of several others did not measure is unknown, unless it lies
    before its first measurement or after its last, where that one did not exist.
    """
    if not before:
        return own
    mean, peak = np.zeros(len(own)), np.zeros(len(own))
    alive = np.zeros(len(own), dtype=bool)
    for series, share in before:
        measured = np.flatnonzero(~np.isnan(series.mean))
        if measured.size:
            lived = slice(int(measured[0]), int(measured[-1]) + 1)
            mean[lived] += share * series.mean[lived]
            peak[lived] += share * series.peak[lived]
            alive[lived] = True
    mean, peak = np.where(alive, mean, np.nan), np.where(alive, peak, np.nan)
    at = int((began(own) - own.start).total_seconds()) // own.step_s
    return replace(own, mean=np.concatenate([mean[:at], own.mean[at:]]), peak=np.concatenate([peak[:at], own.peak[at:]]))


def inherited(marks: Sequence[Mark], until: datetime) -> tuple[Mark, ...]:
    """The marks of an older name as far as they speak of what is taken over: the part before `until`."""
    before = (mark for mark in marks if mark.span.start < until)
    return tuple(replace(mark, span=Window(start=mark.span.start, end=min(mark.span.end, until))) for mark in before)
