"""Work that may wait: so many replica-hours until a deadline, done in what the floors of other pools leave of a budget of GPUs.

The job with the earliest deadline has all that is left first, then the next one (earliest deadline first; Liu and Layland 1973: where any
order meets all deadlines this one does, as long as work can be cut into replicas and minutes). It begins at once and not at the last
moment, since a trough that is forecast may not come. It is to be done one lead time before its deadline: replicas take that to begin.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from forecaster.calendar import instant_of, zone_of
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_instant, check_not_negative, check_positive, iso, spell_number

_LEAST_RUN_S = 15 * MINUTE_S
"""No replica is started for less work than this: it would take about as long to load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """Work of a pool: replica-seconds by one instant, or by a local time of every day; it may begin `span_s` before, not sooner."""

    work_s: float
    deadline: datetime | None = None
    daily_min: int | None = None
    zone: str = "UTC"
    span_s: float = DAY_S

    def __post_init__(self) -> None:
        check_positive("bulk.work_s", self.work_s, "replica-seconds")
        check_positive("bulk.span_s", self.span_s, "seconds")
        if self.deadline is not None:
            check_instant("bulk.deadline", self.deadline)
        if (self.deadline is None) == (self.daily_min is None):
            msg = "bulk needs one deadline: an instant, or a time of every day"
            raise ValueError(msg)
        if self.daily_min is not None and self.span_s > DAY_S:
            msg = f"bulk.span of a daily deadline must be at most a day, got {self.span_s / HOUR_S:g} hours"
            raise ValueError(msg)

    def jobs(self, now: datetime, until: datetime) -> tuple["Job", ...]:
        """The work that is due after `now` and may begin before `until`, and a daily one that was due last, in order of deadlines."""
        if self.deadline is not None:
            deadlines = [self.deadline]
        else:
            days = range(-2, math.ceil((until - now).total_seconds() / DAY_S) + 2)
            today = now.astimezone(zone_of(self.zone)).date()
            deadlines = [self._on(today + timedelta(days=day)) for day in days]
            due = [i for i, deadline in enumerate(deadlines) if deadline > now]
            deadlines = deadlines[max(0, due[0] - 1) :]
        span = timedelta(seconds=self.span_s)
        return tuple(Job(release=end - span, deadline=end, work_s=self.work_s) for end in deadlines if end - span < until)

    def _on(self, day: date) -> datetime:
        wall = datetime(day.year, day.month, day.day) + timedelta(minutes=self.daily_min or 0)  # noqa: DTZ001 - a time on a wall
        return instant_of(wall, zone_of(self.zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Replica-seconds that may be worked on from `release` and are due at `deadline`. whole_s: before any of it was done."""

    release: datetime
    deadline: datetime
    work_s: float
    whole_s: float = 0.0

    def __post_init__(self) -> None:
        check_not_negative("job.work_s", self.work_s, "replica-seconds")
        if self.release >= self.deadline:
            msg = f"job.release must be before job.deadline, got {iso(self.release)} and {iso(self.deadline)}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """Replica-seconds of a pool over [start, until): replicas seen at work, None = nobody looked."""

    start: datetime
    until: datetime
    replicas: float | None


def left_of(jobs: Sequence[Job], worked: Sequence[Worked], now: datetime) -> tuple[Job, ...]:
    """The jobs less what was worked on them, the earliest deadline first; done ones are gone, and those due before anybody looked.

    Where nobody looked nothing counts as done: work that is asked for twice is late for nobody.
    """
    first = min((each.start for each in worked if each.replicas is not None), default=now)
    ours = [job for job in jobs if job.deadline > first]
    left = [job.work_s for job in ours]
    for each in worked:
        done_s = (each.until - each.start).total_seconds() * (each.replicas or 0.0)
        for i, job in enumerate(ours):
            taken_s = min(left[i], done_s) if job.release < each.until else 0.0
            left[i] -= taken_s
            done_s -= taken_s
    return tuple(replace(job, work_s=rest, whole_s=job.work_s) for job, rest in zip(ours, left, strict=True) if rest > _DONE_S)


_DONE_S = 1.0
"""Replica-seconds that are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trough:
    """GPUs that are left over [start, until)."""

    start: datetime
    until: datetime
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPool:
    """A pool and its jobs.

    least: replicas that it has anyway. most: its maximum, None = none. lead_s: until a replica that is asked for works.
    """

    name: str
    gpus_per_replica: int
    jobs: tuple[Job, ...]
    least: int = 0
    most: int | None = None
    lead_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Replicas of each pool over [start, until), in the order of the pools."""

    start: datetime
    until: datetime
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A job of a pool that cannot be done in time.

    left_s: replica-seconds at its deadline. done: when it is done, None = not as far as one looks.
    """

    pool: str
    job: Job
    left_s: float
    done: datetime | None

    @property
    def told(self) -> str:
        """By how much it is late, in work and in time."""
        left, whole = (spell_number(each / HOUR_S) for each in (self.left_s, self.job.whole_s or self.job.work_s))
        late = f"{left} of {whole} replica-hours of {self.pool} are not done by {iso(self.job.deadline)}"
        if self.done is None:
            return f"{late}, nor as far as plans look: raise the budget or max, or move the deadline"
        hours = spell_number((self.done - self.job.deadline).total_seconds() / HOUR_S)
        return f"{late} but {hours} h later: raise the budget or max, or move the deadline"


def scheduled(troughs: Sequence[Trough], pools: Sequence[BulkPool]) -> tuple[tuple[Piece, ...], tuple[Late, ...]]:
    """The replicas of each pool in what is left of a budget, never below its least, and what cannot be done in time.

    troughs: contiguous and in order, without what the pools have anyway.
    """
    open_jobs = [_Open(pool=i, job=job, due=_due(job, pool), left_s=job.work_s) for i, pool in enumerate(pools) for job in pool.jobs]
    open_jobs.sort(key=lambda each: (each.job.deadline, each.pool))
    edges = sorted({edge for each in open_jobs for edge in (each.job.release, each.due, each.job.deadline)})
    pieces: list[Piece] = []
    for trough in troughs:
        at = trough.start
        while at < trough.until:
            rates = _rates(open_jobs, pools, trough.gpus, at)
            until = _next(at, trough.until, edges, open_jobs, rates)
            for each, rate in zip(open_jobs, rates, strict=True):
                each.work(rate, at, until)
            busy = [sum(rate for each, rate in zip(open_jobs, rates, strict=True) if each.pool == i) for i in range(len(pools))]
            pieces.append(Piece(start=at, until=until, replicas=tuple(max(n, pool.least) for n, pool in zip(busy, pools, strict=True))))
            at = until
    late = (each.late(pools[each.pool], pieces[-1].until if pieces else None) for each in open_jobs)
    return tuple(pieces), tuple(each for each in late if each is not None)


@dataclass(slots=True, kw_only=True)
class _Open:
    """A job while it is scheduled. due: one lead time before its deadline. at_due_s: what was left then."""

    pool: int
    job: Job
    due: datetime
    left_s: float
    at_due_s: float | None = None
    done: datetime | None = None

    def work(self, replicas: int, start: datetime, until: datetime) -> None:
        """Take off what so many replicas do."""
        if start >= self.due and self.at_due_s is None:
            self.at_due_s = self.left_s
        if self.left_s <= 0:
            return
        self.left_s = max(0.0, self.left_s - replicas * (until - start).total_seconds())
        if self.left_s <= _DONE_S:
            self.left_s, self.done = 0.0, until

    def late(self, pool: BulkPool, end: datetime | None) -> Late | None:
        """What is not done in time, as far as `end`; a job that is due later is not judged."""
        if end is None or end < self.due:
            return None
        left_s = self.left_s if self.at_due_s is None else self.at_due_s
        if left_s <= _DONE_S:
            return None
        done = None if self.done is None else max(self.done + timedelta(seconds=pool.lead_s), self.job.deadline)
        return Late(pool=pool.name, job=self.job, left_s=left_s, done=done)


def _due(job: Job, pool: BulkPool) -> datetime:
    """When its replicas must be done as they are asked for: what is asked for last begins a lead time later."""
    return max(job.deadline - timedelta(seconds=pool.lead_s), job.release)


def _rates(open_jobs: list[_Open], pools: Sequence[BulkPool], gpus: int, at: datetime) -> list[int]:
    """Replicas that each job has at an instant."""
    left, spare = gpus, [pool.least for pool in pools]
    used = [0] * len(pools)
    rates = []
    for each in open_jobs:
        pool = pools[each.pool]
        rate = 0
        if each.left_s > 0 and each.job.release <= at:
            useful = max(1, math.ceil(each.left_s / _LEAST_RUN_S))
            most = useful if pool.most is None else max(0, min(useful, max(pool.most, pool.least) - used[each.pool]))
            beyond = max(0, left) // pool.gpus_per_replica
            rate = min(most, spare[each.pool] + beyond)
            taken = max(0, rate - spare[each.pool])
            spare[each.pool] = max(0, spare[each.pool] - rate)
            left -= taken * pool.gpus_per_replica
            used[each.pool] += rate
        rates.append(rate)
    return rates


def _next(at: datetime, until: datetime, edges: list[datetime], open_jobs: list[_Open], rates: list[int]) -> datetime:
    """When replicas change next: at an edge, or when a job is done, in whole minutes."""
    ends = [edge for edge in edges if at < edge < until]
    for each, rate in zip(open_jobs, rates, strict=True):
        if rate:
            ends.append(at + timedelta(seconds=MINUTE_S * max(1, math.ceil(each.left_s / rate / MINUTE_S))))
    return min([until, *ends])
