"""Encodes chunks of several documents in shared batches and writes them as staged. Equal text is encoded once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.leases import Leases
from ingest.settings import IngestSettings
from ingest.work import Work
from retrieval.encoder import Encoder, ModelThread
from retrieval.store import VectorStore
from retrieval.types import Chunk, EncodedChunk, TextVectors


@dataclass(slots=True)
class _Text:
    """A text of a group of documents, and the chunks it is the index text of."""

    index_text: str
    token_count: int
    chunks: list[tuple[Work, Chunk]] = field(default_factory=list[tuple[Work, Chunk]])


class BatchEncoder:
    """Keeps the encoder busy: batches of like length, looked up and written beside the encoding of others.

    One batch at a time is given to the encoder's thread, where queries go first: a query waits for one at most. How
    much a batch holds follows from how long the former ones took: on a GPU many chunks, on a
    slow processor one. A text that a chunk of the tenant was encoded from before, in whatever
    document, gets that chunk's vectors; each chunk is a point of its own all the same.
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
        one_at_a_time = asyncio.Lock()
        windows = _windows(group, self._pace.most)
        sifting = self._sift_next(windows, one_at_a_time)
        writing: asyncio.Task[None] | None = None
        missing: list[_Text] = []
        try:
            while True:
                while sifting is not None and len(missing) < self._pace.most:
                    missing += await sifting
                    sifting = self._sift_next(windows, one_at_a_time)
                if not missing:
                    break
                size = self._pace.batch_size([text.token_count for text in missing[: self._pace.most]])
                batch, missing = missing[:size], missing[size:]
                vectors = await self._thread.run_batch(self._encode, batch)
                if writing is not None:
                    await writing
                writing = asyncio.create_task(self._write(batch, vectors, one_at_a_time, lent=False))
            if writing is not None:
                await writing
        finally:
            await _settle(sifting, writing)

    def _sift_next(
        self, windows: Iterator[tuple[str, list[_Text]]], one_at_a_time: asyncio.Lock
    ) -> asyncio.Task[list[_Text]] | None:
        window = next(windows, None)
        return None if window is None else asyncio.create_task(self._sift(*window, one_at_a_time))

    async def _sift(self, tenant: str, texts: Sequence[_Text], one_at_a_time: asyncio.Lock) -> list[_Text]:
        """Write the chunks whose text has vectors already; return the texts that have none."""
        stored = await self._store.encodings(tenant, [text.index_text for text in texts])
        if stored:
            known = [text for text in texts if text.index_text in stored]
            await self._write(known, [stored[text.index_text] for text in known], one_at_a_time, lent=True)
        return [text for text in texts if text.index_text not in stored]

    def _encode(self, texts: Sequence[_Text]) -> list[TextVectors]:
        # Timed on the encoder's thread: what waited before it there (a query) does not count.
        began = self._timer()
        encoding = self._encoder.encode_documents([text.index_text for text in texts])
        self._pace.took(sum(text.token_count for text in texts), self._timer() - began)
        return [TextVectors(encoding.dense[row], encoding.sparse[row]) for row in range(len(texts))]

    async def _write(
        self, texts: Sequence[_Text], vectors: Sequence[TextVectors], one_at_a_time: asyncio.Lock, *, lent: bool
    ) -> None:
        """Write the chunks of some texts; `lent` says that none of them was encoded for it."""
        encoded = [
            EncodedChunk(chunk, of_text.dense, of_text.sparse)
            for text, of_text in zip(texts, vectors, strict=True)
            for _, chunk in text.chunks
        ]
        # Of two writes side by side the later one could report its progress first.
        async with one_at_a_time:
            await self._store.write(encoded)
            written = {each.chunk.chunk_id for each in encoded}
            reused = {chunk.chunk_id for text in texts for _, chunk in text.chunks[0 if lent else 1 :]}
            for work in {id(work): work for text in texts for work, _ in text.chunks}.values():
                work.settle(written, reused)
                await asyncio.to_thread(
                    self._leases.checkpoint,
                    work.claim,
                    stage="encoding",
                    chunks_done=work.done,
                    chunks_total=work.total,
                    chunks_reused=work.reused,
                )


def _windows(group: Sequence[Work], size: int) -> Iterator[tuple[str, list[_Text]]]:
    """Give what is to do by tenant and distinct text, in pieces of `size` texts.

    Of like length, so that little of a batch is padding; the longest first, so that what does
    not fit into memory shows at once.
    """
    texts: dict[tuple[str, str], _Text] = {}
    for work in group:
        for chunk in work.todo.values():
            key = (chunk.tenant, chunk.index_text)
            text = texts.setdefault(key, _Text(chunk.index_text, chunk.token_count))
            text.chunks.append((work, chunk))
    by_tenant: dict[str, list[_Text]] = {}
    for (tenant, _), text in sorted(texts.items(), key=lambda item: -item[1].token_count):
        waiting = by_tenant.setdefault(tenant, [])
        waiting.append(text)
        if len(waiting) == size:
            yield tenant, by_tenant.pop(tenant)
    yield from by_tenant.items()


async def _settle(*tasks: asyncio.Task[list[_Text]] | asyncio.Task[None] | None) -> None:
    """Let what runs beside a failure or a cancellation finish, so that nobody closes the store under it."""
    running = [task for task in tasks if task is not None]
    if running:
        await asyncio.wait(running)
    for task in running:
        if not task.cancelled():
            task.exception()


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
