"""The agent's tables, on their own metadata."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("trace_id", String(64), nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("user", String(128), nullable=False),
    Column("question", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("ended_at", DateTime(timezone=True)),
    Column("symbols_revision", String(160)),
    Index("ix_runs_owner", "tenant", "user", "started_at", "run_id"),
)
"""One row per run; `state` is `running`, `completed`, `failed` or `cancelled`.

`symbols_revision` names the rules that an ended run was last rewritten under (`agent.copies`)."""

run_events = Table(
    "run_events",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("body", Text, nullable=False),
)
"""Every event of a run as the JSON it was streamed as."""

run_passages = Table(
    "run_passages",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("label", String(64), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("document_id", String(64), nullable=False),
    Index("ix_run_passages_document", "tenant", "document_id"),
)
"""Which documents a run was given passages of, and under which labels."""

erased_documents = Table(
    "erased_documents",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("document_id", String(64), primary_key=True),
)
"""Deleted documents by id: no run may bring their text back."""

usage = Table(
    "usage",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("user", String(128), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("currency", String(3), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("completion_tokens", BigInteger, nullable=False),
    Column("money_nanos", BigInteger, nullable=False),
    Index("ix_usage_day", "tenant", "day"),
)
"""What models were used for whom, by day (UTC, ISO form); money in billionths of a unit of `currency`."""
