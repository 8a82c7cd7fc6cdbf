"""Where a secret was shown, and which values were erased."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    with op.batch_alter_table("vault_reveals", schema=None) as batch_op:
        batch_op.add_column(sa.Column("place", sa.String(length=64), server_default="", nullable=False))
        batch_op.create_index("ix_vault_reveals_pseudonym", ["tenant", "pseudonym"], unique=False)
    op.create_table(
        "vault_erased",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erased_by", sa.String(length=128), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "fingerprint"),
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("vault_erased")
    with op.batch_alter_table("vault_reveals", schema=None) as batch_op:
        batch_op.drop_index("ix_vault_reveals_pseudonym")
        batch_op.drop_column("place")
