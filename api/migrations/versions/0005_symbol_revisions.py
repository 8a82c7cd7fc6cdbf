"""Which rules a document was read under, jobs that read it again, corrections, and renamed pseudonyms."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.add_column("documents", sa.Column("symbols_revision", sa.String(length=160), nullable=True))
    op.add_column("runs", sa.Column("symbols_revision", sa.String(length=160), nullable=True))
    op.add_column("jobs", sa.Column("kind", sa.String(length=16), nullable=False, server_default="ingest"))
    op.create_table(
        "symbol_corrections",
        sa.Column("correction_id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("created_by", sa.String(length=128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("correction_id"),
        sa.UniqueConstraint("tenant", "fingerprint", name="uq_symbol_corrections"),
    )
    op.create_table(
        "pseudonym_renames",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("old", sa.String(length=64), nullable=False),
        sa.Column("new", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "old"),
    )
    op.create_index("ix_pseudonym_renames_new", "pseudonym_renames", ["tenant", "new"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_pseudonym_renames_new", table_name="pseudonym_renames")
    op.drop_table("pseudonym_renames")
    op.drop_table("symbol_corrections")
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("kind")
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("symbols_revision")
    with op.batch_alter_table("documents") as documents:
        documents.drop_column("symbols_revision")
