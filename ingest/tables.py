"""Ingestion's SQL tables, on one metadata of their own.

Portable between SQLite and PostgreSQL. The engine, its pragmas and the migrations
belong to `api/database.py`; owners of these tables receive the engine.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData()


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC; SQLite keeps no offset, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times: they would be stored as if they were UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time with its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


documents = Table(
    "documents",
    metadata,
    Column("document_id", String(32), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("source", String(255), nullable=False),
    Column("created_by", String(128), nullable=False),
    # The document it was found in (a message, an archive). Names a row, but by no foreign key: that row may be
    # withdrawn before it is ready.
    Column("parent_id", String(32)),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("meta", JSON, nullable=False),
    Column("title", Text, nullable=False, default=""),
    Column("format", String(16)),
    Column("content_hash", String(64)),
    Column("size_bytes", BigInteger, nullable=False),
    Column("page_count", Integer),
    # Rules and key it was read under (`Cut.revision`); None: before that was recorded.
    Column("symbols_revision", String(160)),
    Column("chunk_count", Integer, nullable=False, default=0),
    Column("report", JSON(none_as_null=True)),
    Column("warnings", JSON(none_as_null=True)),
    Column("effective_from", Date),
    # First day on which the next edition is in force, and which one that is.
    Column("superseded_from", Date),
    Column("superseded_by", String(32)),
    # False while chunks, original or vault entries of a deleted document may still exist.
    Column("purged", Boolean, nullable=False, default=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("error_code", String(64)),
    Column("error", Text),
    UniqueConstraint("tenant", "source", "created_by", "version", name="uq_documents_line"),
    Index("ix_documents_listing", "tenant", "created_at", "document_id"),
    Index("ix_documents_parent", "parent_id"),
    Index("ix_documents_superseded_by", "superseded_by"),
    Index("ix_documents_unpurged", "state", "purged"),
)

document_access = Table(
    "document_access",
    metadata,
    Column("document_id", String(32), ForeignKey("documents.document_id"), primary_key=True),
    Column("token", String(255), primary_key=True),
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", String(32), primary_key=True),
    Column("tenant", String(64), nullable=False),
    # No foreign key: a job outlives the pending row of an upload that turned out unchanged.
    Column("document_id", String(32), nullable=False),
    Column("source", String(255), nullable=False),
    Column("created_by", String(128), nullable=False),
    Column("version", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("kind", String(16), nullable=False, default="ingest", server_default="ingest"),
    Column("state", String(16), nullable=False),
    Column("stage", String(16), nullable=False, default="queued"),
    Column("pages_done", Integer, nullable=False, default=0),
    Column("pages_total", Integer),
    Column("chunks_done", Integer, nullable=False, default=0),
    Column("chunks_total", Integer),
    Column("chunks_reused", Integer, nullable=False, default=0, server_default="0"),
    Column("outcome", String(16)),
    Column("attempts", Integer, nullable=False, default=0),
    # Take-overs from dead owners since the last progress: a document that kills its worker must not do so for ever.
    Column("takeovers", Integer, nullable=False, default=0),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    Column("owner", String(255)),
    Column("lease_until", UtcDateTime),
    Column("not_before", UtcDateTime),
    Column("error_code", String(64)),
    Column("error", Text),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("ix_jobs_state", "state", "created_at"),
    Index("ix_jobs_line", "tenant", "source", "created_by", "version"),
    Index("ix_jobs_document", "document_id"),
)

knowledge_versions = Table(
    "knowledge_versions",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
)

vault = Table(
    "vault",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("pseudonym", String(64), primary_key=True),
    Column("key_id", String(16), nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Index("ix_vault_key", "tenant", "key_id"),
)

vault_uses = Table(
    "vault_uses",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("pseudonym", String(64), primary_key=True),
    Column("document_id", String(32), primary_key=True),
    Index("ix_vault_uses_document", "tenant", "document_id"),
)

reveals = Table(
    "vault_reveals",
    metadata,
    Column("reveal_id", String(32), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("user", String(128), nullable=False),
    # Empty where it is not about a single value (a picture of a page, a refused answer).
    Column("pseudonym", String(64), nullable=False),
    # Where it was to be shown: a page, a run, an export. Empty: by itself.
    Column("place", String(64), nullable=False, default="", server_default=""),
    Column("reason", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_vault_reveals_at", "tenant", "at"),
    Index("ix_vault_reveals_pseudonym", "tenant", "pseudonym"),
)

erased_values = Table(
    "vault_erased",
    metadata,
    Column("tenant", String(64), primary_key=True),
    # Keyed (`retrieval.symbols.pseudonyms.fingerprint`): it recognises the value, and tells nothing of it.
    Column("fingerprint", String(64), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("erased_at", UtcDateTime, nullable=False),
    Column("erased_by", String(128), nullable=False),
    Column("reason", Text, nullable=False),
)

erased_uses = Table(
    "vault_erased_uses",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("fingerprint", String(64), primary_key=True),
    # Its original holds the value: nothing else does, so nothing else tells which one it is.
    Column("document_id", String(32), primary_key=True),
    Index("ix_vault_erased_uses_document", "tenant", "document_id"),
)

symbol_corrections = Table(
    "symbol_corrections",
    metadata,
    Column("correction_id", String(32), primary_key=True),
    Column("tenant", String(64), nullable=False),
    # Keyed, of verdict, text and line: the same word is kept once.
    Column("fingerprint", String(64), nullable=False),
    Column("key_id", String(16), nullable=False),
    # Text and line: either may be a secret.
    Column("ciphertext", LargeBinary, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("created_by", String(128), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("note", Text, nullable=False),
    UniqueConstraint("tenant", "fingerprint", name="uq_symbol_corrections"),
)

pseudonym_renames = Table(
    "pseudonym_renames",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("old", String(64), primary_key=True),
    Column("new", String(64), nullable=False),
    Index("ix_pseudonym_renames_new", "tenant", "new"),
)
