"""Which originals still hold an erased value."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "vault_erased_uses",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "fingerprint", "document_id"),
    )
    op.create_index("ix_vault_erased_uses_document", "vault_erased_uses", ["tenant", "document_id"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_vault_erased_uses_document", table_name="vault_erased_uses")
    op.drop_table("vault_erased_uses")
