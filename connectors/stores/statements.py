"""What the store asks of its tables, written once: making a statement costs more than running it.

Parameters: workload, signal, pool, step_s, last; start_us and end_us of a window; first_day and end_day of history.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, Select, Text, bindparam, func, select, tuple_

from connectors.stores.tables import EVENTS, FORECASTS, HISTORY, LEVER_MOVES, MARKS, PLANS, PROFILES, RECORDS, RULINGS, TARGETS

_WORKLOAD, _SIGNAL, _POOL = (bindparam(name, type_=Text) for name in ("workload", "signal", "pool"))
_START_US, _END_US = bindparam("start_us", type_=BigInteger), bindparam("end_us", type_=BigInteger)


_WORKLOADS = bindparam("workloads", expanding=True, type_=Text)


def _records(*columns: Column[Any]) -> Select[Any]:
    """Led by the last one before the window of each target: one step in the index, however long ago it was."""
    earlier = RECORDS.alias()
    before = select(func.max(earlier.c.at_us)).where(earlier.c.target_id == TARGETS.c.id, earlier.c.at_us < _START_US).scalar_subquery()
    return (
        select(*columns)
        .join_from(RECORDS, TARGETS)
        .where(RECORDS.c.at_us >= func.coalesce(before, _START_US), RECORDS.c.at_us < _END_US)
        .order_by(RECORDS.c.at_us, TARGETS.c.pool, TARGETS.c.target)
    )


def _plans(*columns: Column[Any]) -> Select[Any]:
    return select(*columns).where(PLANS.c.issued_us >= _START_US, PLANS.c.issued_us < _END_US)


def _rulings(*columns: Column[Any]) -> Select[Any]:
    within = (RULINGS.c.at_us >= _START_US, RULINGS.c.at_us < _END_US)
    return select(*columns).where(*within).order_by(RULINGS.c.at_us, RULINGS.c.id)


HISTORY_DAYS = select(HISTORY.c.day, HISTORY.c.payload).where(
    HISTORY.c.workload == _WORKLOAD,
    HISTORY.c.signal == _SIGNAL,
    HISTORY.c.step_s == bindparam("step_s", type_=Integer),
    HISTORY.c.day >= bindparam("first_day", type_=Integer),
    HISTORY.c.day < bindparam("end_day", type_=Integer),
)
HISTORY_STEPS = (
    select(HISTORY.c.step_s).where(HISTORY.c.workload == _WORKLOAD, HISTORY.c.signal == _SIGNAL).distinct().order_by(HISTORY.c.step_s)
)
FORECASTS_WITHIN = (
    select(FORECASTS.c.payload)
    .where(FORECASTS.c.workload == _WORKLOAD, FORECASTS.c.signal == _SIGNAL)
    .where(FORECASTS.c.issued_us >= _START_US, FORECASTS.c.issued_us < _END_US)
    .order_by(FORECASTS.c.issued_us)
)
PLANS_WITHIN = _plans(PLANS.c.payload).where(PLANS.c.workload == _WORKLOAD, PLANS.c.pool == _POOL).order_by(PLANS.c.issued_us.desc())
"""The newest first."""
LAST_PLANS_WITHIN = PLANS_WITHIN.limit(bindparam("last", type_=Integer))
PLANS_OF = (
    _plans(PLANS.c.workload, PLANS.c.pool, PLANS.c.payload)
    .where(tuple_(PLANS.c.workload, PLANS.c.pool).in_(bindparam("pools", expanding=True)))
    .order_by(PLANS.c.issued_us)
)
RECORDS_WITHIN = _records(RECORDS.c.payload).where(TARGETS.c.workload == _WORKLOAD)
RECORDS_OF = _records(TARGETS.c.workload, RECORDS.c.payload).where(TARGETS.c.workload.in_(_WORKLOADS))
RULINGS_WITHIN = _rulings(RULINGS.c.payload).where(RULINGS.c.workload == _WORKLOAD)
RULINGS_OF = _rulings(RULINGS.c.workload, RULINGS.c.payload).where(RULINGS.c.workload.in_(_WORKLOADS))
MARKS_TOUCHING = (
    select(MARKS.c.payload)
    .where(MARKS.c.workload == _WORKLOAD, MARKS.c.signal == _SIGNAL)
    .where(MARKS.c.end_us > _START_US, MARKS.c.start_us < _END_US)
    .order_by(MARKS.c.at_us, MARKS.c.id)
)
EVENTS_WITHIN = select(EVENTS.c.payload).where(EVENTS.c.at_us >= _START_US, EVENTS.c.at_us < _END_US).order_by(EVENTS.c.at_us, EVENTS.c.id)
_LINE = (PROFILES.c.workload, PROFILES.c.pool, PROFILES.c.origin)
_RANKED_PROFILES = (
    select(PROFILES, func.row_number().over(partition_by=_LINE, order_by=PROFILES.c.at_us.desc()).label("rank"))
    .where(tuple_(PROFILES.c.workload, PROFILES.c.pool).in_(bindparam("pools", expanding=True)))
    .where(PROFILES.c.at_us >= _START_US, PROFILES.c.at_us < _END_US)
    .subquery()
)
NEWEST_PROFILES_OF = (
    select(_RANKED_PROFILES.c.workload, _RANKED_PROFILES.c.pool, _RANKED_PROFILES.c.payload)
    .where(_RANKED_PROFILES.c.rank == 1)
    .order_by(_RANKED_PROFILES.c.at_us)
)
LEVER_MOVES_WITHIN = (
    select(LEVER_MOVES.c.payload)
    .where(LEVER_MOVES.c.at_us >= _START_US, LEVER_MOVES.c.at_us < _END_US)
    .order_by(LEVER_MOVES.c.at_us, LEVER_MOVES.c.lever, LEVER_MOVES.c.kind)
)
