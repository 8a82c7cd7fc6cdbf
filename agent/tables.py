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

audits = Table(
    "audits",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("user", String(128), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("day", String(10), nullable=False),
    Column("risk", String(8), nullable=False),
    Column("action", String(16), nullable=False),
    Column("status", String(32), nullable=False),
    Column("sentences", Integer, nullable=False),
    Column("supported", Integer, nullable=False),
    Column("partly_supported", Integer, nullable=False),
    Column("contradicted", Integer, nullable=False),
    Column("unsupported", Integer, nullable=False),
    Column("uncited", Integer, nullable=False),
    Column("violations", Integer, nullable=False),
    Column("stale_at", DateTime(timezone=True)),
    Index("ix_audits_owner", "tenant", "user", "at", "run_id"),
    Index("ix_audits_day", "tenant", "day"),
    Index("ix_audits_stale", "tenant", "stale_at"),
)
"""One row per completed run: what its audit came to, in figures; the verdicts and their evidence are in its last event.

`stale_at` says since when a document that the answer relied on is replaced or deleted."""

audit_sources = Table(
    "audit_sources",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("label", String(64), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("document_id", String(64), nullable=False),
    Column("chunk_id", String(64), nullable=False),
    Column("text_sha256", String(64), nullable=False),
    Column("stale", String(16)),
    Index("ix_audit_sources_document", "tenant", "document_id"),
)
"""The passages that an answer cites, by reference and hash of the text it was audited against; no text.

`stale` is `replaced` or `deleted` once the document is."""

reaudits = Table(
    "reaudits",
    metadata,
    Column("job_id", String(64), primary_key=True),
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("principal", Text, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("done_at", DateTime(timezone=True)),
    Column("risk", String(8)),
    Column("changes", Text),
    Column("error_code", String(64)),
    Index("ix_reaudits_waiting", "done_at", "asked_at"),
)
"""Past answers that are audited against the index of now: one row per answer of a job, done or waiting.

`changes` lists, as JSON, the sentences whose verdict is another now: by number and verdicts, without text."""

conversations = Table(
    "conversations",
    metadata,
    Column("conversation_id", String(64), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("user", String(128), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Index("ix_conversations_owner", "tenant", "user", "asked_at"),
)
"""Conversations hold no text: questions and answers stand in the journal of their runs alone."""

conversation_runs = Table(
    "conversation_runs",
    metadata,
    Column(
        "conversation_id",
        String(64),
        ForeignKey("conversations.conversation_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("place", Integer, primary_key=True),
    Column("run_id", String(64), nullable=False, unique=True),
)
"""The runs of a conversation in order; `place` counts from 1."""

run_requests = Table(
    "run_requests",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("body", Text, nullable=False),
)
"""What a run was asked and for whom, to resume and to replay it (`agent.tapes`)."""

run_tapes = Table(
    "run_tapes",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("body", Text, nullable=False),
)
"""What a run took from outside, in order: replies of models, results of tools (`agent.tape`)."""
