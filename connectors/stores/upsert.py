"""Rows written over those of the same key, in the words of either database."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

Row: TypeAlias = dict[str, Any]


def upsert(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Write rows over those of the same key; the last of one key wins.

    In the order of their keys, so that two processes that write the same rows at once wait for each other instead of deadlocking.
    """
    names = [column.name for column in table.primary_key]
    by_key = {tuple(row[name] for name in names): row for row in rows}
    if by_key:
        insert = insert_into(connection, table)
        rest: Row = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
        connection.execute(insert.on_conflict_do_update(index_elements=names, set_=rest), [by_key[key] for key in sorted(by_key)])


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """ON CONFLICT is no standard: each of the two says it in its own words, alike."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
