"""State changes of documents: register, switch, supersede, fail, delete. The only writer of their table.

A *line* is (tenant, source name, uploader, upload or found inside another): versions follow each other
within a line. One user's upload never takes the place of another's, nor does what an archive happens to
hold take the place of an upload of that name. The versions of a line are handled one at a time
(`Jobs.claim` sees to it); a delete may come at any moment, so every change names the state it starts from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Engine, and_, case, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from ingest.beside import Again
from ingest.catalog import Clock, select_documents, utc_now, visible_to
from ingest.editions import found_inside, named_like, rename_line, same_line, take_place
from ingest.errors import UnknownDocumentError
from ingest.nesting import delete_inside, descendants, end_with_parent
from ingest.report import AdmissionReport
from ingest.tables import document_access, documents, jobs, knowledge_versions
from ingest.types import Document, DocumentMeta, Format
from retrieval.types import Principal

_TRIES = 4
_REMAINS = and_(documents.c.state == "deleted", documents.c.purged.is_(False))


def new_id() -> str:
    """Return a fresh random id of 32 hex digits; the default for ids."""
    return uuid4().hex


class Lifecycle:
    """Writes document states."""

    def __init__(self, engine: Engine, *, clock: Clock = utc_now, ids: Callable[[], str] = new_id) -> None:
        self._engine = engine
        self._clock = clock
        self.new_document_id = ids

    def register(
        self,
        connection: Connection,
        principal: Principal,
        document_id: str,
        source: str,
        meta: DocumentMeta,
        size_bytes: int,
        *,
        parent_id: str | None = None,
        format: Format | None = None,
    ) -> Document:
        """Add a pending document as the next version of its line, in the caller's transaction.

        Failed versions of the line give way to it: they become deleted and wait for their purge.

        Args:
            connection: the caller's transaction.
            principal: the uploader.
            document_id: a fresh id.
            source: name of the line within the uploader's.
            meta: what the uploader says of it.
            size_bytes: of the original.
            parent_id: the document it was found in.
            format: where it is no file whose content decides (see `ingest.databases`).
        """
        named = named_like(principal.tenant, source, principal.user)
        latest = connection.execute(select(func.max(documents.c.version)).where(named)).scalar_one()
        connection.execute(
            insert(documents).values(
                document_id=document_id,
                tenant=principal.tenant,
                source=source,
                created_by=principal.user,
                parent_id=parent_id,
                version=(latest or 0) + 1,
                state="pending",
                meta=meta.model_dump(mode="json"),
                title=source,
                format=format,
                size_bytes=size_bytes,
                effective_from=meta.effective_from,
                created_at=self._clock(),
                purged=False,
            )
        )
        if meta.access:
            connection.execute(
                insert(document_access),
                [{"document_id": document_id, "token": token} for token in sorted(meta.access)],
            )
        connection.execute(
            update(documents)
            .where(named, found_inside(parent_id is not None), documents.c.state == "failed")
            .values(state="deleted", purged=False)
        )
        return _one(connection, documents.c.document_id == document_id)

    def load(self, document_id: str) -> Document:
        """Return a document in any state, without an access check (for the worker)."""
        with self._engine.connect() as connection:
            return _one(connection, documents.c.document_id == document_id)

    def is_deleted(self, document_id: str) -> bool:
        """Tell whether a document is deleted, or its row is gone."""
        with self._engine.connect() as connection:
            state = connection.execute(
                select(documents.c.state).where(documents.c.document_id == document_id)
            ).scalar_one_or_none()
        return state in {None, "deleted"}

    def current(self, document: Document) -> Document | None:
        """Return the ready document of the line that `document` belongs to, if there is one."""
        with self._engine.connect() as connection:
            found = select_documents(connection, same_line(document), documents.c.state == "ready", limit=1)
        return found[0] if found else None

    def hold_ready(self, connection: Connection, document_id: str) -> bool:
        """Keep a ready document from being deleted until the caller's transaction ends; False when it is not ready."""
        # A write, not a read: it takes the row's lock, and on SQLite the database's.
        held = connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state == "ready")
            .values(purged=documents.c.purged)
        )
        return held.rowcount == 1

    def describe(
        self, document_id: str, title: str, format: Format, page_count: int | None, symbols_revision: str = ""
    ) -> None:
        """Record what parsing and symbolising found, and under which rules; the title is free of secrets."""
        self._change(
            document_id,
            documents.c.state == "pending",
            title=title,
            format=format,
            page_count=page_count,
            symbols_revision=symbols_revision,
        )

    def report(self, document_id: str) -> AdmissionReport | None:
        """Return the admission report of a document, without an access check (for the worker)."""
        with self._engine.connect() as connection:
            stored = connection.execute(
                select(documents.c.report).where(documents.c.document_id == document_id)
            ).scalar_one_or_none()
        return None if stored is None else AdmissionReport.model_validate(stored)

    def reread(self, document: Document, report: AdmissionReport | None, again: Again) -> bool:
        """Record what a ready document is under other rules, name and meta too, and raise the knowledge version.

        Args:
            document: as it is now; its whole line takes its name.
            report: the new report.
            again: what reading it again has made of it.

        Returns:
            False when it is not ready any more.
        """
        with self._engine.begin() as connection:
            done = connection.execute(
                update(documents)
                .where(documents.c.document_id == document.document_id, documents.c.state.in_(("ready", "superseded")))
                .values(
                    title=again.title,
                    meta=document.meta.model_dump(mode="json"),
                    format=document.format,
                    page_count=document.page_count,
                    report=None if report is None else report.model_dump(mode="json"),
                    chunk_count=len(again.chunk_ids),
                    symbols_revision=again.revision,
                )
            )
            if done.rowcount == 0:
                return False
            stored = _one(connection, documents.c.document_id == document.document_id)
            rename_line(connection, document.tenant, stored.source, stored.created_by, document.source)
            _bump(connection, document.tenant)
            return True

    def admit(self, document_id: str, report: AdmissionReport) -> None:
        """Record the admission report, before the switch."""
        self._change(
            document_id,
            documents.c.state == "pending",
            report=report.model_dump(mode="json"),
            warnings=list(report.warnings) or None,
            chunk_count=report.chunks,
        )

    def note(self, connection: Connection, document_id: str, text: str) -> None:
        """Add a line to the admission report of a document, in the caller's transaction; nothing where it has none."""
        # The write comes first: it keeps others who add a line out until this transaction ends.
        mine = documents.c.document_id == document_id
        connection.execute(update(documents).where(mine).values(purged=documents.c.purged))
        stored = connection.execute(select(documents.c.report).where(mine)).scalar_one_or_none()
        if stored is not None:
            report = {**stored, "notes": [*stored["notes"], text]}
            connection.execute(update(documents).where(mine).values(report=report))

    def switch(
        self, document_id: str, inside: Callable[[Connection, Document], None] = lambda _connection, _document: None
    ) -> bool:
        """Make a pending document the version that counts, in one transaction with what gives way to it.

        What gives way is in `editions.take_place`.

        Args:
            document_id: the document.
            inside: adds the documents found inside it, in the same transaction.

        Returns:
            False when the document was not pending any more (deleted in between), or a later version has taken its
            place already.
        """
        for _ in range(_TRIES):
            try:
                return self._switch(document_id, inside)
            except IntegrityError:
                # An upload under the name of a document found inside took its version number in between.
                continue
        return self._switch(document_id, inside)

    def _switch(self, document_id: str, inside: Callable[[Connection, Document], None]) -> bool:
        with self._engine.begin() as connection:
            document = _one(connection, documents.c.document_id == document_id)
            done = connection.execute(
                update(documents)
                .where(documents.c.document_id == document_id, documents.c.state == "pending")
                .values(state="ready", error_code=None, error=None)
            )
            if done.rowcount == 0:
                return document.state in {"ready", "superseded"}
            if not take_place(connection, document):
                return False
            if document.parent_id is not None:
                end_with_parent(connection, document)
            inside(connection, document)
            _bump(connection, document.tenant)
            return True

    def record_hash(self, connection: Connection, document_id: str, content_hash: str) -> None:
        """Record the hash of the bytes, in the caller's transaction: the last write of an ingestion."""
        connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state.in_(("ready", "superseded")))
            .values(content_hash=content_hash)
        )

    def fail(self, connection: Connection, document_id: str, code: str, message: str) -> None:
        """Mark a pending document failed, in the caller's transaction. What is done so far is kept for a retry."""
        connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state == "pending")
            .values(state="failed", error_code=code, error=message)
        )

    def reopen(self, connection: Connection, document_id: str) -> bool:
        """Make a failed document pending again, in the caller's transaction; False when it is gone.

        One that was switched before its job failed stays as it is: only the last steps are left to do.
        """
        connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state == "failed")
            .values(state="pending", error_code=None, error=None)
        )
        return bool(
            select_documents(connection, documents.c.document_id == document_id, documents.c.state != "deleted")
        )

    def withdraw(self, document_id: str) -> None:
        """Remove the row of an upload whose bytes were ready already, once nothing else of it is left."""
        bare = and_(documents.c.document_id == document_id, documents.c.state == "deleted", documents.c.purged)
        with self._engine.begin() as connection:
            connection.execute(
                delete(document_access).where(
                    document_access.c.document_id == document_id, exists(select(documents.c.document_id).where(bare))
                )
            )
            connection.execute(delete(documents).where(bare))

    def delete(self, connection: Connection, principal: Principal, document_id: str) -> Document:
        """Mark a document deleted, and all found inside it, in the caller's transaction.

        They are invisible at once, their remains still to be purged. Repeatable. Returns the document as it was.

        Raises:
            UnknownDocumentError: missing, another tenant's, or not admitted.
        """
        document = _one(connection, documents.c.document_id == document_id, visible_to(principal))
        done = connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state != "deleted")
            .values(state="deleted", purged=False)
        )
        if done.rowcount + len(delete_inside(connection, documents.c.document_id == document_id)):
            _bump(connection, document.tenant)
        return document

    def supersede_unread(self, connection: Connection, document: Document) -> list[str]:
        """Delete the ready version that a child without readable content was to follow, in the caller's transaction.

        Returns:
            The ids of what was deleted with it.
        """
        former = select(documents.c.document_id).where(
            same_line(document), documents.c.state == "ready", documents.c.parent_id == document.parent_id
        )
        gone = list(connection.execute(former).scalars())
        connection.execute(
            update(documents).where(documents.c.document_id.in_(gone)).values(state="deleted", purged=False)
        )
        inside = delete_inside(connection, documents.c.document_id.in_(gone))
        if gone:
            _bump(connection, document.tenant)
        return gone + inside

    def drop(self, connection: Connection, document_id: str) -> bool:
        """Mark a pending document deleted, in the caller's transaction; False when it is not pending any more."""
        dropped = connection.execute(
            update(documents)
            .where(documents.c.document_id == document_id, documents.c.state == "pending")
            .values(state="deleted", purged=False)
        )
        return dropped.rowcount == 1

    def forgotten(self, document_ids: Collection[str]) -> set[str]:
        """Return which of these ids belong to no document, or to one that was purged."""
        with self._engine.connect() as connection:
            kept = connection.execute(
                select(documents.c.document_id).where(
                    documents.c.document_id.in_(sorted(document_ids)), documents.c.purged.is_(False)
                )
            ).scalars()
            return set(document_ids) - set(kept)

    def unpurged(self, document: Document | None = None) -> list[tuple[str, str]]:
        """Return (tenant, document_id) of deleted documents with remains.

        Where `document` is given only of its line, and of what was found inside the versions of it.
        """
        waiting = select(documents.c.tenant, documents.c.document_id).where(_REMAINS)
        if document is not None:
            waiting = waiting.where(same_line(document))
        with self._engine.connect() as connection:
            found = [(row.tenant, row.document_id) for row in connection.execute(waiting)]
            if document is not None:
                inside = descendants(connection, same_line(document), kept=False, only=_REMAINS)
                found += [(document.tenant, each) for each in inside]
        return found

    def unpurged_inside(self, connection: Connection, document_id: str) -> list[str]:
        """Return the ids of the deleted documents with remains that were found inside a document."""
        return descendants(connection, documents.c.document_id == document_id, kept=False, only=_REMAINS)

    def failed_inside(self, connection: Connection, document_id: str) -> list[str]:
        """Return the ids of the failed documents that were found inside a document."""
        return descendants(connection, documents.c.document_id == document_id, only=documents.c.state == "failed")

    def purged(self, document_id: str) -> None:
        """Record that nothing is left, and blank the tombstone: ids, hash and times stay.

        An upload's name stays too: its uploader gave it. The name of what was found inside is content of
        the document around it: the id takes its place, in the jobs that carried it as well.
        """
        inside = documents.c.parent_id.is_not(None)
        of_inside = exists(
            select(documents.c.document_id).where(
                documents.c.document_id == document_id,
                documents.c.state == "deleted",
                # A job that names another source told of something inside that nobody reads.
                or_(inside, documents.c.source != jobs.c.source),
            )
        )
        with self._engine.begin() as connection:
            access = connection.execute(
                select(document_access.c.token).where(document_access.c.document_id == document_id)
            ).scalars()
            meta = DocumentMeta(access=frozenset(access))
            connection.execute(
                update(documents)
                .where(documents.c.document_id == document_id, documents.c.state == "deleted")
                .values(
                    purged=True,
                    source=case((inside, documents.c.document_id), else_=documents.c.source),
                    title="",
                    meta=meta.model_dump(mode="json"),
                    report=None,
                    error=None,
                    chunk_count=0,
                )
            )
            connection.execute(
                update(jobs).where(jobs.c.document_id == document_id, of_inside).values(source=document_id, error=None)
            )

    def _change(self, document_id: str, condition: ColumnElement[bool], **values: object) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                update(documents).where(documents.c.document_id == document_id, condition).values(**values)
            )


def _one(connection: Connection, *conditions: ColumnElement[bool]) -> Document:
    found = select_documents(connection, *conditions, limit=1)
    if not found:
        raise UnknownDocumentError("document not found")
    return found[0]


def _bump(connection: Connection, tenant: str) -> None:
    raised = connection.execute(
        update(knowledge_versions)
        .where(knowledge_versions.c.tenant == tenant)
        .values(version=knowledge_versions.c.version + 1)
    )
    if raised.rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(insert(knowledge_versions).values(tenant=tenant, version=1))
    except IntegrityError:
        # Another transaction made the row in between.
        _bump(connection, tenant)
