"""What audits came to, the passages that answers rely on, and audits that are made again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_FIGURES = ("sentences", "supported", "partly_supported", "contradicted", "unsupported", "uncited", "violations")


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "audits",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("user", sa.String(length=128), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("risk", sa.String(length=8), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _FIGURES),
        sa.Column("stale_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index("ix_audits_owner", "audits", ["tenant", "user", "at", "run_id"], unique=False)
    op.create_index("ix_audits_day", "audits", ["tenant", "day"], unique=False)
    op.create_index("ix_audits_stale", "audits", ["tenant", "stale_at"], unique=False)
    op.create_table(
        "audit_sources",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=64), nullable=False),
        sa.Column("chunk_id", sa.String(length=64), nullable=False),
        sa.Column("text_sha256", sa.String(length=64), nullable=False),
        sa.Column("stale", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "label"),
    )
    op.create_index("ix_audit_sources_document", "audit_sources", ["tenant", "document_id"], unique=False)
    op.create_table(
        "reaudits",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("risk", sa.String(length=8), nullable=True),
        sa.Column("changes", sa.Text(), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "run_id"),
    )
    op.create_index("ix_reaudits_waiting", "reaudits", ["done_at", "asked_at"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    for index, table in (
        ("ix_reaudits_waiting", "reaudits"),
        ("ix_audit_sources_document", "audit_sources"),
        ("ix_audits_stale", "audits"),
        ("ix_audits_day", "audits"),
        ("ix_audits_owner", "audits"),
    ):
        op.drop_index(index, table_name=table)
    for table in ("reaudits", "audit_sources", "audits"):
        op.drop_table(table)
