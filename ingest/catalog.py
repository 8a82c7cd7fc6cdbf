"""The catalogue as readers see it: documents, versions, what is live, the knowledge version.

Every read takes a principal or a tenant. A document of another tenant, one whose access
list does not admit the principal, and one that does not exist are the same answer; the
uploader always sees the upload itself. State changes are in `lifecycle.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime

from sqlalchemy import ColumnElement, Connection, Engine, and_, exists, or_, select

from ingest.editions import same_line
from ingest.errors import UnknownDocumentError
from ingest.report import AdmissionReport
from ingest.tables import document_access, documents, knowledge_versions
from ingest.types import Document, DocumentMeta, DocumentState
from retrieval.types import Principal

LISTED: tuple[DocumentState, ...] = ("pending", "ready", "superseded", "failed")

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the present time in UTC; the default clock."""
    return datetime.now(UTC)


def visible_to(principal: Principal) -> ColumnElement[bool]:
    """Return the condition under which a row of `documents` may be shown to `principal`."""
    admitted = exists(
        select(document_access.c.token).where(
            document_access.c.document_id == documents.c.document_id,
            document_access.c.token.in_(sorted(principal.access_tokens())),
        )
    )
    return and_(
        documents.c.tenant == principal.tenant,
        or_(documents.c.created_by == principal.user, admitted),
    )


def outdated(revision: str) -> ColumnElement[bool]:
    """Return the condition that a row of `documents` is shown, and was read under other symbol rules than these."""
    return and_(
        documents.c.state.in_(("ready", "superseded")),
        or_(documents.c.symbols_revision.is_(None), documents.c.symbols_revision != revision),
    )


class Catalog:
    """Reads documents for principals, and what is live for retrieval."""

    def __init__(self, engine: Engine, *, clock: Clock = utc_now) -> None:
        self._engine = engine
        self._clock = clock

    def get(self, principal: Principal, document_id: str) -> Document:
        """Return one document that is not deleted.

        Raises:
            UnknownDocumentError: missing, deleted, another tenant's, or not admitted.
        """
        found = self._select(visible_to(principal), documents.c.document_id == document_id)
        if not found or found[0].state == "deleted":
            raise UnknownDocumentError(f"document {document_id!r}: not found")
        return found[0]

    def list(
        self,
        principal: Principal,
        *,
        states: Collection[DocumentState] = LISTED,
        source: str | None = None,
        parent_id: str | None = None,
        own: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Document]:
        """Return a page of documents, newest first.

        Args:
            principal: who asks.
            states: only documents in one of these states; deleted ones are not listed unless asked for.
            source: only versions of this source.
            parent_id: only documents found inside this one.
            own: only what the principal uploaded.
            limit: at most so many.
            offset: how many to pass over.
        """
        conditions = [visible_to(principal), documents.c.state.in_(sorted(states))]
        if source is not None:
            conditions.append(documents.c.source == source)
        if parent_id is not None:
            conditions.append(documents.c.parent_id == parent_id)
        if own:
            conditions.append(documents.c.created_by == principal.user)
        return self._select(*conditions, limit=limit, offset=offset)

    def versions(self, principal: Principal, document_id: str) -> list[Document]:
        """Return all kept versions of the document's line, newest version first."""
        document = self.get(principal, document_id)
        line = self._select(
            visible_to(principal),
            same_line(document),
            documents.c.state != "deleted",
        )
        return sorted(line, key=lambda each: each.version, reverse=True)

    def report(self, principal: Principal, document_id: str) -> AdmissionReport | None:
        """Return the admission report; None while there is none (pending or failed early)."""
        self.get(principal, document_id)
        with self._engine.connect() as connection:
            stored = connection.execute(
                select(documents.c.report).where(documents.c.document_id == document_id)
            ).scalar_one_or_none()
        return None if stored is None else AdmissionReport.model_validate(stored)

    def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
        """Return which of these documents may be shown, as of a date (default: today).

        Of a line with several dated editions exactly one is live on any day, so that one
        answer never mixes them. Pending, failed and deleted documents are never live.
        """
        day = as_of or self._clock().date()
        wanted = sorted(set(document_ids))
        in_force = select(documents.c.document_id).where(
            documents.c.tenant == tenant,
            documents.c.document_id.in_(wanted),
            documents.c.state.in_(("ready", "superseded")),
            or_(documents.c.superseded_from.is_(None), documents.c.superseded_from > day),
        )
        not_yet = select(documents.c.superseded_by).where(
            documents.c.tenant == tenant,
            documents.c.superseded_by.in_(wanted),
            documents.c.state == "superseded",
            documents.c.superseded_from > day,
        )
        if as_of is not None:
            in_force = in_force.where(or_(documents.c.effective_from.is_(None), documents.c.effective_from <= as_of))
        with self._engine.connect() as connection:
            live = set(connection.execute(in_force).scalars())
            return live - set(connection.execute(not_yet).scalars())

    def superseded_from(self, tenant: str, document_ids: Collection[str]) -> dict[str, date]:
        """Return, for those of these documents that a later edition follows, the first day of that edition."""
        query = select(documents.c.document_id, documents.c.superseded_from).where(
            documents.c.tenant == tenant,
            documents.c.document_id.in_(sorted(set(document_ids))),
            documents.c.state == "superseded",
            documents.c.superseded_from.is_not(None),
        )
        with self._engine.connect() as connection:
            return {document_id: day for document_id, day in connection.execute(query)}

    def knowledge_version(self, tenant: str) -> int:
        """Return the number that changes with every switch and delete of the tenant; 0 at first."""
        with self._engine.connect() as connection:
            version = connection.execute(
                select(knowledge_versions.c.version).where(knowledge_versions.c.tenant == tenant)
            ).scalar_one_or_none()
        return version or 0

    def _select(self, *conditions: ColumnElement[bool], limit: int | None = None, offset: int = 0) -> list[Document]:
        with self._engine.connect() as connection:
            return select_documents(connection, *conditions, limit=limit, offset=offset)


