"""The order of writes of one document: vault, chunks, report, publish and switch, old version, hash.

Every step may be interrupted and done again. What becomes visible becomes so in one
transaction (`Lifecycle.switch`); chunks that are published before it are not live yet,
because the catalogue says so (`Catalog.live`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack

from sqlalchemy import Engine

from ingest.encoding import BatchEncoder
from ingest.errors import JobCancelledError, NoTextError
from ingest.leases import Claim, Leases
from ingest.lifecycle import Lifecycle
from ingest.naming import title_of
from ingest.originals import Originals
from ingest.purge import Purger
from ingest.report import VersionChange, build_report, compare
from ingest.types import Document
from ingest.vault import Vault
from ingest.work import Cutter, Parsers, Work
from retrieval.errors import StoreUnavailableError
from retrieval.store import VectorStore
from retrieval.types import Scope


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
    ) -> None:
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

    async def run(self, claim: Claim) -> None:
        """Do all stages of one job."""
        work = await self.prepare(claim)
        if work is not None:
            await self.encode([work])
            await self.finish(work)

    async def prepare(self, claim: Claim) -> Work | None:
        """Parse, cut, symbolise, and fill the vault; None when the job is over already (unchanged bytes).

        Raises:
            JobCancelledError: the document was deleted.
            JobLostError: another worker has the job.
            NoTextError: nothing readable came out.
        """
        document = await asyncio.to_thread(self._take_up, claim)
        if document.state in {"ready", "superseded"}:
            return Work(claim, document)
        former = await asyncio.to_thread(self._lifecycle.current, document)
        if former is not None and former.content_hash == claim.content_hash and former.meta == document.meta:
            await asyncio.to_thread(self._leave_unchanged, claim, former)
            return None
        work = Work(claim, document, former=former)
        await self._parse(work)
        await self._cut(work)
        return work

    async def encode(self, group: Sequence[Work]) -> None:
        """Encode and stage the chunks of several documents together."""
        await self._encoding.encode(group)

    async def finish(self, work: Work) -> None:
        """Report, publish, switch, remove what gave way, record the hash."""
        if work.parsed is not None:
            await self._admit(work)
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

    def _leave_unchanged(self, claim: Claim, former: Document) -> None:
        self._originals.delete(claim.document_id)
        with self._engine.begin() as connection:
            if self._leases.succeed(connection, claim, "unchanged", former.document_id):
                self._lifecycle.withdraw(connection, claim.document_id)

    async def _parse(self, work: Work) -> None:
        document = work.document
        await asyncio.to_thread(self._leases.checkpoint, work.claim, stage="parsing")
        with ExitStack() as stack:
            path = await asyncio.to_thread(
                stack.enter_context, self._originals.plain(document.tenant, document.document_id)
            )
            parsed = await self._parsers.parse(path, document.source)
        await asyncio.to_thread(
            self._leases.checkpoint,
            work.claim,
            stage="chunking",
            pages_done=parsed.page_count,
            pages_total=parsed.page_count,
            outcome="new" if work.former is None else "new_version",
        )
        work.parsed = parsed
        work.document = document.model_copy(
            update={
                "title": title_of(document.meta.title or "") or title_of(parsed.title) or document.source,
                "format": parsed.format,
                "page_count": parsed.page_count,
            }
        )

    async def _cut(self, work: Work) -> None:
        assert work.parsed is not None
        tenant, document_id = work.document.tenant, work.document.document_id
        cut = await asyncio.to_thread(self._cutter.cut, work.parsed, work.document)
        if not cut.chunks:
            raise NoTextError(f"document {document_id!r}: no text was found in it")
        await asyncio.to_thread(self._vault.write, tenant, document_id, cut.secrets)
        await asyncio.to_thread(
            self._lifecycle.describe, document_id, cut.title, work.parsed.format, work.parsed.page_count
        )
        stored = await self._store.chunk_ids(tenant, document_id)
        wanted = {chunk.chunk_id for chunk in cut.chunks}
        if stored - wanted:
            # Staged by an attempt under other settings.
            await self._store.prune(tenant, document_id, wanted)
        work.chunks = cut.chunks
        work.todo = tuple(chunk for chunk in cut.chunks if chunk.chunk_id not in stored)
        await asyncio.to_thread(
            self._leases.checkpoint,
            work.claim,
            stage="encoding",
            chunks_done=work.done,
            chunks_total=len(work.chunks),
        )

    async def _admit(self, work: Work) -> None:
        assert work.parsed is not None
        await asyncio.to_thread(self._leases.checkpoint, work.claim, stage="publishing")
        report = await asyncio.to_thread(build_report, work.parsed, work.chunks)
        report = report.model_copy(update={"change": await self._change(work)})
        await asyncio.to_thread(self._lifecycle.admit, work.document.document_id, report)

    async def _change(self, work: Work) -> VersionChange | None:
        former = work.former
        if former is None or not former.meta.access:
            return None
        scope = Scope(tenant=former.tenant, access=former.meta.access)
        before = await self._store.document_chunks(former.document_id, scope)
        return compare(former.document_id, before, work.chunks)

    async def _publish(self, work: Work) -> None:
        document = work.document
        published = await self._store.publish(document.tenant, document.document_id)
        if published != len(work.chunks):
            raise StoreUnavailableError(
                f"document {document.document_id!r}: the store holds {published} of {len(work.chunks)} chunks"
            )
        if not await asyncio.to_thread(self._lifecycle.switch, document.document_id):
            raise JobCancelledError(f"document {document.document_id!r}: deleted while it was taken in")

    def _conclude(self, work: Work) -> None:
        claim, document_id = work.claim, work.document.document_id
        outcome = claim.outcome or ("new" if work.former is None else "new_version")
        with self._engine.begin() as connection:
            if self._leases.succeed(connection, claim, outcome, document_id):
                self._lifecycle.record_hash(connection, document_id, claim.content_hash)
