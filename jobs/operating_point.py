"""The operating point of each pool: level and HPA target by replay on its own stored history, chosen again when that is due."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import structlog

from forecaster.always_on import sized
from forecaster.backtest.recent import Days, tried
from forecaster.backtest.settings import Progress, silent
from forecaster.errors import ForecasterError, HistoryAtOtherStep, StoreError
from forecaster.marks import Mark, MarkKind, Treatment
from forecaster.recommendation import LEAST_DAYS, MOST_DAYS, Grid, Recommendation, is_due, level_now, settled
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S, ceil_to, floor_to, from_epoch_s
from forecaster.workload import Policy, Pool
from jobs.aims import Aim, aim_of_pool
from jobs.caches import after_caches
from jobs.capacity.known import how_to_tell, with_capacities
from jobs.dial import how_to_set
from jobs.fleet import Fleet, Member
from jobs.progress import told
from jobs.promotion import without
from jobs.recommendations import Looked, PoolName, keep_looks, kept_looks, pools_of, with_another
from jobs.route import route
from jobs.savings import sizing_signal
from jobs.starts import with_lead_times
from jobs.views.kept import Kept

_MEASURED_RATIO = 0.9
"""Of a day's buckets: what was measured of less stands for no whole day."""
_DRAWN_THROUGH = frozenset({MarkKind.GAP, MarkKind.RESET})
"""What lasts for minutes costs a day only where little of it is left."""
_DAY = timedelta(days=1)
log = structlog.get_logger()
TUNE = "tune"
"""The lease of whoever chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One pool with all that its choice rests on: the days to replay, the pair as it is, and the one that was recommended before."""

    name: PoolName
    days: Days
    aim: Aim
    level: float
    before: Looked | None
    standing: Recommendation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What came of one pool: the choice with all that was tried, or why there is none."""

    name: PoolName
    looked: Looked
    made: Recommendation | None = None
    grid: Grid | None = None


def choose_due(fleet: Fleet, now: datetime, progress: Progress = silent) -> tuple[Chosen, ...]:
    """Choose for the workloads whose turn it is, those first that waited longest; what comes is kept.

    At most `rules.workloads` of them, the others at the next call. A pool that fails stops no other. Raises StoreError.
    """
    looks = kept_looks(fleet.store, fleet.members)
    due = sorted((member for member in fleet.members if _is_due(fleet, member, looks, now)), key=lambda member: _last(member, looks))
    turn = due[: fleet.rules.workloads]
    if not turn:
        return ()
    pools = sum(len(member.workload.pools) for member in turn)
    chosen = tuple(told(choose(replace(fleet, members=tuple(turn)), looks, now), pools, progress, "operating point"))
    found, waiting = sum(each.made is not None for each in chosen), len(due) - len(turn)
    log.info("operating-point", sentence=f"pools chosen for: {found} of {len(chosen)}; workloads that wait for their turn: {waiting}")
    return chosen


def choose_in_turn(fleet: Fleet, now: datetime, progress: Progress = silent) -> tuple[Chosen, ...]:
    """The same after a forecast, whose plans are kept: where the store fails now, the next one is time enough."""
    try:
        return choose_due(fleet, now, progress)
    except StoreError as error:
        log.warning("operating-point", sentence=f"nothing was chosen: {error}")
        return ()


def choose(fleet: Fleet, looks: Mapping[PoolName, Looked], now: datetime) -> Iterator[Chosen]:
    """Choose for every pool of the fleet's members and keep what comes, one by one. Raises StoreError."""
    questions: list[Question] = []
    for member in with_lead_times(with_capacities(fleet, now), now).members:
        for pool, name in zip(member.workload.pools, pools_of(member), strict=True):
            asked = _walled(fleet, member, pool, looks.get(name), now)
            if isinstance(asked, Question):
                questions.append(asked)
            else:
                yield _kept(fleet, _missing(name, looks.get(name), asked, now))
    grids = fleet.executor.map(tried, [question.days for question in questions])
    for question in questions:
        yield _kept(fleet, _answered(fleet, question, grids, now))


def _answered(fleet: Fleet, question: Question, grids: Iterator[Grid], now: datetime) -> Chosen:
    try:
        grid = next(grids)
    except StoreError:
        raise
    except Exception as error:  # the wall between pools: whatever breaks one replay must not stop the others
        if not isinstance(error, ForecasterError):
            log.exception("operating-point", pool="/".join(question.name))
        return _missing(question.name, question.before, f"the replay failed: {error}", now)
    made = _recommended(fleet, question, grid, now)
    return Chosen(name=question.name, looked=with_another(question.before, made), made=made, grid=grid)


def _recommended(fleet: Fleet, question: Question, grid: Grid, now: datetime) -> Recommendation:
    days, standing = question.days, question.standing
    pair = settled(grid, standing, fleet.rules, days.price)
    same = standing is not None and (standing.pair.level, standing.pair.target) == (pair.level, pair.target)
    return Recommendation(
        at=now,
        since=standing.since if standing is not None and same else now,
        covers=Window(start=days.first, end=days.load.end),
        days=grid.days,
        late_limit_ratio=days.late_limit_ratio,
        price=days.price,
        pair=pair,
        as_it_is=grid.at(question.level, question.aim.ratio),
        level=level_now(grid, pair, question.aim.ratio, None if standing is None else standing.level, fleet.rules),
        least_late_ratio=float(grid.late_ratio.min()),
        aim=question.aim.said,
        remedy=how_to_set(question.aim.dial, pair.target) if pair.target != question.aim.ratio else "the target stands as it should",
    )


