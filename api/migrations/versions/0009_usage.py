"""What models were used for whom, by day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "usage",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("user", sa.String(length=128), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("money_nanos", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "user", "day", "model", "currency"),
    )
    op.create_index("ix_usage_day", "usage", ["tenant", "day"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_usage_day", table_name="usage")
    op.drop_table("usage")
