"""What a database forgets: rows beyond their span, in short transactions, so that nobody who writes waits for long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Column, Engine, Table, and_, bindparam, delete, exists, func, select

from connectors.stores.engine import reading, writing
from connectors.stores.forms import microseconds
from connectors.stores.tables import FORECASTS, HISTORY, LEVER_MOVES, PLANS, RECORDS, STARTS, TARGETS
from forecaster.keep import Keep, Pruned
from forecaster.units import DAY_S, epoch_s

_BATCH = 200
_DAY_US = DAY_S * 1_000_000

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Where each kind begins: what lies before is forgotten. history: a day since the epoch; the others: microseconds since it."""

    history_day: int
    forecasts_us: int
    all_forecasts_us: int
    plans_us: int
    records_us: int
    starts_us: int


def cuts_of(keep: Keep, now: datetime) -> Cuts:
    """Where everything is cut at an instant."""

    def cut_us(span_s: float) -> int:
        return microseconds(now - timedelta(seconds=span_s))

    return Cuts(
        history_day=epoch_s(now - timedelta(seconds=keep.history_s)) // DAY_S,
        forecasts_us=cut_us(keep.forecasts_s),
        all_forecasts_us=cut_us(keep.all_forecasts_s),
        plans_us=cut_us(keep.plans_s),
        records_us=cut_us(keep.records_s),
        starts_us=cut_us(keep.starts_s),
    )


def prune(engine: Engine, cuts: Cuts) -> Pruned:
    """Forget what lies before the cuts, but the newest forecast, plan and record of each line. Raises StoreError."""
    return Pruned(
        history=_history(engine, cuts.history_day),
        forecasts=_aged(engine, FORECASTS, (FORECASTS.c.workload, FORECASTS.c.signal), cuts.forecasts_us)
        + _thinned(engine, cuts.all_forecasts_us),
        plans=_aged(engine, PLANS, (PLANS.c.workload, PLANS.c.pool), cuts.plans_us),
        records=_records(engine, cuts.records_us),
        starts=_starts(engine, cuts.starts_us),
        moves=_moves(engine, cuts.records_us),
    )


def _history(engine: Engine, first_day: int) -> int:
    with reading(engine) as connection:
        days = connection.scalars(select(HISTORY.c.day).where(HISTORY.c.day < first_day).distinct()).all()
    total = 0
    for day in days:
        with writing(engine) as connection:
            total += connection.execute(delete(HISTORY).where(HISTORY.c.day == day)).rowcount
    return total


def _aged(engine: Engine, table: Table, line: Sequence[Column[Any]], before_us: int) -> int:
    """Rows of a table that were issued before, but the newest of each line: that is in force, or tells what once was."""
    with reading(engine) as connection:
        lines = connection.execute(select(*line, func.max(table.c.issued_us)).group_by(*line)).all()
    total = 0
    for batch in _batches(lines):
        with writing(engine) as connection:
            for *key, last_us in batch:
                of = and_(*(column == value for column, value in zip(line, key, strict=True)))
                total += connection.execute(delete(table).where(of, table.c.issued_us < min(before_us, last_us))).rowcount
    return total


def _thinned(engine: Engine, before_us: int) -> int:
    """Forecasts that were issued before and were not the first of their UTC day, but the newest of each line."""
    names = ("workload", "signal", "issued_us")
    first, newer = FORECASTS.alias(), FORECASTS.alias()
    midnight = FORECASTS.c.issued_us - FORECASTS.c.issued_us % _DAY_US
    of_first = and_(first.c.workload == FORECASTS.c.workload, first.c.signal == FORECASTS.c.signal)
    of_newer = and_(newer.c.workload == FORECASTS.c.workload, newer.c.signal == FORECASTS.c.signal)
    found = select(*(FORECASTS.c[name] for name in names)).where(
        FORECASTS.c.issued_us < before_us,
        exists().where(of_first, first.c.issued_us >= midnight, first.c.issued_us < FORECASTS.c.issued_us),
        exists().where(of_newer, newer.c.issued_us > FORECASTS.c.issued_us),
    )
    with reading(engine) as connection:
        keys = connection.execute(found).all()
    one = delete(FORECASTS).where(and_(*(FORECASTS.c[name] == bindparam(f"old_{name}") for name in names)))
    for batch in _batches(keys):
        with writing(engine) as connection:
            connection.execute(one, [{f"old_{name}": value for name, value in zip(names, key, strict=True)} for key in batch])
    return len(keys)


def _records(engine: Engine, before_us: int) -> int:
    with reading(engine) as connection:
        targets = connection.scalars(select(TARGETS.c.id)).all()
    total = 0
    for batch in _batches(targets):
        with writing(engine) as connection:
            for target in batch:
                last_us = connection.scalar(select(func.max(RECORDS.c.at_us)).where(RECORDS.c.target_id == target))
                if last_us is not None:
                    old = and_(RECORDS.c.target_id == target, RECORDS.c.at_us < min(before_us, last_us))
                    total += connection.execute(delete(RECORDS).where(old)).rowcount
    return total


def _starts(engine: Engine, before_us: int) -> int:
    """A pool at a time: the rows of none are so many that others would wait."""
    old = STARTS.c.requested_us < before_us
    with reading(engine) as connection:
        pools = connection.execute(select(STARTS.c.workload, STARTS.c.pool).where(old).distinct()).all()
    total = 0
    for batch in _batches(pools):
        with writing(engine) as connection:
            for workload, pool in batch:
                of = and_(STARTS.c.workload == workload, STARTS.c.pool == pool, old)
                total += connection.execute(delete(STARTS).where(of)).rowcount
    return total


def _moves(engine: Engine, before_us: int) -> int:
    """Some hundred instants in a transaction."""
    with reading(engine) as connection:
        instants = connection.scalars(select(LEVER_MOVES.c.at_us).where(LEVER_MOVES.c.at_us < before_us).distinct()).all()
    total = 0
    for batch in _batches(instants):
        with writing(engine) as connection:
            total += connection.execute(delete(LEVER_MOVES).where(LEVER_MOVES.c.at_us.in_(batch))).rowcount
    return total


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
