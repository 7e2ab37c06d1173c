"""What was done to levers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "lever_moves",
        sa.Column("at_us", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lever", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("at_us", "lever", "kind", name="pk_lever_moves"),
    )
