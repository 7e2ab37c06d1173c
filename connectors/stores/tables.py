"""The tables of the store. Instants are whole microseconds since the epoch in UTC (`_us`), so that they compare alike everywhere.

A change here needs the next file in `migrations/versions` and its number at the end of SCHEMAS.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMAS = ("0001", "0002", "0003", "0004", "0005", "0006")
"""Every schema that there has been, oldest first. The last one is what this release reads and writes."""

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    }
)

_Number = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows by itself under the type INTEGER only

HISTORY = Table(
    "history",
    METADATA,
    Column("workload", Text, primary_key=True),
    Column("signal", Text, primary_key=True),
    Column("step_s", Integer, primary_key=True, autoincrement=False),
    Column("day", Integer, primary_key=True, autoincrement=False),  # days since the epoch
    Column("payload", LargeBinary, nullable=False),
)

FORECASTS = Table(
    "forecasts",
    METADATA,
    Column("workload", Text, primary_key=True),
    Column("signal", Text, primary_key=True),
    Column("issued_us", BigInteger, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
)

STATES = Table(
    "states",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("payload", LargeBinary, nullable=False),  # the model's own bytes
)

PLANS = Table(
    "plans",
    METADATA,
    Column("workload", Text, primary_key=True),
    Column("pool", Text, primary_key=True),
    Column("issued_us", BigInteger, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
)

TARGETS = Table(
    "targets",
    METADATA,
    Column("id", _Number, Identity(), primary_key=True),
    Column("workload", Text, nullable=False),
    Column("pool", Text, nullable=False),
    Column("target", Text, nullable=False),
    UniqueConstraint("workload", "pool", "target"),
)
"""Every target that has ever had a record: its last one before an instant is one step in the index, however long ago it was."""

RECORDS = Table(
    "records",
    METADATA,
    Column("target_id", _Number, ForeignKey(TARGETS.c.id), primary_key=True, autoincrement=False),
    Column("at_us", BigInteger, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
    sqlite_with_rowid=False,  # rows are small and many: the key is kept once
)

RULINGS = Table(
    "rulings",
    METADATA,
    Column("id", _Number, Identity(), primary_key=True),  # the order of what was said at one instant
    Column("workload", Text, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("plan_id", Text, nullable=False),  # empty where the ruling speaks of no plan
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("workload", "at_us", "kind", "author", "plan_id"),
)

MARKS = Table(
    "marks",
    METADATA,
    Column("id", _Number, Identity(), primary_key=True),  # the order of what was said of one span
    Column("workload", Text, nullable=False),
    Column("signal", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("start_us", BigInteger, nullable=False),
    Column("end_us", BigInteger, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("author", Text, nullable=False),  # empty where no person said it
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("workload", "signal", "kind", "start_us", "end_us", "at_us", "author", name="uq_marks_span"),
)
"""Spans of history that do not say what the demand was, found or told by a person."""

EVENTS = Table(
    "events",
    METADATA,
    Column("id", _Number, Identity(), primary_key=True),  # the order of what was said at one instant
    Column("name", Text, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("author", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("name", "at_us", "author"),
)
"""Events of the calendar as people added and removed them."""

STARTS = Table(
    "starts",
    METADATA,
    Column("workload", Text, primary_key=True),
    Column("pool", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("replica", Text, primary_key=True),
    Column("requested_us", BigInteger, nullable=False),
    Column("seen_us", BigInteger, nullable=False),
    Column("scheduled_us", BigInteger),
    Column("pulled_us", BigInteger),
    Column("ready_us", BigInteger),
    Column("cold", Boolean),
    Column("rollout", Boolean, nullable=False),
    Column("gone", Boolean, nullable=False),
    Index("ix_starts_requested", "workload", "pool", "requested_us"),
    Index("ix_starts_open", "gone", "ready_us"),
)
"""Replicas on their way from request to ready, one row each. Columns and no bytes: a forecast run reads a hundred of each pool."""

PROFILES = Table(
    "profiles",
    METADATA,
    Column("workload", Text, primary_key=True),
    Column("pool", Text, primary_key=True),
    Column("at_us", BigInteger, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
    Column("origin", Text, nullable=False, server_default="file"),
)
"""What a replica was measured to carry, as people gave it to pools."""

LEVER_MOVES = Table(
    "lever_moves",
    METADATA,
    Column("at_us", BigInteger, primary_key=True, autoincrement=False),
    Column("lever", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
"""What was done to levers, in the order in which it is read: by instant."""
