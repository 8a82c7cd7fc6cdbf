"""Ingestion's door for principals: submit, follow, list, delete, cancel, try again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from ingest.catalog import LISTED, Catalog
from ingest.databases import take_snapshot
from ingest.errors import (
    NotPermittedError,
    SourceUnavailableError,
    UnknownDatabaseError,
    UnknownDocumentError,
    UnknownJobError,
)
from ingest.hiding import Hides, hide_meta, hide_source
from ingest.jobs import Jobs
from ingest.lifecycle import Lifecycle
from ingest.originals import Originals, StoredOriginal
from ingest.purge import Purger
from ingest.report import AdmissionReport
from ingest.settings import ParserSettings
from ingest.types import DeletionReceipt, Document, DocumentMeta, DocumentState, Format, Job, JobState
from ingest.vault import Vault
from retrieval.types import Principal, Right

_READ_BYTES = 1024 * 1024
_TRIES = 5


class Ingestion:
    """Takes documents in and out. Reads are blocking (SQL); what moves bytes or chunks is async."""

    def __init__(
        self,
        *,
        engine: Engine,
        catalog: Catalog,
        lifecycle: Lifecycle,
        jobs: Jobs,
        originals: Originals,
        purger: Purger,
        vault: Vault,
        hides: Hides,
        limits: ParserSettings,
        databases: Mapping[str, str],
        on_submit: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._lifecycle = lifecycle
        self._jobs = jobs
        self._originals = originals
        self._purger = purger
        self._vault = vault
        self._hides = hides
        self._limits = limits
        self._databases = databases
        self._on_submit = on_submit

    async def submit(
        self,
        principal: Principal,
        source: str,
        content: AsyncIterable[bytes] | Path,
        meta: DocumentMeta,
        *,
        password: str | None = None,
    ) -> Job:
        """Store the original durably, queue its ingestion, and return at once.

        Args:
            principal: needs the right `ingest`; the upload continues this user's line of that name.
            source: display name; text only. Secrets in it, and in what is said of the document, are kept as
                pseudonyms.
            content: the bytes as they arrive, or a file to read.
            meta: what the uploader says of the document.
            password: opens the document, where it is encrypted, and those found inside it; kept sealed.

        Raises:
            NotPermittedError: without the right.
            DocumentTooLargeError: above the size limit; nothing is kept.
            SourceUnavailableError: the file cannot be read.
        """
        _require(principal, "ingest")
        document_id = self._lifecycle.new_document_id()
        pieces = _file_pieces(content) if isinstance(content, Path) else content
        stored = await self._store(principal.tenant, document_id, pieces)
        if password is not None:
            await asyncio.to_thread(self._originals.keep_password, principal.tenant, document_id, password)
        # Shielded: a caller who goes away in this moment must not leave it open whether the job exists.
        job = await asyncio.shield(asyncio.to_thread(self._register, principal, document_id, source, meta, stored))
        self._on_submit()
        return job

    async def submit_database(self, principal: Principal, name: str, meta: DocumentMeta) -> Job:
        """Take a snapshot of the schema of a configured database, and queue its ingestion.

        Args:
            principal: needs the rights `ingest` and `admin`: only an operator names databases.
            name: as it is configured; a URL is never taken from a caller.
            meta: what is said of the document, whose source is `database:NAME`.

        Raises:
            NotPermittedError: without the rights.
            UnknownDatabaseError: none is configured under this name.
            UnsupportedDocumentError: its driver is not installed.
            SourceUnavailableError: it cannot be reached just now.
            NoTextError: it has no tables.
        """
        _require(principal, "ingest")
        _require(principal, "admin")
        if name not in self._databases:
            raise UnknownDatabaseError(f"database {name!r}: none is configured under this name")
        content = await asyncio.to_thread(take_snapshot, self._databases[name], name, self._limits)
        document_id = self._lifecycle.new_document_id()
        stored = await self._store(principal.tenant, document_id, _whole(content))
        register = partial(self._register, format="database")
        job = await asyncio.shield(
            asyncio.to_thread(register, principal, document_id, f"database:{name}", meta, stored)
        )
        self._on_submit()
        return job

    def list_databases(self, principal: Principal) -> list[str]:
        """Return the names of the configured databases; raises NotPermittedError without the right `admin`."""
        _require(principal, "admin")
        return sorted(self._databases)

    def get_job(self, principal: Principal, job_id: str) -> Job:
        """Return a job; raises UnknownJobError."""
        return self._jobs.get(principal, job_id)

    def list_jobs(
        self, principal: Principal, *, states: Collection[JobState] | None = None, limit: int = 50, offset: int = 0
    ) -> list[Job]:
        """Return a page of jobs, newest first."""
        return self._jobs.list(principal, states=states, limit=limit, offset=offset)

    def get_document(self, principal: Principal, document_id: str) -> Document:
        """Return a document; raises UnknownDocumentError."""
        return self._catalog.get(principal, document_id)

    def list_documents(
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
        """Return a page of documents, newest first; deleted ones are left out. Filters as in `Catalog.list`.

        `source` may be the name as it was given.
        """
        if source is not None:
            (source,) = self.kept_names(principal, [source])
        return self._catalog.list(
            principal, states=states, source=source, parent_id=parent_id, own=own, limit=limit, offset=offset
        )

    def kept_names(self, principal: Principal, sources: Sequence[str]) -> list[str]:
        """Return under which names uploads of these names are kept: pseudonyms take the place of secrets in them."""
        return [hide_source(each, each, principal.tenant, self._hides).text for each in sources]

    def list_versions(self, principal: Principal, document_id: str) -> list[Document]:
        """Return all kept versions of the document's line, newest first; raises UnknownDocumentError."""
        return self._catalog.versions(principal, document_id)

    def get_report(self, principal: Principal, document_id: str) -> AdmissionReport | None:
        """Return the admission report, None while there is none; raises UnknownDocumentError."""
        return self._catalog.report(principal, document_id)

    async def delete(self, principal: Principal, document_id: str) -> DeletionReceipt:
        """Delete a document, those found inside it, and all they left. Repeatable.

        Again after a failure half-way it does the rest. They are invisible from the first moment.
        Where the ingestion of one runs just now, the worker clears away what it still writes.

        Raises:
            NotPermittedError: without the right `delete`.
            UnknownDocumentError: no such document for this principal.
            StoreUnavailableError: the store gave no answer; delete again.
        """
        _require(principal, "delete")
        document, inside = await asyncio.to_thread(self._mark_deleted, principal, document_id)
        return await self._purger.purge_all(document.tenant, document.document_id, inside)

    async def cancel(self, principal: Principal, job_id: str) -> Job:
        """End a job that is not over, and drop its document; one that is over stays as it is.

        Raises:
            NotPermittedError: without the right `ingest`.
            UnknownJobError: no such job of this user.
        """
        _require(principal, "ingest")
        job = await asyncio.to_thread(self._own_job, principal, job_id)
        if job.state in {"queued", "running"}:
            await asyncio.to_thread(self._mark_cancelled, job)
            if job.state == "queued" and job.kind == "ingest":
                await self._purger.purge(job.tenant, job.document_id)
        return await asyncio.to_thread(self._jobs.get, principal, job_id)

    async def retry(self, principal: Principal, job_id: str, *, password: str | None = None) -> Job:
        """Queue a failed job again; it goes on from what is done. Jobs that did not fail stay as they are.

        A password takes the place of the one that was given with the upload.

        Raises:
            NotPermittedError: without the right `ingest`.
            UnknownJobError: no such job of this user.
            UnknownDocumentError: its document was deleted or replaced by a later upload.
        """
        _require(principal, "ingest")
        await asyncio.to_thread(self._requeue, principal, job_id, password)
        self._on_submit()
        return await asyncio.to_thread(self._jobs.get, principal, job_id)

    async def _store(self, tenant: str, document_id: str, pieces: AsyncIterable[bytes]) -> StoredOriginal:
        with ExitStack() as stack:
            writer = await asyncio.to_thread(
                stack.enter_context, self._originals.writing(tenant, document_id, self._limits.max_bytes)
            )
            async for piece in pieces:
                await asyncio.to_thread(writer.feed, piece)
            return await asyncio.to_thread(writer.commit)

    def _register(
        self,
        principal: Principal,
        document_id: str,
        source: str,
        meta: DocumentMeta,
        stored: StoredOriginal,
        *,
        format: Format | None = None,
    ) -> Job:
        tenant = principal.tenant
        hidden = hide_source(source, f"unnamed {document_id[:8]}", tenant, self._hides)
        meta, secrets = hide_meta(meta, tenant, self._hides)
        secrets = {**hidden.secrets, **secrets}
        if secrets:
            # Before the row: no pseudonym is ever visible without its value.
            self._vault.write(tenant, document_id, secrets)
        for _ in range(_TRIES):
            try:
                with self._engine.begin() as connection:
                    document = self._lifecycle.register(
                        connection, principal, document_id, hidden.text, meta, stored.size_bytes, format=format
                    )
                    return self._jobs.add(connection, document, stored.content_hash)
            except IntegrityError:
                # Another upload of the same name took the version number in between.
                continue
        self._vault.forget(tenant, document_id)
        self._originals.delete(document_id)
        raise SourceUnavailableError(f"source {hidden.text!r}: too many uploads of this name at once; try again")

    def _mark_deleted(self, principal: Principal, document_id: str) -> tuple[Document, list[str]]:
        with self._engine.begin() as connection:
            document = self._lifecycle.delete(connection, principal, document_id)
            inside = self._lifecycle.unpurged_inside(connection, document_id)
            for each in (document_id, *inside):
                self._jobs.stop(connection, each)
            return document, inside

    def _own_job(self, principal: Principal, job_id: str) -> Job:
        job = self._jobs.get(principal, job_id)
        if not self._jobs.is_own(principal, job_id):
            raise UnknownJobError(f"job {job_id!r}: not found")
        return job

    def _mark_cancelled(self, job: Job) -> None:
        with self._engine.begin() as connection:
            if job.kind == "resymbolise":
                self._jobs.stop_job(connection, job.job_id)
            # Not where it became ready in this moment: that is for `delete`.
            elif self._lifecycle.drop(connection, job.document_id):
                self._jobs.stop(connection, job.document_id)

    def _requeue(self, principal: Principal, job_id: str, password: str | None) -> None:
        job = self._own_job(principal, job_id)
        if job.state != "failed":
            return
        if password is not None and self._originals.exists(job.document_id):
            self._originals.keep_password(job.tenant, job.document_id, password)
        with self._engine.begin() as connection:
            if not self._lifecycle.reopen(connection, job.document_id):
                raise UnknownDocumentError(f"document {job.document_id!r}: deleted, or replaced by a later upload")
            self._jobs.requeue(connection, job_id)


async def _file_pieces(path: Path) -> AsyncIterator[bytes]:
    try:
        if await asyncio.to_thread(path.exists) and not await asyncio.to_thread(path.is_file):
            # A pipe could keep the caller waiting for ever, a device has no end.
            raise SourceUnavailableError(f"{path.name!r}: not a regular file")
        with await asyncio.to_thread(path.open, "rb") as file:
            while piece := await asyncio.to_thread(file.read, _READ_BYTES):
                yield piece
    except OSError as exc:
        raise SourceUnavailableError(f"{path.name!r}: cannot be read ({exc.strerror})") from exc


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _require(principal: Principal, right: Right) -> None:
    if not principal.may(right):
        raise NotPermittedError(f"user {principal.user!r} lacks the right {right!r}")
