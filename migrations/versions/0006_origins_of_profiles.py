"""Where a profile comes from, as a column: until now all of them were files of load tests."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("profiles", sa.Column("origin", sa.Text(), nullable=False, server_default="file"))
