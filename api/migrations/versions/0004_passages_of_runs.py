"""Which documents runs used, so that a deleted one leaves tombstones in them."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward, and note what earlier runs used."""
    op.create_table(
        "erased_documents",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id"),
    )
    used = op.create_table(
        "run_passages",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "label"),
    )
    op.create_index("ix_run_passages_document", "run_passages", ["tenant", "document_id"], unique=False)
    stored = sa.text(
        "SELECT runs.run_id, runs.tenant, run_events.body FROM run_events JOIN runs ON runs.run_id = run_events.run_id"
        " WHERE run_events.kind = 'passages_retrieved'"
    )
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for run_id, tenant, body in op.get_bind().execute(stored):
        for passage in json.loads(body)["passages"]:
            row = {"run_id": run_id, "label": passage["label"], "tenant": tenant}
            seen.setdefault((run_id, passage["label"]), {**row, "document_id": passage["chunk"]["document_id"]})
    if seen:
        op.bulk_insert(used, list(seen.values()))


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_run_passages_document", table_name="run_passages")
    op.drop_table("run_passages")
    op.drop_table("erased_documents")