class LiveCatalog:
    """The catalogue's liveness for async callers (retrieval's filter after a search)."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
        """Return which of these documents may be shown; see `Catalog.live`."""
        return await asyncio.to_thread(self._catalog.live, tenant, document_ids, as_of)

    async def superseded_from(self, tenant: str, document_ids: Collection[str]) -> dict[str, date]:
        """Return until when documents are in force; see `Catalog.superseded_from`."""
        return await asyncio.to_thread(self._catalog.superseded_from, tenant, document_ids)

    async def knowledge_version(self, tenant: str) -> int:
        """Return the tenant's knowledge version; see `Catalog.knowledge_version`."""
        return await asyncio.to_thread(self._catalog.knowledge_version, tenant)


_COLUMNS = (
    documents.c.document_id,
    documents.c.tenant,
    documents.c.source,
    documents.c.parent_id,
    documents.c.version,
    documents.c.state,
    documents.c.meta,
    documents.c.title,
    documents.c.format,
    documents.c.content_hash,
    documents.c.size_bytes,
    documents.c.page_count,
    documents.c.chunk_count,
    documents.c.created_by,
    documents.c.created_at,
    documents.c.warnings,
    documents.c.error_code,
    documents.c.error,
)


def select_documents(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None, offset: int = 0
) -> list[Document]:
    """Read documents by conditions, newest first; no access check of its own."""
    statement = (
        select(*_COLUMNS)
        .where(*conditions)
        .order_by(documents.c.created_at.desc(), documents.c.document_id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [
        Document.model_validate({
            **row,
            "meta": DocumentMeta.model_validate(row["meta"]),
            "warnings": tuple(row["warnings"] or ()),
        })
        for row in connection.execute(statement).mappings()
    ]
