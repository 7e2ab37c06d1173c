"""Starts of replicas, from which lead times are measured."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "starts",
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("replica", sa.Text(), nullable=False),
        sa.Column("requested_us", sa.BigInteger(), nullable=False),
        sa.Column("seen_us", sa.BigInteger(), nullable=False),
        sa.Column("scheduled_us", sa.BigInteger(), nullable=True),
        sa.Column("pulled_us", sa.BigInteger(), nullable=True),
        sa.Column("ready_us", sa.BigInteger(), nullable=True),
        sa.Column("cold", sa.Boolean(), nullable=True),
        sa.Column("rollout", sa.Boolean(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("workload", "pool", "target", "replica", name="pk_starts"),
    )
    op.create_index("ix_starts_requested", "starts", ["workload", "pool", "requested_us"])
    op.create_index("ix_starts_open", "starts", ["gone", "ready_us"])
