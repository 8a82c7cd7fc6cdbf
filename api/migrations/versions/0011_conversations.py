"""Which runs belong together; texts stay in the runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "conversations",
        sa.Column("conversation_id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("user", sa.String(length=128), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id"),
    )
    op.create_index("ix_conversations_owner", "conversations", ["tenant", "user", "asked_at"], unique=False)
    op.create_table(
        "conversation_runs",
        sa.Column("conversation_id", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.conversation_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("conversation_id", "place"),
        sa.UniqueConstraint("run_id"),
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("conversation_runs")
    op.drop_index("ix_conversations_owner", table_name="conversations")
    op.drop_table("conversations")
