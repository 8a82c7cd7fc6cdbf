"""Jobs count the chunks that needed no encoding."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("chunks_reused", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    """Take the schema back."""
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_column("chunks_reused")
