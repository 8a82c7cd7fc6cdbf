"""Encodes chunks of several documents in shared batches and writes them as staged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from ingest.leases import Leases
from ingest.settings import IngestSettings
from ingest.work import Work
from retrieval.encoder import Encoder, ModelThread
from retrieval.store import VectorStore
from retrieval.types import Chunk, EncodedChunk


class BatchEncoder:
    """Keeps the encoder busy: batches of like length, the write of one beside the encoding of the next.

    One batch at a time is given to the encoder's thread, so a query waits for one at most. How
    much a batch holds follows from how long the former ones took: on a GPU many chunks, on a
    slow processor one.
    """

    def __init__(
        self,
        encoder: Encoder,
        thread: ModelThread,
        store: VectorStore,
        leases: Leases,
        settings: IngestSettings,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._encoder = encoder
        self._thread = thread
        self._store = store
        self._leases = leases
        self._pace = _Pace(settings.encode_batch, settings.encode_batch_s)
        self._timer = timer

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
            while waiting:
                size = self._pace.batch_size([chunk.token_count for _, chunk in waiting[: self._pace.most]])
                batch, waiting = waiting[:size], waiting[size:]
                encoded = await self._thread.run(self._encode, [chunk for _, chunk in batch])
                if writing is not None:
                    await writing
                writing = asyncio.create_task(self._write(batch, encoded))
            if writing is not None:
                await writing
        finally:
            if writing is not None and not writing.done():
                # Cancelled or failed beside a write: it is let finish, so that nobody closes the store under it.
                await asyncio.wait([writing])
                if not writing.cancelled():
                    writing.exception()

    def _encode(self, chunks: Sequence[Chunk]) -> list[EncodedChunk]:
        # Timed on the encoder's thread: what waited before it there (a query) does not count.
        began = self._timer()
        encoding = self._encoder.encode_documents([chunk.index_text for chunk in chunks])
        self._pace.took(sum(chunk.token_count for chunk in chunks), self._timer() - began)
        return [EncodedChunk(chunk, encoding.dense[row], encoding.sparse[row]) for row, chunk in enumerate(chunks)]

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


class _Pace:
    """Sizes batches in tokens: the first holds one chunk, then each at most twice what went well before."""

    def __init__(self, most: int, target_s: float) -> None:
        self.most = most
        self._target_s = target_s
        self._budget = 0.0

    def batch_size(self, tokens: Sequence[int]) -> int:
        """Return how many of the next chunks to take, at least one."""
        size, total = 1, tokens[0]
        while size < min(len(tokens), self.most) and total + tokens[size] <= self._budget:
            total += tokens[size]
            size += 1
        return size

    def took(self, tokens: int, seconds: float) -> None:
        """Learn from a batch."""
        growth = min(2.0, self._target_s / seconds) if seconds > 0 else 2.0
        # A batch that was small because little was waiting says nothing against larger ones.
        self._budget = tokens * growth if growth < 1 else max(self._budget, tokens * growth)
