"""Reads a ready document again from its original, under the rules and keys of now, in place.

Document, version and citations stay. Like ingestion every step may be interrupted and done
again: vault, chunks beside the former ones, publish, the former ones out, the catalogue, copies
that others keep, values that nobody carries any more. The document is never without its chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from ingest.beside import Again, Beside, bringing_up_to_date, carry_over, look_beside
from ingest.copies import Copies
from ingest.databases import read_snapshot
from ingest.errors import JobCancelledError, NoTextError
from ingest.leases import Claim
from ingest.naming import title_of
from ingest.progress import followed
from ingest.records import Records
from ingest.renames import Renames
from ingest.report import AdmissionReport, build_report
from ingest.types import Document, ParsedDocument
from ingest.vault import Vault
from ingest.work import Cut, Cutter, Parsers, Work
from retrieval.errors import StoreUnavailableError
from retrieval.store import VectorStore
from retrieval.types import Chunk


class Resymboliser:
    """The stages of a job of the kind `resymbolise`; encoding, between them, is that of ingestion."""

    def __init__(
        self,
        *,
        records: Records,
        parsers: Parsers,
        cutter: Cutter,
        vault: Vault,
        store: VectorStore,
        renames: Renames,
        copies: Sequence[Copies] = (),
        empty_log: Callable[[], None] = lambda: None,
        progress_s: float = 1.0,
    ) -> None:
        self._engine = records.engine
        self._lifecycle = records.lifecycle
        self._leases = records.leases
        self._jobs = records.jobs
        self._originals = records.originals
        self._parsers = parsers
        self._cutter = cutter
        self._vault = vault
        self._store = store
        self._renames = renames
        self._copies = tuple(copies)
        self._empty_log = empty_log
        self._progress_s = progress_s

    async def prepare(self, claim: Claim) -> Work:
        """Parse, cut and symbolise again, and fill the vault.

        Raises:
            JobCancelledError: the document was deleted, or is not ready.
            JobLostError: another worker has the job.
            NoTextError: nothing readable came out; what was there stays.
        """
        document = await asyncio.to_thread(self._take_up, claim)
        revision = self._cutter.revision(document.tenant)
        before = await asyncio.to_thread(self._lifecycle.report, document.document_id)
        notes = before.notes if before is not None else ()
        beside = await asyncio.to_thread(look_beside, document, notes, self._cutter, self._renames)
        work = Work(claim, document.model_copy(update={"source": beside.source, "meta": beside.meta}))
        parsed = await self._parse(work)
        cut = await asyncio.to_thread(self._cutter.cut, parsed, work.document)
        if not cut.chunks:
            raise NoTextError(f"document {document.document_id!r}: no text was found in it")
        await asyncio.to_thread(self._fill_vault, document, beside, cut)
        work.again = Again(
            revision=revision,
            title=cut.title,
            kept=frozenset(cut.secrets) | beside.pseudonyms,
            chunk_ids=frozenset(chunk.chunk_id for chunk in cut.chunks),
        )
        work.report = _report(parsed, cut.chunks, before, beside)
        await self._take_all(work, cut)
        return work

    async def finish(self, work: Work) -> None:
        """Publish what is new, take out what is gone, and settle catalogue, copies and vault."""
        again, document, claim = work.again, work.document, work.claim
        assert again is not None
        tenant, document_id = document.tenant, document.document_id
        await asyncio.to_thread(self._leases.checkpoint, claim, stage="publishing")
        await self._store.publish(tenant, document_id)
        wanted = set(again.chunk_ids)
        await self._store.prune(tenant, document_id, wanted)
        left = await self._store.chunk_ids(tenant, document_id)
        if left != wanted:
            raise StoreUnavailableError(f"document {document_id!r}: the store holds {len(left)} of {work.total} chunks")
        # The knowledge version rises here: a run that ends later looks at its own texts again.
        if not await asyncio.to_thread(self._lifecycle.reread, document, work.report, again):
            raise JobCancelledError(f"document {document_id!r}: deleted while it was read again")
        change = bringing_up_to_date(self._cutter, self._renames, tenant)
        for each in self._copies:
            await each.rewrite(tenant, change, document_id=document_id, revision=again.revision)
        await asyncio.to_thread(self._vault.keep_only, tenant, document_id, again.kept)
        if await asyncio.to_thread(self._jobs.is_last_reading, claim.job_id):
            # Once for many documents: rewriting the index takes as long for one as for all.
            await self._store.scrub()
            await asyncio.to_thread(self._empty_log)
        await asyncio.to_thread(self._conclude, claim, document)

    def _take_up(self, claim: Claim) -> Document:
        self._leases.checkpoint(claim, stage="parsing", outcome="resymbolised")
        document = self._lifecycle.load(claim.document_id)
        if document.state not in {"ready", "superseded"}:
            raise JobCancelledError(f"document {claim.document_id!r}: {document.state}")
        return document

    async def _parse(self, work: Work) -> ParsedDocument:
        """Read the original; what lies inside the document is a document of its own, and is not taken out again."""
        document, claim = work.document, work.claim
        path_of = self._originals.plain(document.tenant, document.document_id)
        path = await asyncio.to_thread(path_of.__enter__)
        try:
            if document.format == "database":
                parsed = await asyncio.to_thread(read_snapshot, path, document.source)
            else:
                password = await asyncio.to_thread(self._originals.password, document.tenant, document.document_id)
                parsed = await followed(
                    lambda on_page: self._parsers.parse(path, document.source, password=password, on_page=on_page),
                    partial(self._report_pages, claim),
                    self._progress_s,
                )
        finally:
            await asyncio.to_thread(path_of.__exit__, None, None, None)
        pages = parsed.page_count
        await asyncio.to_thread(self._leases.checkpoint, claim, stage="chunking", pages_done=pages, pages_total=pages)
        title = title_of(document.meta.title or "") or title_of(parsed.title) or document.source
        work.document = document.model_copy(update={"title": title, "format": parsed.format, "page_count": pages})
        return parsed

    def _report_pages(self, claim: Claim, pages_done: int | None, pages_total: int | None) -> None:
        self._leases.checkpoint(claim, stage="parsing", pages_done=pages_done, pages_total=pages_total)

    def _fill_vault(self, document: Document, beside: Beside, cut: Cut) -> None:
        tenant, document_id = document.tenant, document.document_id
        self._vault.write(tenant, document_id, {**beside.secrets, **cut.secrets})
        carry_over(self._vault, self._renames, tenant, document_id, beside.pseudonyms)
        self._vault.write_erased(tenant, document_id, cut.erased)

    async def _take_all(self, work: Work, cut: Cut) -> None:
        """Write every chunk again: those that did not change too, for the store may keep more of a chunk than before.

        What a former version of attest wrote is filtered by what was known then. Only texts that nobody has
        are encoded.
        """
        work.total = len(cut.chunks)
        work.todo = {each.chunk_id: each for each in cut.chunks}
        await asyncio.to_thread(
            self._leases.checkpoint, work.claim, stage="encoding", chunks_done=work.done, chunks_total=work.total
        )

    def _conclude(self, claim: Claim, document: Document) -> None:
        with self._engine.begin() as connection:
            if self._leases.succeed(connection, claim, "resymbolised", document.document_id):
                # The rules may have changed while this document was read.
                self._jobs.read_again(connection, document.document_id, self._cutter.revision(document.tenant))


def _report(
    parsed: ParsedDocument, chunks: Sequence[Chunk], before: AdmissionReport | None, beside: Beside
) -> AdmissionReport:
    report = build_report(parsed, chunks)
    if before is None:
        return report
    kept = {"notes": beside.notes, "warnings": before.warnings, "reused": before.reused, "change": before.change}
    return report.model_copy(update=kept)
