"""The first tables: history by day, forecasts and plans by issue, model states, cycle records, rulings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "history",
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("signal", sa.Text(), nullable=False),
        sa.Column("step_s", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workload", "signal", "step_s", "day", name="pk_history"),
    )
    op.create_table(
        "forecasts",
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("signal", sa.Text(), nullable=False),
        sa.Column("issued_us", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workload", "signal", "issued_us", name="pk_forecasts"),
    )
    op.create_table(
        "states",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_states"),
    )
    op.create_table(
        "plans",
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("issued_us", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workload", "pool", "issued_us", name="pk_plans"),
    )
    _create_records()
    op.create_table(
        "rulings",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rulings"),
        sa.UniqueConstraint("workload", "at_us", "kind", "author", "plan_id", name="uq_rulings_workload_at_us_kind_author_plan_id"),
    )


def _create_records() -> None:
    op.create_table(
        "targets",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_targets"),
        sa.UniqueConstraint("workload", "pool", "target", name="uq_targets_workload_pool_target"),
    )
    op.create_table(
        "records",
        sa.Column("target_id", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("target_id", "at_us", name="pk_records"),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name="fk_records_target_id_targets"),
        sqlite_with_rowid=False,
    )
