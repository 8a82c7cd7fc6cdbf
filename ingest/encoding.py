"""Encodes chunks of several documents in shared batches and writes them as staged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ingest.leases import Leases
from ingest.work import Work
from retrieval.encoder import Encoder, ModelThread
from retrieval.store import VectorStore
from retrieval.types import Chunk, EncodedChunk


class BatchEncoder:
    """Keeps the encoder busy: batches of like length, the write of one beside the encoding of the next.

    One batch at a time is given to the encoder's thread, so a query waits for one at most.
    """

    def __init__(
        self, encoder: Encoder, thread: ModelThread, store: VectorStore, leases: Leases, batch_size: int
    ) -> None:
        self._encoder = encoder
        self._thread = thread
        self._store = store
        self._leases = leases
        self._batch_size = batch_size

    async def encode(self, group: Sequence[Work]) -> None:
        """Encode and write what is to do in a group of documents; each `todo` is empty afterwards.

        The first error ends it, whoever's it is; batches that were written are done, and a
        second call goes on from there.
        """
        # Of like length, so that little of a batch is padding; the longest first, so that
        # what does not fit into memory shows at once.
        waiting = sorted(
            ((work, chunk) for work in group for chunk in work.todo), key=lambda pair: -pair[1].token_count
        )
        writing: asyncio.Task[None] | None = None
        try:
            for start in range(0, len(waiting), self._batch_size):
                batch = waiting[start : start + self._batch_size]
                encoding = await self._thread.run(
                    self._encoder.encode_documents, [chunk.index_text for _, chunk in batch]
                )
                if writing is not None:
                    await writing
                encoded = [
                    EncodedChunk(chunk, encoding.dense[row], encoding.sparse[row])
                    for row, (_, chunk) in enumerate(batch)
                ]
                writing = asyncio.create_task(self._write(batch, encoded))
            if writing is not None:
                await writing
        finally:
            if writing is not None and not writing.done():
                # Cancelled or failed beside a write: it is let finish, so that nobody closes the store under it.
                await asyncio.wait([writing])
                if not writing.cancelled():
                    writing.exception()

    async def _write(self, batch: Sequence[tuple[Work, Chunk]], encoded: Sequence[EncodedChunk]) -> None:
        await self._store.write(encoded)
        written = {chunk.chunk_id for _, chunk in batch}
        for work in {id(work): work for work, _ in batch}.values():
            work.todo = tuple(chunk for chunk in work.todo if chunk.chunk_id not in written)
            await asyncio.to_thread(
                self._leases.checkpoint,
                work.claim,
                stage="encoding",
                chunks_done=work.done,
                chunks_total=len(work.chunks),
            )
