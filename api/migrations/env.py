"""Alembic environment: runs on the connection that `api.database` hands over."""

from __future__ import annotations

from alembic import context

import agent.tables
import ingest.tables
import retrieval.decision_tables

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=[ingest.tables.metadata, agent.tables.metadata, retrieval.decision_tables.metadata],
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
