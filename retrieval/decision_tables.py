"""The decision log's table, on its own metadata."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text

metadata = MetaData()

decisions = Table(
    "decisions",
    metadata,
    Column("decision_id", String(32), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("run_id", String(64)),
    # Beside the body, because it comes later.
    Column("outcome", String(32)),
    # Rules and key that its texts were written under.
    Column("symbols_revision", String(160), nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_decisions_at", "tenant", "at", "decision_id"),
    Index("ix_decisions_run", "tenant", "run_id"),
)
"""One row per decision; `body` is it as JSON."""
