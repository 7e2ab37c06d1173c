"""The number that each target's records are kept under."""

from collections.abc import Iterable
from typing import TypeAlias

from sqlalchemy import Connection, select

from connectors.stores.tables import TARGETS
from connectors.stores.upsert import insert_into

TargetKey: TypeAlias = tuple[str, str, str]
"""Workload, pool, target."""


def target_ids(connection: Connection, keys: set[TargetKey]) -> dict[TargetKey, int]:
    """The number of each target; those that are new get one."""
    known = _known_targets(connection, keys)
    missing = sorted(keys - known.keys())
    if missing:
        rows = [{"workload": workload, "pool": pool, "target": target} for workload, pool, target in missing]
        connection.execute(insert_into(connection, TARGETS).on_conflict_do_nothing(), rows)
        known = _known_targets(connection, keys)
    return known


def _known_targets(connection: Connection, keys: Iterable[TargetKey]) -> dict[TargetKey, int]:
    workloads = {workload for workload, _, _ in keys}
    rows = connection.execute(select(TARGETS).where(TARGETS.c.workload.in_(workloads)))
    return {(row.workload, row.pool, row.target): row.id for row in rows}
