"""What a pool's floors cost and saved, day by day: as planned, as it was, and as it would have been without them.

| column   | replica-hours of                                                                  | lateness                |
|----------|-----------------------------------------------------------------------------------|-------------------------|
| planned  | the floors that were decided                                                      |                         |
| actual   | the replicas that were seen ready                                                 |                         |
| ours     | a replay of the measured load under these floors and the autoscaler above them    | of the same replay      |
| reactive | a replay under the autoscaler alone, at the target that it would have then        | of the same replay      |
| static   | a fixed fleet for the largest minute of the span                                  | none, by what it is     |

Ours and reactive are compared in one replay, since production shows only one of the two. Actual says how far the replay can be believed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np

from forecaster.cost import Prices, cost
from forecaster.decision import CycleRecord
from forecaster.series import Floats, Series, Signal, Window, frozen_floats
from forecaster.simulate.fleet import Fleet, Policies, replicas_for
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_positive, epoch_s

_ENOUGH_RATIO = 0.9
"""Of a day's buckets: what was measured of less stands for no whole day."""
_DAY_H = DAY_S // HOUR_S
_DAY_MIN = DAY_S // MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolDays:
    """All that is known of a pool over whole UTC days.

    load: the pool's share of one load signal. ready: replicas seen ready, NaN = not seen. floors: the floor in force in each minute, NaN
    where none of ours was, shape (minutes,). carry: load that a replica takes inside its SLO. target_ratio: utilisation at which the
    autoscaler above the floor aims; alone_ratio: at which it would aim without our floors. least: its own floor, in replicas.
    """

    load: Series
    ready: Series
    floors: Floats = field(repr=False)
    carry: float
    lead_min: int
    target_ratio: float
    alone_ratio: float
    least: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "floors", frozen_floats(self.floors, ndim=1, name="pool_days.floors"))
        check_positive("pool_days.carry", self.carry, self.load.signal.unit)
        check_positive("pool_days.target_ratio", self.target_ratio, "")
        check_positive("pool_days.alone_ratio", self.alone_ratio, "")
        if epoch_s(self.load.start) % DAY_S or self.floors.size % _DAY_MIN or not self.floors.size:
            msg = "pool_days speak of whole UTC days"
            raise ValueError(msg)
        if self.load.end - self.load.start != timedelta(minutes=self.floors.size):
            msg = f"pool_days need one floor a minute of its load, got {self.floors.size}"
            raise ValueError(msg)

    @property
    def days(self) -> int:
        """So many."""
        return self.floors.size // _DAY_MIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One pool on one day, or a sum of such, in replica-hours and late requests. None = not known, which is not zero."""

    planned_hours: float | None
    actual_hours: float | None
    ours_hours: float | None
    reactive_hours: float | None
    static_hours: float | None
    requests: float | None
    late_ours: float | None
    late_reactive: float | None

    @property
    def saved_hours(self) -> float | None:
        """Reactive minus ours: below zero where the floors cost more than they save."""
        return None if self.ours_hours is None or self.reactive_hours is None else self.reactive_hours - self.ours_hours

    @property
    def avoided(self) -> float | None:
        """Late requests that the autoscaler alone would have had and ours would not."""
        return None if self.late_ours is None or self.late_reactive is None else self.late_reactive - self.late_ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """The same in money; None = not known. Late requests are in `ours` and `reactive` where they have a price, and in no other."""

    planned: float | None
    actual: float | None
    ours: float | None
    reactive: float | None
    static: float | None

    @property
    def saved(self) -> float | None:
        """Reactive minus ours."""
        return None if self.ours is None or self.reactive is None else self.reactive - self.ours


Sum = TypeVar("Sum", Spent, Money)


def money(found: Spent, prices: Prices) -> Money:
    """What the hours cost, and the late requests of the two replays where they have a price."""
    return Money(
        planned=_priced(found.planned_hours, 0.0, prices),
        actual=_priced(found.actual_hours, 0.0, prices),
        ours=_priced(found.ours_hours, found.late_ours, prices),
        reactive=_priced(found.reactive_hours, found.late_reactive, prices),
        static=_priced(found.static_hours, 0.0, prices),
    )


def total(parts: Iterable[Sum], kind: type[Sum]) -> Sum:
    """Field by field; a sum of which one part is not known is not known."""
    of = tuple(parts)
    return kind(**{each.name: _added([getattr(part, each.name) for part in of]) for each in fields(kind)})


def spent(kept: PoolDays) -> tuple[Spent, ...]:
    """Each day of a pool, in order. Of a day whose load was measured in less than nine tenths of its buckets no replay is told."""
    replayed = _replayed(kept)
    measured = np.array([ratio >= _ENOUGH_RATIO for ratio in _measured_ratios(kept.load, kept.days)])
    planned, actual = day_means(kept.floors, kept.days), day_means(kept.ready.mean, kept.days)
    return tuple(
        Spent(
            planned_hours=_of_day(planned[i]),
            actual_hours=_of_day(actual[i]),
            **{name: float(values[i]) if measured[i] and values is not None else None for name, values in replayed.items()},
        )
        for i in range(kept.days)
    )


