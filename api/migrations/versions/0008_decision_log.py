"""What the trigger and search decided, and why."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "decisions",
        sa.Column("decision_id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.String(length=32), nullable=True),
        sa.Column("symbols_revision", sa.String(length=160), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("decision_id"),
    )
    op.create_index("ix_decisions_at", "decisions", ["tenant", "at", "decision_id"], unique=False)
    op.create_index("ix_decisions_run", "decisions", ["tenant", "run_id"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_decisions_run", table_name="decisions")
    op.drop_index("ix_decisions_at", table_name="decisions")
    op.drop_table("decisions")
