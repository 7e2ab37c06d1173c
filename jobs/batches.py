"""A fleet in batches, so that no more of it is in memory than is worked on, and the series of a batch in chunks that models take."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from math import ceil
from typing import TypeAlias

import structlog

from forecaster.calendar import Calendar
from forecaster.forecast import STANDARD_LEVELS, Horizon, Request, State
from forecaster.models.catalogue import DEFAULT_MODEL
from forecaster.models.learning import SERIES, is_due, learn, learned_of
from forecaster.series import FORECAST_SIGNALS, Panel, Series, Signal, panel_of
from forecaster.units import floor_to
from jobs.chunks import Chunk, Key
from jobs.draft import Draft
from jobs.fleet import Fleet, Member

BATCH = 200
"""Series a batch. Models gain no more from ten on; this many keep a worker busy for seconds, and under 500 MB."""
Lessons: TypeAlias = dict[tuple[Signal, int], bytes]
"""What members have learned on the fleet, by signal and step."""
log = structlog.get_logger()


def batches(members: Iterable[Member]) -> Iterator[tuple[Draft, ...]]:
    """The members in batches of about one size, alike ones together, the commonest kind first.

    A batch has the members of a kind from all over the list, so that the first one stands for its kind.
    """
    kinds: dict[Hashable, list[Member]] = defaultdict(list)
    for member in members:
        kinds[_kind(member)].append(member)
    ordered = [member for alike in sorted(kinds.values(), key=len, reverse=True) for member in _spread(alike)]
    total = sum(map(_series, ordered))
    most, count = ceil(total / ceil(total / BATCH)) if total else 0, 0
    batch: list[Draft] = []
    for member in ordered:
        if batch and count + _series(member) > most:
            yield tuple(batch)
            batch, count = [], 0
        batch.append(Draft(member=member))
        count += _series(member)
    if batch:
        yield tuple(batch)


def chunks_of(fleet: Fleet, drafts: Iterable[Draft], now: datetime, lessons: Lessons) -> tuple[Chunk, ...]:
    """What models are asked of a batch: one chunk a signal, grid, lead window and zone, with what was kept of each series.

    lessons: those that were looked up already; those that are needed first are added. Raises StoreError.
    """
    groups: dict[tuple[Signal, Horizon, Calendar], dict[str, Series]] = defaultdict(dict)
    for draft in drafts:
        for series in (series for series in draft.histories if series.measured_ratio > 0):
            groups[series.signal, _horizon(fleet, draft.member, now), draft.member.workload.calendar][draft.name] = series
    states = fleet.store.states([state_key((name, signal)) for (signal, _, _), histories in groups.items() for name in histories])
    return tuple(
        Chunk(
            panel=panel_of(histories),
            states=tuple(states.get(state_key((name, signal))) for name in histories),
            request=Request(horizon=horizon, levels=STANDARD_LEVELS, calendar=calendar),
            learned=_lesson(fleet, lessons, histories, now, calendar),
        )
        for (signal, horizon, calendar), histories in sorted(groups.items(), key=lambda group: -len(group[1]))
    )


def state_key(series: Key) -> str:
    """Under what is kept of a series."""
    name, signal = series
    return f"kept/{signal}/{name}"


def _lesson(fleet: Fleet, lessons: Lessons, histories: dict[str, Series], now: datetime, calendar: Calendar) -> bytes:
    """What members have learned on the fleet of a signal and step; learned anew once a week, on a sample of the first series of a run."""
    first = next(iter(histories.values()))
    of = first.signal, first.step_s
    if of not in lessons:
        key = f"learned/{first.signal}/{first.step_s}"
        state = fleet.store.states([key]).get(key)
        if is_due(state, now, fleet.model.members if fleet.model.name == DEFAULT_MODEL else (fleet.model.name,)):
            names = list(histories)[:: max(1, len(histories) // SERIES)]
            fresh = _learn(panel_of({name: histories[name] for name in names}), now, calendar)
            if fresh is not None:
                fleet.store.save_states({key: fresh})
                state = fresh
        lessons[of] = learned_of(state, now)
    return lessons[of]


def _learn(panel: Panel, now: datetime, calendar: Calendar) -> State | None:
    """What is learned of the panel; None, with a line in the log, where that fails: what was learned before serves on, or nothing."""
    try:
        return learn(panel, now, calendar)
    except Exception as error:  # noqa: BLE001  a library may raise anything, say OSError without libgomp, and one member stops no fleet
        log.warning("forecast", member="gbm", error=f"did not learn: {type(error).__name__}: {error}")
        return None


def _horizon(fleet: Fleet, member: Member, now: datetime) -> Horizon:
    return Horizon(
        issued_at=now,
        start=floor_to(now, member.step_s),
        step_s=member.step_s,
        steps=max(1, fleet.horizon_s // member.step_s),
        window_steps=_window_steps(member),
    )


def _window_steps(member: Member) -> int:
    """The lead window of a workload is that of its slowest pool."""
    return max(pool.lead_time.window_steps(member.step_s) for pool in member.workload.pools)


def _kind(member: Member) -> Hashable:
    """What members have in common that share chunks."""
    return member.step_s, _window_steps(member), member.workload.calendar, tuple(sorted(_signals(member)))


def _signals(member: Member) -> list[Signal]:
    return [query.signal for query in member.queries if query.signal in FORECAST_SIGNALS]


def _series(member: Member) -> int:
    return len(_signals(member))


def _spread(alike: list[Member]) -> Iterator[Member]:
    """The members of a kind, those of a batch from all over the list."""
    count = ceil(sum(map(_series, alike)) / BATCH) or 1
    return (member for first in range(count) for member in alike[first::count])