def floors_by_minute(records: Sequence[CycleRecord], pool: str, target: str, window: Window) -> Floats:
    """The floor in force on a target in each minute of a window, NaN where none of ours was; shape (minutes,).

    records: in order. A decision stands until the next one, and at most until its floor on the object expires.
    """
    floors = np.full(int(window.length_s // MINUTE_S), np.nan)
    decisions = [r.decision for r in records if (r.decision.pool, r.decision.target) == (pool, target)]
    following = [*(decision.at for decision in decisions[1:]), window.end]
    for decision, until in zip(decisions, following, strict=False):  # without a decision there is still an end
        end = min(decision.valid_until, until)
        first, last = (max(0, _minute(at, window)) for at in (decision.at, end))
        floors[first:last] = decision.floor
    return floors


def least_floor(records: Sequence[CycleRecord], pool: str) -> int | None:
    """The lowest floor that was seen on a pool's objects: what stood before ours, as far as it shows; None where nothing was seen."""
    seen = [r.applied.before for r in records if r.decision.pool == pool and r.applied is not None]
    return min(seen, default=None)


def day_means(values: Floats, days: int) -> tuple[float | None, ...]:
    """The mean of what was seen in each of equally long days; None for a day of which less than nine tenths were."""
    parts = [part[~np.isnan(part)] for part in values.reshape(days, -1)]
    return tuple(float(seen.mean()) if seen.size >= _ENOUGH_RATIO * (values.size // days) else None for seen in parts)


def minutes_of(load: Series) -> MinuteLoad:
    """A load at the grain of a replay: the largest minute of a bucket first, the others as the mean asks; gaps on a line.

    Raises ValueError when nothing was measured.
    """
    known = np.flatnonzero(~np.isnan(load.mean))
    if not known.size:
        msg = "no load was measured"
        raise ValueError(msg)
    at = np.arange(len(load))
    mean, peak = (np.interp(at, known, values[known]) for values in (load.mean, load.peak))
    per = load.step_s // MINUTE_S
    minutes = np.repeat(mean[:, None], per, axis=1)
    if per > 1:
        largest = np.minimum(np.maximum(peak, mean), mean * per)
        minutes[:, 0] = largest
        minutes[:, 1:] = ((mean * per - largest) / (per - 1))[:, None]
    return MinuteLoad(start=load.start, rpm=minutes.reshape(-1))


def _replayed(kept: PoolDays) -> dict[str, Floats | None]:
    """Hours, requests and late ones of each day by the names of Spent's fields; None where nothing can be told."""
    names = ("ours_hours", "reactive_hours", "static_hours", "requests", "late_ours", "late_reactive")
    if np.isnan(kept.load.mean).all():
        return dict.fromkeys(names)
    minutes = minutes_of(kept.load)
    fleet = Fleet(replica_rpm=kept.carry, lead_min=kept.lead_min)
    trial = Trial(minutes=minutes, start=minutes.start, end=minutes.end, fleet=fleet, late_limit_ratio=0.0)
    reactive = np.full(kept.floors.size, float(kept.least))
    floors = np.fmax(kept.floors, reactive)
    both = Policies(
        targets=np.array([kept.target_ratio, kept.alone_ratio]),
        floors=np.stack([floors, reactive]),
        column=np.arange(floors.size),
        start=_start(kept),
    )
    outcome = trial.outcome(both)
    peak = max(float(replicas_for(minutes.rpm.max(keepdims=True), kept.carry)[0]), float(kept.least), 1.0)
    counted = kept.load.signal is Signal.RPM
    return {
        "ours_hours": outcome.paid_min[0] / (HOUR_S / MINUTE_S),
        "reactive_hours": outcome.paid_min[1] / (HOUR_S / MINUTE_S),
        "static_hours": np.full(kept.days, peak * _DAY_H),
        "requests": outcome.arrivals if counted else None,
        "late_ours": outcome.late[0] if counted else None,
        "late_reactive": outcome.late[1] if counted else None,
    }


def _priced(hours: float | None, late: float | None, prices: Prices) -> float | None:
    if hours is None or (late is None and prices.late_request is not None):
        return None
    return cost(hours, late or 0.0, prices)


def _added(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _start(kept: PoolDays) -> Floats:
    """Both begin with the replicas that the cooler autoscaler asks for: neither is late for where it came from."""
    known = kept.load.mean[~np.isnan(kept.load.mean)]
    need = float(replicas_for(known[:1] / min(kept.target_ratio, kept.alone_ratio), kept.carry)[0])
    return np.full(2, max(need, float(kept.least), 1.0))


def _of_day(replicas: float | None) -> float | None:
    """Replica-hours of a day in which so many were there on average."""
    return None if replicas is None else replicas * _DAY_H


def _measured_ratios(load: Series, days: int) -> list[float]:
    return [float(ratio) for ratio in (~np.isnan(load.mean.reshape(days, -1))).mean(axis=1)]


def _minute(at: datetime, window: Window) -> int:
    """The first minute of a window that begins at or after an instant."""
    return -int(-(at - window.start).total_seconds() // MINUTE_S)
