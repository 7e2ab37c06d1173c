"""The store on SQLite and PostgreSQL: rows found by key, values as compact bytes (`codec`)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Select, delete, select

from connectors.stores.codec import decode, encode
from connectors.stores.days import days_of, joined, split
from connectors.stores.engine import alone, open_engine, reading, writing
from connectors.stores.forms import microseconds
from connectors.stores.history import append_days, days_in, refuse_other_step
from connectors.stores.plans import plan_of
from connectors.stores.prune import cuts_of, prune
from connectors.stores.schema import check_schema
from connectors.stores.starts import OPEN_STARTS, STARTS_OF, PoolKey, append, start_of
from connectors.stores.statements import (
    EVENTS_WITHIN,
    FORECASTS_WITHIN,
    LAST_PLANS_WITHIN,
    LEVER_MOVES_WITHIN,
    MARKS_TOUCHING,
    NEWEST_PROFILES_OF,
    PLANS_OF,
    PLANS_WITHIN,
    RECORDS_OF,
    RECORDS_WITHIN,
    RULINGS_OF,
    RULINGS_WITHIN,
)
from connectors.stores.tables import EVENTS, FORECASTS, LEVER_MOVES, MARKS, PLANS, PROFILES, RECORDS, RULINGS, STATES
from connectors.stores.targets import target_ids
from connectors.stores.upsert import Row, upsert
from forecaster.decision import CycleRecord, Ruling
from forecaster.errors import StoreError
from forecaster.events import EventEntry
from forecaster.forecast import Forecast, State
from forecaster.keep import Keep, Pruned
from forecaster.levers import LeverMove
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.profile import ProfileEntry
from forecaster.series import Series, Signal, Window
from forecaster.starts import Start

Key = TypeVar("Key")
Value = TypeVar("Value")
_KEYS_A_QUERY = 500  # databases limit the parameters of a statement


class SqlStore:
    """A `forecaster.ports.Store` in a SQLite file or a PostgreSQL database, safe for threads and for concurrent processes.

    Raises StoreError when the database cannot be reached or is not at the schema of this release, ConfigRejected when the
    address cannot be used.
    """

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        try:
            check_schema(self._engine)
        except StoreError:
            self._engine.dispose()
            raise

    def append_history(self, workload: str, series: Series) -> None:
        """Keep measured buckets, as the port says; the days that they fall on are read, merged and written in one transaction."""
        self.append_histories([(workload, series)])

    def append_histories(self, histories: Sequence[tuple[str, Series]]) -> None:
        """Keep those of several, as the port says; in one order of names, so that two who write the same do not wait for each other."""
        batch = [(workload, series, days) for workload, series in histories if (days := split(series))]
        if not batch:
            return
        with writing(self._engine) as connection:
            for workload, series, days in sorted(batch, key=lambda each: (each[0], each[1].signal)):
                append_days(connection, {"workload": workload, "signal": series.signal.value, "step_s": series.step_s}, days)

    def history(self, workload: str, signal: Signal, window: Window, step_s: int) -> Series:
        """The buckets of `window`, as the port says."""
        key = {"workload": workload, "signal": signal.value, "step_s": step_s}
        with reading(self._engine) as connection:
            days = days_in(connection, key, days_of(window, step_s))
            if not days:
                refuse_other_step(connection, workload, signal, step_s)
        return joined(days, signal, window, step_s)

    def append_forecasts(self, forecasts: Sequence[tuple[str, Forecast]]) -> None:
        """Keep forecasts, as the port says."""
        rows = [
            {
                "workload": workload,
                "signal": forecast.signal.value,
                "issued_us": microseconds(forecast.issued_at),
                "payload": encode(forecast),
            }
            for workload, forecast in forecasts
        ]
        with writing(self._engine) as connection:
            upsert(connection, FORECASTS, rows)

    def forecasts(self, workload: str, signal: Signal, window: Window) -> tuple[Forecast, ...]:
        """The forecasts issued in `window`, oldest first."""
        of = {"workload": workload, "signal": signal.value} | _within(window)
        with reading(self._engine) as connection:
            payloads = connection.scalars(FORECASTS_WITHIN, of).all()
        return tuple(decode(Forecast, payload) for payload in payloads)

    def save_states(self, states: Mapping[str, State]) -> None:
        """Keep model states, as the port says."""
        rows = [{"key": key, "model": s.model, "version": s.version, "payload": s.payload} for key, s in states.items()]
        with writing(self._engine) as connection:
            upsert(connection, STATES, rows)

    def states(self, keys: Sequence[str]) -> dict[str, State]:
        """The latest model state under each key that has one."""
        found: dict[str, State] = {}
        with reading(self._engine) as connection:
            for first in range(0, len(keys), _KEYS_A_QUERY):
                rows = connection.execute(select(STATES).where(STATES.c.key.in_(keys[first : first + _KEYS_A_QUERY])))
                found |= {row.key: State(model=row.model, version=row.version, payload=row.payload) for row in rows}
        return found

    def append_plans(self, plans: Sequence[Plan]) -> None:
        """Keep plans, as the port says."""
        rows = [
            {"workload": plan.workload, "pool": plan.pool, "issued_us": microseconds(plan.issued_at), "payload": encode(plan)}
            for plan in plans
        ]
        with writing(self._engine) as connection:
            upsert(connection, PLANS, rows)

    def plans(self, workload: str, pool: str, window: Window, *, last: int | None = None, span: Window | None = None) -> tuple[Plan, ...]:
        """The plans issued in `window`, as the port says."""
        of = {"workload": workload, "pool": pool, "last": last} | _within(window)
        with reading(self._engine) as connection:
            payloads = connection.scalars(PLANS_WITHIN if last is None else LAST_PLANS_WITHIN, of).all()
        return tuple(plan_of(payload, span) for payload in reversed(payloads))

    def plans_of(
        self, pools: Sequence[tuple[str, str]], window: Window, *, span: Window | None = None
    ) -> dict[tuple[str, str], tuple[Plan, ...]]:
        """The plans of many pools, as the port says."""
        rows = self._rows(PLANS_OF, "pools", pools, window)
        return _grouped(((workload, pool), plan_of(payload, span)) for workload, pool, payload in rows)

    def append_records(self, records: Sequence[CycleRecord]) -> None:
        """Keep cycle records, as the port says."""
        batch = [((r.decision.workload, r.decision.pool, r.decision.target), microseconds(r.at), encode(r)) for r in records]
        with writing(self._engine) as connection:
            ids = target_ids(connection, {key for key, _, _ in batch})
            upsert(connection, RECORDS, [{"target_id": ids[key], "at_us": at_us, "payload": payload} for key, at_us, payload in batch])

    def records(self, workload: str, window: Window) -> tuple[CycleRecord, ...]:
        """A workload's records, as the port says."""
        with reading(self._engine) as connection:
            payloads = connection.scalars(RECORDS_WITHIN, {"workload": workload} | _within(window)).all()
        return tuple(decode(CycleRecord, payload) for payload in payloads)

    def records_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[CycleRecord, ...]]:
        """The records of many workloads, as the port says."""
        rows = self._rows(RECORDS_OF, "workloads", workloads, window)
        return _grouped((workload, decode(CycleRecord, payload)) for workload, payload in rows)

    def append_ruling(self, ruling: Ruling) -> None:
        """Keep a person's word; said again at the same instant, it is the last word of that instant."""
        key = {
            "workload": ruling.workload,
            "at_us": microseconds(ruling.at),
            "kind": ruling.kind.value,
            "author": ruling.author,
            "plan_id": ruling.plan_id or "",
        }
        with writing(self._engine) as connection:
            alone(connection, f"rulings/{ruling.workload}")
            connection.execute(delete(RULINGS).filter_by(**key))
            connection.execute(RULINGS.insert(), key | {"payload": encode(ruling)})

    def rulings(self, workload: str, window: Window) -> tuple[Ruling, ...]:
        """The rulings given in `window`, oldest first."""
        with reading(self._engine) as connection:
            payloads = connection.scalars(RULINGS_WITHIN, {"workload": workload} | _within(window)).all()
        return tuple(decode(Ruling, payload) for payload in payloads)

    def rulings_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[Ruling, ...]]:
        """The rulings on many workloads, as the port says."""
        rows = self._rows(RULINGS_OF, "workloads", workloads, window)
        return _grouped((workload, decode(Ruling, payload)) for workload, payload in rows)

    def append_marks(self, workload: str, marks: Sequence[Mark]) -> None:
        """Keep marks, as the port says."""
        rows = [(_mark_key(workload, mark), encode(mark)) for mark in marks]
        if not rows:
            return
        with writing(self._engine) as connection:
            alone(connection, f"marks/{workload}")
            for key, payload in rows:
                connection.execute(delete(MARKS).filter_by(**key))
                connection.execute(MARKS.insert(), key | {"payload": payload})

    def marks(self, workload: str, signal: Signal, window: Window) -> tuple[Mark, ...]:
        """The marks and unmarks whose span touches `window`, in the order in which they were said."""
        of = {"workload": workload, "signal": signal.value} | _within(window)
        with reading(self._engine) as connection:
            payloads = connection.scalars(MARKS_TOUCHING, of).all()
        return tuple(decode(Mark, payload) for payload in payloads)

    def append_events(self, entries: Sequence[EventEntry]) -> None:
        """Keep entries, as the port says."""
        rows = [({"name": each.name, "at_us": microseconds(each.at), "author": each.author}, encode(each)) for each in entries]
        if not rows:
            return
        with writing(self._engine) as connection:
            alone(connection, "events")
            for key, payload in rows:
                connection.execute(delete(EVENTS).filter_by(**key))
                connection.execute(EVENTS.insert(), key | {"payload": payload})

    def events(self, window: Window) -> tuple[EventEntry, ...]:
        """The entries made in `window`, in the order in which they were said."""
        with reading(self._engine) as connection:
            payloads = connection.scalars(EVENTS_WITHIN, _within(window)).all()
        return tuple(decode(EventEntry, payload) for payload in payloads)

    def append_starts(self, starts: Sequence[tuple[str, str, Start]]) -> None:
        """Keep starts, as the port says."""
        with writing(self._engine) as connection:
            append(connection, starts)

    def starts_of(self, pools: Sequence[PoolKey], window: Window, last: int) -> dict[PoolKey, tuple[Start, ...]]:
        """The newest starts of many pools, as the port says."""
        return _grouped(map(start_of, self._rows(STARTS_OF, "pools", pools, window, last=last)))

    def open_starts(self) -> dict[PoolKey, tuple[Start, ...]]:
        """Every start that may still become ready, by workload and pool."""
        with reading(self._engine) as connection:
            rows = connection.execute(OPEN_STARTS).all()
        return _grouped(map(start_of, rows))

    def append_profiles(self, profiles: Sequence[tuple[str, str, ProfileEntry]]) -> None:
        """Keep profiles, as the port says."""
        rows = [
            {
                "workload": workload,
                "pool": pool,
                "at_us": microseconds(entry.at),
                "payload": encode(entry),
                "origin": entry.profile.origin.value,
            }
            for workload, pool, entry in profiles
        ]
        with writing(self._engine) as connection:
            upsert(connection, PROFILES, rows)

    def newest_profiles_of(self, pools: Sequence[PoolKey], window: Window) -> dict[PoolKey, tuple[ProfileEntry, ...]]:
        """The newest profiles of many pools, as the port says."""
        rows = self._rows(NEWEST_PROFILES_OF, "pools", pools, window)
        return _grouped(((workload, pool), decode(ProfileEntry, payload)) for workload, pool, payload in rows)

    def append_lever_moves(self, moves: Sequence[LeverMove]) -> None:
        """Keep what was done to levers, as the port says."""
        rows = [{"at_us": microseconds(move.at), "lever": move.lever, "kind": move.kind.value, "payload": encode(move)} for move in moves]
        if not rows:
            return
        with writing(self._engine) as connection:
            upsert(connection, LEVER_MOVES, rows)

    def lever_moves(self, window: Window) -> tuple[LeverMove, ...]:
        """What was done to levers in `window`, oldest first."""
        with reading(self._engine) as connection:
            payloads = connection.scalars(LEVER_MOVES_WITHIN, _within(window)).all()
        return tuple(decode(LeverMove, payload) for payload in payloads)

    def prune(self, keep: Keep, now: datetime) -> Pruned:
        """Forget what is old, as the port says; a database gives the room to later rows, not back to the disk."""
        return prune(self._engine, cuts_of(keep, now))

    def _rows(self, statement: Select[Any], name: str, keys: Sequence[Any], window: Window, **rest: int) -> Iterator[Any]:
        """The rows of a statement for a list of keys, some hundred at a time."""
        for first in range(0, len(keys), _KEYS_A_QUERY):
            with reading(self._engine) as connection:
                rows = connection.execute(statement, {name: list(keys[first : first + _KEYS_A_QUERY])} | rest | _within(window)).all()
            yield from rows

    def close(self) -> None:
        """Let go of connections."""
        self._engine.dispose()


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, tuple[Value, ...]]:
    """The values of each key, in the order in which they come."""
    found: dict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: tuple(values) for key, values in found.items()}


def _within(window: Window) -> Row:
    """The window as statements have it."""
    return {"start_us": microseconds(window.start), "end_us": microseconds(window.end)}


def _mark_key(workload: str, mark: Mark) -> Row:
    return {
        "workload": workload,
        "signal": mark.signal.value,
        "kind": mark.kind.value,
        "start_us": microseconds(mark.span.start),
        "end_us": microseconds(mark.span.end),
        "at_us": microseconds(mark.at),
        "author": mark.author,
    }
