"""Starts of replicas as rows, and what is asked of them."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Connection, Integer, Select, bindparam, func, select, tuple_

from connectors.stores.forms import microseconds
from connectors.stores.tables import STARTS
from connectors.stores.upsert import Row, insert_into
from forecaster.starts import Start
from forecaster.units import from_epoch_s

PoolKey: TypeAlias = tuple[str, str]
"""Workload, pool."""

_KEY = ("workload", "pool", "target", "replica")
_INSTANTS = ("requested", "seen", "scheduled", "pulled", "ready")
_EPOCH = from_epoch_s(0)
_NEWEST = (STARTS.c.requested_us.desc(), STARTS.c.target, STARTS.c.replica)
_RANKED = (
    select(STARTS, func.row_number().over(partition_by=(STARTS.c.workload, STARTS.c.pool), order_by=_NEWEST).label("rank"))
    .where(tuple_(STARTS.c.workload, STARTS.c.pool).in_(bindparam("pools", expanding=True)))
    .where(STARTS.c.requested_us >= bindparam("start_us", type_=BigInteger), STARTS.c.requested_us < bindparam("end_us", type_=BigInteger))
    .subquery()
)
STARTS_OF: Select[Any] = (
    select(_RANKED)
    .where(_RANKED.c.rank <= bindparam("last", type_=Integer))
    .order_by(_RANKED.c.requested_us, _RANKED.c.target, _RANKED.c.replica)
)
OPEN_STARTS: Select[Any] = (
    select(STARTS)
    .where(STARTS.c.gone.is_(False), STARTS.c.ready_us.is_(None))
    .order_by(STARTS.c.requested_us, STARTS.c.target, STARTS.c.replica)
)


def append(connection: Connection, starts: Iterable[tuple[str, str, Start]]) -> None:
    """Write starts over those of the same replica that were not ready yet, in the order of their keys, as `upsert` does."""
    by_key = {(workload, pool, start.target, start.replica): start for workload, pool, start in starts}
    if not by_key:
        return
    insert = insert_into(connection, STARTS)
    rest: Row = {column.name: insert.excluded[column.name] for column in STARTS.columns if not column.primary_key}
    only = insert.on_conflict_do_update(index_elements=list(_KEY), set_=rest, where=STARTS.c.ready_us.is_(None))
    connection.execute(only, [_row(key, by_key[key]) for key in sorted(by_key)])


def start_of(row: Any) -> tuple[PoolKey, Start]:  # noqa: ANN401  a row has the columns of its statement
    """The pool and the start of a row, by place: two hundred thousand of them are read before a large fleet is forecast."""
    workload, pool, target, replica, requested, seen, scheduled, pulled, ready, cold, rollout, gone, *_ = row
    return (workload, pool), Start(
        target=target,
        replica=replica,
        requested=_EPOCH + timedelta(0, 0, requested),
        seen_at=_EPOCH + timedelta(0, 0, seen),
        scheduled=None if scheduled is None else _EPOCH + timedelta(0, 0, scheduled),
        pulled=None if pulled is None else _EPOCH + timedelta(0, 0, pulled),
        ready=None if ready is None else _EPOCH + timedelta(0, 0, ready),
        cold=cold,
        rollout=rollout,
        gone=gone,
    )


def _row(key: Sequence[str], start: Start) -> Row:
    instants = dict(zip(_INSTANTS, (start.requested, start.seen_at, start.scheduled, start.pulled, start.ready), strict=True))
    told = {f"{name}_us": None if at is None else microseconds(at) for name, at in instants.items()}
    return dict(zip(_KEY, key, strict=True)) | told | {"cold": start.cold, "rollout": start.rollout, "gone": start.gone}
