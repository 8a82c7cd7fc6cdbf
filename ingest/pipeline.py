"""The order of writes of one document: vault, chunks, report, publish and switch, old version, hash.

Every step may be interrupted and done again. What becomes visible becomes so in one
transaction (`Lifecycle.switch`); chunks that are published before it are not live yet,
because the catalogue says so (`Catalog.live`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import Engine

from ingest.admission import admit
from ingest.children import Children, is_picture
from ingest.databases import read_snapshot
from ingest.encoding import BatchEncoder
from ingest.errors import AdmissionRejectedError, JobCancelledError, NoTextError, UnsupportedDocumentError
from ingest.hiding import hide_names
from ingest.jobs import Jobs
from ingest.leases import Claim, Leases
from ingest.lifecycle import Lifecycle
from ingest.naming import title_of
from ingest.originals import Originals
from ingest.progress import followed
from ingest.purge import Purger
from ingest.report import AdmissionReport, build_report, compare, text_key
from ingest.resymboliser import Resymboliser
from ingest.settings import IngestSettings
from ingest.types import Document, ParsedDocument
from ingest.vault import Vault
from ingest.work import Cutter, Parsers, Work
from retrieval.errors import StoreUnavailableError
from retrieval.store import VectorStore
from retrieval.types import Chunk, Scope, SearchFilter


class _UnreadChildError(Exception):
    """Signal inside the pipeline: the document was found inside another, and nobody can read it."""


class Pipeline:
    """Takes a claimed job from its original to a ready document, in three stages."""

    def __init__(
        self,
        *,
        engine: Engine,
        lifecycle: Lifecycle,
        leases: Leases,
        originals: Originals,
        parsers: Parsers,
        cutter: Cutter,
        vault: Vault,
        encoding: BatchEncoder,
        store: VectorStore,
        purger: Purger,
        children: Children,
        settings: IngestSettings,
        jobs: Jobs,
        resymboliser: Resymboliser,
        progress_s: float = 1.0,
    ) -> None:
        self._jobs = jobs
        self._resymboliser = resymboliser
        self._engine = engine
        self._lifecycle = lifecycle
        self._leases = leases
        self._originals = originals
        self._parsers = parsers
        self._cutter = cutter
        self._vault = vault
        self._encoding = encoding
        self._store = store
        self._purger = purger
        self._children = children
        self._settings = settings
        self._progress_s = progress_s

    async def run(self, claim: Claim) -> None:
        """Do all stages of one job."""
        work = await self.prepare(claim)
        if work is not None:
            await self.encode([work])
            await self.finish(work)

    async def prepare(self, claim: Claim) -> Work | None:
        """Parse, cut, symbolise, and fill the vault; None when the job is over already.

        It is over for unchanged bytes, and for an attachment that nobody can read.

        Raises:
            JobCancelledError: the document was deleted.
            JobLostError: another worker has the job.
            NoTextError: nothing readable came out.
            AdmissionRejectedError: the admission policy refuses it.
        """
        if claim.kind == "resymbolise":
            return await self._resymboliser.prepare(claim)
        document = await asyncio.to_thread(self._take_up, claim)
        if document.state in {"ready", "superseded"}:
            return Work(claim, document)
        former = await asyncio.to_thread(self._lifecycle.current, document)
        if former is not None and former.content_hash == claim.content_hash and former.meta == document.meta:
            settled = await asyncio.to_thread(self._leave_unchanged, claim, former)
            if settled == "ended":
                await self._purger.purge(claim.tenant, claim.document_id)
                await asyncio.to_thread(self._lifecycle.withdraw, claim.document_id)
            if settled != "former_gone":
                return None
            # Deleted in this moment: what was uploaded is all there is now.
            former = await asyncio.to_thread(self._lifecycle.current, document)
        revision = self._cutter.revision(document.tenant)
        work = Work(claim, document, former=former, reused=claim.chunks_reused, revision=revision)
        try:
            parsed = await self._parse(work)
        except _UnreadChildError as exc:
            for each in await asyncio.to_thread(self._children.pass_over, claim, document, str(exc)):
                await self._purger.purge(document.tenant, each)
            return None
        await self._judge(work, parsed)
        await self._cut(work, parsed)
        return work

    async def encode(self, group: Sequence[Work]) -> None:
        """Encode and stage the chunks of several documents together."""
        await self._encoding.encode(group)

    async def finish(self, work: Work) -> None:
        """Report, publish, switch, remove what gave way, record the hash."""
        if work.again is not None:
            await self._resymboliser.finish(work)
            return
        if work.report is not None:
            await self._admit(work, work.report)
            await self._publish(work)
        for tenant, document_id in await asyncio.to_thread(self._lifecycle.unpurged, work.document):
            await self._purger.purge(tenant, document_id)
        await asyncio.to_thread(self._conclude, work)

    def _take_up(self, claim: Claim) -> Document:
        document = self._lifecycle.load(claim.document_id)
        if document.state == "failed":
            # Marked failed by an owner that died before it could end the job.
            with self._engine.begin() as connection:
                self._lifecycle.reopen(connection, claim.document_id)
            document = self._lifecycle.load(claim.document_id)
        if document.state == "deleted":
            raise JobCancelledError(f"document {claim.document_id!r}: deleted")
        return document

    def _leave_unchanged(self, claim: Claim, former: Document) -> Literal["ended", "not_ours_any_more", "former_gone"]:
        """End the job of bytes that are ready already, unless they are ready no more."""
        password = self._originals.password(claim.tenant, claim.document_id)
        with self._engine.begin() as connection:
            if not self._lifecycle.hold_ready(connection, former.document_id):
                return "former_gone"
            if not self._leases.succeed(connection, claim, "unchanged", former.document_id):
                return "not_ours_any_more"
            # Its original goes after the commit, for until then it may be all there is. As long as
            # it is there the row is too: after a crash the next worker finds it by that.
            self._lifecycle.drop(connection, claim.document_id)
            self._children.retry_failed(connection, former, password)
        return "ended"

    async def _parse(self, work: Work) -> ParsedDocument:
        document = work.document
        await asyncio.to_thread(self._leases.checkpoint, work.claim, stage="parsing")
        with ExitStack() as stack:
            path = await asyncio.to_thread(
                stack.enter_context, self._originals.plain(document.tenant, document.document_id)
            )
            parsed = await self._read(work, path, stack)
        await asyncio.to_thread(
            self._leases.checkpoint,
            work.claim,
            stage="chunking",
            pages_done=parsed.page_count,
            pages_total=parsed.page_count,
            outcome="new" if work.former is None else "new_version",
        )
        work.document = document.model_copy(
            update={
                "title": title_of(document.meta.title or "") or title_of(parsed.title) or document.source,
                "format": parsed.format,
                "page_count": parsed.page_count,
            }
        )
        return parsed

    def _report_pages(self, claim: Claim, pages_done: int | None, pages_total: int | None) -> None:
        self._leases.checkpoint(claim, stage="parsing", pages_done=pages_done, pages_total=pages_total)

    async def _read(self, work: Work, path: Path, stack: ExitStack) -> ParsedDocument:
        """Parse the file, and store what is found inside it."""
        document = work.document
        if document.format == "database":
            return await self._hide_names(work, await asyncio.to_thread(read_snapshot, path, document.source))
        password = await asyncio.to_thread(self._originals.password, document.tenant, document.document_id)
        folder = None
        if await asyncio.to_thread(self._children.are_wanted, document):
            folder = await asyncio.to_thread(stack.enter_context, self._originals.inside(document.document_id))
        try:
            parsed = await followed(
                lambda on_page: self._parsers.parse(
                    path, document.source, password=password, attachments=folder, on_page=on_page
                ),
                partial(self._report_pages, work.claim),
                self._progress_s,
            )
        except (UnsupportedDocumentError, NoTextError) as exc:
            unread = isinstance(exc, UnsupportedDocumentError) or await asyncio.to_thread(is_picture, path)
            if document.parent_id is not None and unread:
                raise _UnreadChildError(str(exc)) from exc
            raise
        parsed = await self._hide_names(work, parsed)
        if folder is not None:
            work.children, work.notes = await asyncio.to_thread(
                self._children.store, document, parsed, folder, password
            )
        return parsed

    async def _hide_names(self, work: Work, parsed: ParsedDocument) -> ParsedDocument:
        """Take secrets out of what is stored beside the text; the vault gets them with those of the text."""
        parsed, work.name_secrets = await asyncio.to_thread(hide_names, parsed, work.document.tenant, self._cutter)
        return parsed

    async def _judge(self, work: Work, parsed: ParsedDocument) -> None:
        """Apply the admission policy before anything is encoded."""
        document = work.document
        try:
            work.warnings = await asyncio.to_thread(admit, parsed, document, self._settings)
        except AdmissionRejectedError:
            # Staged by an attempt under another policy.
            await self._store.delete(document.tenant, document.document_id)
            await asyncio.to_thread(self._vault.forget, document.tenant, document.document_id)
            raise

    async def _cut(self, work: Work, parsed: ParsedDocument) -> None:
        tenant, document_id = work.document.tenant, work.document.document_id
        cut = await asyncio.to_thread(self._cutter.cut, parsed, work.document)
        if not cut.chunks:
            raise NoTextError(f"document {document_id!r}: no text was found in it")
        await asyncio.to_thread(self._vault.write, tenant, document_id, {**work.name_secrets, **cut.secrets})
        await asyncio.to_thread(self._vault.write_erased, tenant, document_id, cut.erased)
        await asyncio.to_thread(
            self._lifecycle.describe, document_id, cut.title, parsed.format, parsed.page_count, work.revision
        )
        before = await self._texts(work.former)
        work.report = await asyncio.to_thread(_report, work, parsed, cut.chunks, before)
        stored = await self._store.chunk_ids(tenant, document_id)
        wanted = {chunk.chunk_id for chunk in cut.chunks}
        if stored - wanted:
            # Staged by an attempt under other settings.
            await self._store.prune(tenant, document_id, wanted)
        work.total = len(cut.chunks)
        work.familiar = _familiar(cut.chunks, before or Counter())
        work.todo = {chunk.chunk_id: chunk for chunk in cut.chunks if chunk.chunk_id not in stored}
        # What an earlier attempt counted may have been removed since.
        work.reused = min(work.reused, work.done)
        await asyncio.to_thread(
            self._leases.checkpoint,
            work.claim,
            stage="encoding",
            chunks_done=work.done,
            chunks_total=work.total,
        )

    async def _texts(self, former: Document | None) -> Counter[bytes] | None:
        """Return how often the former version has each text; None where there is none, or none that anybody sees."""
        if former is None or not former.meta.access:
            return None
        only = SearchFilter(document_ids=frozenset({former.document_id}))
        scope = Scope(tenant=former.tenant, access=former.meta.access, filter=only)
        return Counter([text_key(chunk) async for batch in self._store.scan(scope) for chunk in batch])

    async def _admit(self, work: Work, report: AdmissionReport) -> None:
        await asyncio.to_thread(self._leases.checkpoint, work.claim, stage="publishing")
        report = report.model_copy(update={"reused": work.reused})
        await asyncio.to_thread(self._lifecycle.admit, work.document.document_id, report)

    async def _publish(self, work: Work) -> None:
        document = work.document
        published = await self._store.publish(document.tenant, document.document_id)
        if published != work.total:
            raise StoreUnavailableError(
                f"document {document.document_id!r}: the store holds {published} of {work.total} chunks"
            )
        register = partial(self._children.register, children=work.children)
        if not await asyncio.to_thread(self._lifecycle.switch, document.document_id, register):
            raise JobCancelledError(f"document {document.document_id!r}: deleted or replaced while it was taken in")

    def _conclude(self, work: Work) -> None:
        claim, document_id = work.claim, work.document.document_id
        outcome = claim.outcome or ("new" if work.former is None else "new_version")
        with self._engine.begin() as connection:
            if self._leases.succeed(connection, claim, outcome, document_id):
                self._lifecycle.record_hash(connection, document_id, claim.content_hash)
                # The rules may have changed on its way in.
                self._jobs.read_again(connection, document_id, self._cutter.revision(work.document.tenant))


def _report(
    work: Work, parsed: ParsedDocument, chunks: Sequence[Chunk], before: Counter[bytes] | None
) -> AdmissionReport:
    report = build_report(parsed, chunks)
    change = None
    if work.former is not None and before is not None:
        change = compare(work.former.document_id, before, chunks)
    return report.model_copy(update={"notes": report.notes + work.notes, "warnings": work.warnings, "change": change})


def _familiar(chunks: Sequence[Chunk], before: Counter[bytes]) -> frozenset[str]:
    """Return the ids of chunks whose text the former version has, or an earlier chunk."""
    seen = set(before)
    familiar: set[str] = set()
    for chunk in chunks:
        key = text_key(chunk)
        if key in seen:
            familiar.add(chunk.chunk_id)
        seen.add(key)
    return frozenset(familiar)