def _walled(fleet: Fleet, member: Member, pool: Pool, before: Looked | None, now: datetime) -> Question | str:
    try:
        return _question(fleet, member, pool, before, now)
    except StoreError:
        raise
    except Exception as error:  # the wall between pools, as below
        log.exception("operating-point", pool=f"{member.workload.name}/{pool.name}")
        return f"its days could not be read: {error}"


def _question(fleet: Fleet, member: Member, pool: Pool, before: Looked | None, now: datetime) -> Question | str:
    """What is to be replayed, or a sentence that says why nothing can be."""
    signal, policy = sizing_signal(member, pool), member.workload.policy
    if pool.always_on:
        return f"pool {pool.name} is always on: its floor follows no level"
    if signal is None:
        return f"pool {pool.name} has no capacity for its load: {how_to_tell(member, pool)}"
    end = floor_to(now, DAY_S)
    window = Window(start=floor_to(end - MOST_DAYS * _DAY - timedelta(seconds=fleet.history_s), DAY_S), end=end)
    try:
        load = after_caches(fleet.store, member, pool, route(fleet.store, member.lineage, signal, window, member.step_s).series)
        marks = Kept(store=fleet.store, member=member, now=now).marks(signal, window.start)
    except HistoryAtOtherStep as error:
        return str(error)
    believed = without(load, marks)
    first, counts = _days_that_count(believed, marks)
    if sum(counts) < LEAST_DAYS:
        had = f"{sum(counts)} whole days of {signal} are measured and believed behind the first one"
        return f"too little history: {had}, and a choice takes {LEAST_DAYS}"
    standing, aim = (None if before is None else before.standing(now)), aim_of_pool(member, pool)
    level = standing.level if member.follows and standing is not None else policy.level
    also = (
        (level, aim.ratio),
        *(((standing.pair.level, standing.pair.target), (standing.level, aim.ratio)) if standing is not None else ()),
    )
    return Question(
        name=(member.workload.name, pool.name),
        days=Days(
            load=believed,
            first=first,
            counts=counts,
            pool=sized(member.workload, pool),
            policy=_bounded(policy, aim),
            lead_time_s=max(each.lead_time.plan_s for each in member.workload.pools),
            late_limit_ratio=fleet.rules.late_limit_ratio,
            price=_price(member, pool, signal),
            also=also,
            model=fleet.model.name,
            fallback=fleet.fallback,
            history_s=fleet.history_s,
        ),
        aim=aim,
        level=level,
        before=before,
        standing=standing,
    )


def _days_that_count(load: Series, marks: Sequence[Mark]) -> tuple[datetime, tuple[bool, ...]]:
    """The first day that can be replayed, one day after the first measured bucket, and whether each from it on is summed."""
    measured, end = ~np.isnan(load.mean), load.end
    if not measured.any():
        return end, ()
    began = from_epoch_s(int(load.times_s()[measured.argmax()]))
    first = max(end - MOST_DAYS * _DAY, ceil_to(began + _DAY, DAY_S))
    lies = [mark.span for mark in marks if mark.kind.treatment is not Treatment.KEPT and mark.kind not in _DRAWN_THROUGH]
    days = [Window(start=day, end=day + _DAY) for day in (first + i * _DAY for i in range((end - first) // _DAY))]
    counts = (
        load.between(day.start, day.end).measured_ratio >= _MEASURED_RATIO
        and not any(span.start < day.end and day.start < span.end for span in lies)
        for day in days
    )
    return first, tuple(counts)


def _bounded(policy: Policy, aim: Aim) -> Policy:
    """The policy with the minimum that was found on the HPA, where none is configured."""
    if policy.minimum is not None or aim.dial is None:
        return policy
    least = aim.dial.hpa.minimum
    return replace(policy, minimum=least if policy.maximum is None else min(least, policy.maximum))


def _price(member: Member, pool: Pool, signal: Signal) -> float | None:
    """What a minute of late work is worth in minutes of a replica, where somebody put a price on both and late requests are counted."""
    prices, capacity = member.prices.get(pool.name), pool.capacity.of(signal)
    if prices is None or capacity is None or signal is not Signal.RPM:
        return None
    return prices.cost_ratio(capacity * member.workload.policy.efficiency_ratio)


def _missing(name: PoolName, before: Looked | None, why: str, now: datetime) -> Chosen:
    return Chosen(name=name, looked=Looked(at=now, missing=why, made=() if before is None else before.made))


def _kept(fleet: Fleet, chosen: Chosen) -> Chosen:
    keep_looks(fleet.store, {chosen.name: chosen.looked})
    return chosen


def _is_due(fleet: Fleet, member: Member, looks: Mapping[PoolName, Looked], now: datetime) -> bool:
    def due(name: PoolName) -> bool:
        looked = looks.get(name)
        days = looked.made[-1].days if looked is not None and looked.made and not looked.missing else 0
        return is_due(None if looked is None else looked.at, days, fleet.rules, now)

    return any(due(name) for name in pools_of(member))


def _last(member: Member, looks: Mapping[PoolName, Looked]) -> datetime:
    """When a pool of it was looked at last, the one that waited longest."""
    return min(looks[name].at if name in looks else from_epoch_s(0) for name in pools_of(member))
