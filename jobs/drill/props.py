"""What stands on the stage of a drill: objects without hands, sources that fail in every way, and a copy of what is remembered."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from connectors.stores.memory import MemoryStore
from connectors.targets.recording import Rehearsed
from forecaster.decision import Applied, Decision, Ruling, RulingKind, Seen
from forecaster.errors import ForecasterError, SourceError, SourceUnavailable, TargetUnavailable
from forecaster.marks import Mark
from forecaster.ports import MetricSource, Query, Store
from forecaster.series import Series, Window, empty_series
from forecaster.workload import Workload
from jobs.memory import Memory
from jobs.standing import NEAR_S, NEXT, plans_named

AWAY = "the API does not answer, as the drill has it"


class Standing:
    """An object as it was seen once: a `Rehearsed` that asks nobody again, and answers as the real one would."""

    def __init__(self, inner: Rehearsed, seen: Seen) -> None:
        self.name = inner.name
        self._inner = inner
        self._seen = seen

    def observe(self, now: datetime) -> Seen:
        """As it was seen."""
        return replace(self._seen, at=now)

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """As the real one."""
        return self._inner.would_set(decision, seen)

    def would_release(self, seen: Seen) -> Applied:
        """As the real one."""
        return self._inner.would_release(seen)


class Away:
    """An object whose API does not answer: from the first look on, or (`seen` is given) once there is something to write."""

    def __init__(self, name: str, seen: Seen | None = None) -> None:
        self.name = name
        self._seen = seen

    def observe(self, now: datetime) -> Seen:
        """As it was seen, if that is still answered."""
        if self._seen is None:
            raise TargetUnavailable(AWAY)
        return replace(self._seen, at=now)

    def would_set(self, decision: Decision, seen: Seen) -> Applied:  # noqa: ARG002 - names of the port
        """Never answers."""
        raise TargetUnavailable(AWAY)

    def would_release(self, seen: Seen) -> Applied:  # noqa: ARG002 - names of the port
        """Never answers."""
        raise TargetUnavailable(AWAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The real source, asked once for each window however often the line runs over it."""

    inner: MetricSource
    _answers: dict[tuple[Query, Window, int], Series | SourceError] = field(default_factory=dict)

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """What the source said the first time, its error included."""
        key = (query, window, step_s)
        if key not in self._answers:
            try:
                self._answers[key] = self.inner.fetch(query, window, step_s)
            except SourceError as error:
                self._answers[key] = error
        answer = self._answers[key]
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002 - names of the port
        """None: nothing is learnt in a drill."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """The load of now, as if it were measured again so much later."""

    inner: MetricSource
    by: timedelta

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """The same buckets under later stamps."""
        then = Window(start=window.start - self.by, end=window.end - self.by)
        return replace(self.inner.fetch(query, then, step_s), start=window.start)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002 - names of the port
        """None."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A source that answers by `failing`."""

    failing: Callable[[Query, Window, int], Series]

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """As above."""
        return self.failing(query, window, step_s)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002 - names of the port
        """None."""
        return ()


def silent(query: Query, window: Window, step_s: int) -> Series:
    """An answer without a single sample."""
    return empty_series(query.signal, window, step_s)


def down(_query: Query, _window: Window, _step_s: int) -> Series:
    """No answer."""
    msg = "the source does not answer, as the drill has it"
    raise SourceUnavailable(msg)


def mad(_query: Query, _window: Window, _step_s: int) -> Series:
    """A failure of a kind that no source is allowed."""
    msg = "broken on purpose, as the drill has it"
    raise ForecasterError(msg)


def copied(store: Store, workload: Workload, memory: Memory, now: datetime) -> MemoryStore:
    """What the store knows of the workload, where nothing of a drill can touch it: plans that count, records, people's words."""
    copy = MemoryStore()
    back = Window(start=now - timedelta(seconds=max(NEAR_S, 2 * workload.policy.expiry_s)), end=now + NEXT)
    approved = {ruling.plan_id for ruling in memory.rulings if ruling.kind is RulingKind.APPROVE and ruling.plan_id is not None}
    for pool in workload.pools:
        copy.append_plans(store.plans(workload.name, pool.name, back))
        for plan_id in approved:
            copy.append_plans(plans_named(store, workload.name, pool.name, plan_id))
    copy.append_records(memory.records)
    for ruling in memory.rulings:
        copy.append_ruling(ruling)
    return copy


def ordered(workload: str, replicas: int, now: datetime) -> Ruling:
    """A person's order of so many replicas."""
    return Ruling(at=now, workload=workload, kind=RulingKind.OVERRIDE, author="the drill", reason="a rehearsal", replicas=replicas)
