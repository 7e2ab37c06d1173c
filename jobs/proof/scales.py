"""Where a point of the frontier lies on a chart, whatever it is drawn with."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from jobs.proof.judged import Point

LEAST_LATE = 1e-4
"""The lower edge of the chart: what is less late, or not at all, is drawn on it."""
_MOST_LATE = 1.0
_TICKS = 5
_DEAR = 1.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Replica-hours from left to right, linear; the share of late requests upwards, by tenfolds."""

    least_hours: float
    most_hours: float
    most_late: float

    def across(self, hours: float) -> float:
        """0 at the left edge, 1 at the right one."""
        return min(1.0, max(0.0, (hours - self.least_hours) / (self.most_hours - self.least_hours)))

    def up(self, late_ratio: float) -> float:
        """0 at the lower edge, 1 at the upper one."""
        late = min(self.most_late, max(LEAST_LATE, late_ratio))
        return math.log(late / LEAST_LATE) / math.log(self.most_late / LEAST_LATE)

    def hours(self) -> tuple[float, ...]:
        """Round numbers of replica-hours to write at the axis."""
        span = self.most_hours - self.least_hours
        scale = 10.0 ** math.floor(math.log10(span / _TICKS))
        step = next(scale * k for k in (1, 2, 5, 10) if span / (scale * k) <= _TICKS + 1)
        first = math.ceil(self.least_hours / step)
        return tuple(k * step for k in range(first, math.floor(self.most_hours / step) + 1))

    def lates(self) -> tuple[float, ...]:
        """Shares of late requests to write at the axis, one a tenfold."""
        tenfolds = round(math.log10(self.most_late / LEAST_LATE))
        return tuple(LEAST_LATE * 10.0**k for k in range(tenfolds + 1))


def scales(points: Iterable[Point]) -> Scales:
    """Scales that hold all of these points, with some air to both sides; at least one point."""
    shown = tuple(points)
    least, most = min(p.replica_hours for p in shown), max(p.replica_hours for p in shown)
    air = max(0.04 * (most - least), 0.02 * most, 1e-9)
    latest = max(p.late_ratio for p in shown)
    most_late = min(_MOST_LATE, 10.0 ** math.ceil(math.log10(max(latest, 10 * LEAST_LATE)) - 1e-9))
    return Scales(least_hours=max(0.0, least - air), most_hours=most + air, most_late=max(most_late, 10 * LEAST_LATE))


def percent_of(late_ratio: float) -> str:
    """`0.1 %`; the lower edge stands for it and for everything below."""
    text = f"{late_ratio * 100:.4g} %"
    return f"<{text}" if late_ratio <= LEAST_LATE else text


def on_chart(points: Iterable[Point], cheapest: float) -> tuple[Point, ...]:
    """The points worth drawing: those up to 1.7 times as dear as the cheapest of interest."""
    return tuple(point for point in points if point.replica_hours <= _DEAR * cheapest)
