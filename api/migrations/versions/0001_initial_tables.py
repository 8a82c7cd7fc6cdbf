"""Initial tables: documents, jobs, vault, knowledge version; runs and their events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "documents",
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("created_by", sa.String(length=128), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("format", sa.String(length=16), nullable=True),
        sa.Column("content_hash", sa.String(length=64), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("page_count", sa.Integer(), nullable=True),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("effective_from", sa.Date(), nullable=True),
        sa.Column("superseded_from", sa.Date(), nullable=True),
        sa.Column("superseded_by", sa.String(length=32), nullable=True),
        sa.Column("purged", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("document_id"),
        sa.UniqueConstraint("tenant", "source", "created_by", "version", name="uq_documents_line"),
    )
    with op.batch_alter_table("documents", schema=None) as batch_op:
        batch_op.create_index("ix_documents_listing", ["tenant", "created_at", "document_id"], unique=False)
        batch_op.create_index("ix_documents_superseded_by", ["superseded_by"], unique=False)
        batch_op.create_index("ix_documents_unpurged", ["state", "purged"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("created_by", sa.String(length=128), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("pages_done", sa.Integer(), nullable=False),
        sa.Column("pages_total", sa.Integer(), nullable=True),
        sa.Column("chunks_done", sa.Integer(), nullable=False),
        sa.Column("chunks_total", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("takeovers", sa.Integer(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index("ix_jobs_document", ["document_id"], unique=False)
        batch_op.create_index("ix_jobs_line", ["tenant", "source", "created_by", "version"], unique=False)
        batch_op.create_index("ix_jobs_state", ["state", "created_at"], unique=False)

    op.create_table(
        "knowledge_versions",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "vault",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("pseudonym", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "pseudonym"),
    )
    with op.batch_alter_table("vault", schema=None) as batch_op:
        batch_op.create_index("ix_vault_key", ["tenant", "key_id"], unique=False)

    op.create_table(
        "vault_reveals",
        sa.Column("reveal_id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("user", sa.String(length=128), nullable=False),
        sa.Column("pseudonym", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("reveal_id"),
    )
    with op.batch_alter_table("vault_reveals", schema=None) as batch_op:
        batch_op.create_index("ix_vault_reveals_at", ["tenant", "at"], unique=False)

    op.create_table(
        "vault_uses",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("pseudonym", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "pseudonym", "document_id"),
    )
    with op.batch_alter_table("vault_uses", schema=None) as batch_op:
        batch_op.create_index("ix_vault_uses_document", ["tenant", "document_id"], unique=False)

    op.create_table(
        "document_access",
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("token", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
        ),
        sa.PrimaryKeyConstraint("document_id", "token"),
    )
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("trace_id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("user", sa.String(length=128), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("run_id"),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("ix_runs_owner", ["tenant", "user", "started_at", "run_id"], unique=False)

    op.create_table(
        "run_events",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("run_events")
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_index("ix_runs_owner")

    op.drop_table("runs")
    op.drop_table("document_access")
    with op.batch_alter_table("vault_uses", schema=None) as batch_op:
        batch_op.drop_index("ix_vault_uses_document")

    op.drop_table("vault_uses")
    with op.batch_alter_table("vault_reveals", schema=None) as batch_op:
        batch_op.drop_index("ix_vault_reveals_at")

    op.drop_table("vault_reveals")
    with op.batch_alter_table("vault", schema=None) as batch_op:
        batch_op.drop_index("ix_vault_key")

    op.drop_table("vault")
    op.drop_table("knowledge_versions")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index("ix_jobs_state")
        batch_op.drop_index("ix_jobs_line")
        batch_op.drop_index("ix_jobs_document")

    op.drop_table("jobs")
    with op.batch_alter_table("documents", schema=None) as batch_op:
        batch_op.drop_index("ix_documents_unpurged")
        batch_op.drop_index("ix_documents_superseded_by")
        batch_op.drop_index("ix_documents_listing")

    op.drop_table("documents")
