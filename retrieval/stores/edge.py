"""The in-process store: a folder of this machine, served by Qdrant's engine in a process of its own.

The engine holds the interpreter's lock during its calls, so it never runs in the serving process
(`embedded.child`). Changes are made one after the other on one thread, which makes
read-then-write steps atomic; questions are asked from others.
"""

# ruff: noqa: D102 - the methods are documented once, in the Protocol

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.durable import sync_folder
from retrieval.encoder import EncoderInfo
from retrieval.errors import RetrievalError, StoreUnavailableError
from retrieval.fusion import best_first, rank_by_symbols
from retrieval.settings import StoreSettings
from retrieval.stores.conditions import (
    Condition,
    document_conditions,
    encoding_conditions,
    place_conditions,
    scope_conditions,
    within_document,
)
from retrieval.stores.embedded import wire
from retrieval.stores.embedded.channels import Together
from retrieval.stores.embedded.generations import FIRST, Generations
from retrieval.stores.embedded.host import EngineHost
from retrieval.stores.embedded.lock import FolderLock
from retrieval.stores.embedded.process import EngineFailedError, EngineGoneError
from retrieval.stores.embedded.rewrite import NoRoomError, Way
from retrieval.stores.embedded.upkeep import Upkeep
from retrieval.stores.payload import (
    DENSE,
    DOCUMENT,
    SPARSE,
    SYMBOL,
    TENANT,
    check_dimension,
    check_owner,
    distinct,
    encoding_key,
)
from retrieval.stores.record import check_encoder
from retrieval.types import Chunk, EncodedChunk, Scope, ScoredChunk, SparseVector, TextVectors

T = TypeVar("T")

# A question waits for the change at hand: 64 points take the engine some 10 ms.
WRITE_BATCH: Final = 64
READERS: Final = 4
SEARCHES_AT_ONCE: Final = 16
CHUNKS_KEPT: Final = 2048
"""Chunks that were found lately, kept as read: reading one from JSON costs 30 µs."""


class EdgeStore:
    """A `VectorStore` on a folder of this machine: `encoder.json`, `lock`, and the engine's shard.

    A change is in the engine's write-ahead log, and that log on the disk, before the call returns.
    An engine that dies is started again.
    """

    def __init__(self, folder: Path, settings: StoreSettings) -> None:
        self._folder, self._settings = folder / settings.collection, settings
        self._lock = FolderLock(self._folder)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edge-writer")
        self._readers = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="edge-reader")
        self._host: EngineHost | None = None
        self._upkeep: Upkeep | None = None
        self._encoder: EncoderInfo | None = None
        self._searches = Together[tuple[Any, ...], list[ScoredChunk]](
            self._guarded(self._search), self._readers, SEARCHES_AT_ONCE
        )
        self._read = lru_cache(CHUNKS_KEPT)(Chunk.model_validate_json)

    async def open(self, encoder: EncoderInfo) -> None:
        await self._on(self._writer, lambda: self._open(encoder))

    async def close(self) -> None:
        if self._upkeep is not None:
            await asyncio.to_thread(self._upkeep.stop)
            await self._on(self._writer, self._close)
        for executor in (self._writer, self._readers):
            executor.shutdown(wait=False)

    async def write(self, chunks: Sequence[EncodedChunk]) -> None:
        for batch in _batches(distinct(chunks), WRITE_BATCH):
            await self._on(self._writer, lambda batch=batch: self._write(batch))

    async def publish(self, tenant: str, document_id: str) -> int:
        return await self._on(self._writer, lambda: self._publish(document_conditions(tenant, document_id)))

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        return await self._on(self._writer, lambda: self._ids(document_conditions(tenant, document_id)))

    async def encodings(self, tenant: str, index_texts: Collection[str]) -> dict[str, TextVectors]:
        found: dict[str, TextVectors] = {}
        for batch in _batches(sorted(set(index_texts)), WRITE_BATCH):
            found |= await self._on(self._writer, lambda batch=batch: self._encodings(tenant, batch))
        return found

    async def prune(self, tenant: str, document_id: str, keep: set[str]) -> int:
        return await self._on(self._writer, lambda: self._prune(document_conditions(tenant, document_id), keep))

    async def delete(self, tenant: str, document_id: str) -> int:
        return await self.prune(tenant, document_id, keep=set())

    async def scrub(self) -> None:
        await self._rewrite("scrub")

    async def optimise(self) -> bool:
        return await self._rewrite("optimise")

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        encoder = self._opened()
        if not encoder.dense_searchable:
            return []
        check_dimension(vector, encoder.dim)
        return await self._found(DENSE, wire.floats(vector), scope, limit)

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        if not len(vector.indices):
            return []
        statistics = wire.readers(scope) if self._opened().sparse == "bm25" else None
        hits = await self._found(SPARSE, wire.terms(vector), scope, limit, statistics)
        return [hit for hit in hits if hit.score > 0]

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        if not tokens:
            return []
        hits = await self._found(SYMBOL, wire.symbols(tokens), scope, limit)
        return rank_by_symbols((hit.chunk for hit in hits), tokens, limit)

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        chunks = [chunk async for batch in self.scan(within_document(scope, document_id)) for chunk in batch]
        return sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def at_places(self, places: Collection[tuple[str, int]], scope: Scope) -> list[Chunk]:
        conditions = place_conditions(scope, places)
        if conditions is None:
            return []
        chunks, _ = await self._on(self._readers, partial(self._chunks, conditions, len(places) + 1, None))
        return sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal, chunk.chunk_id))

    async def count(self, scope: Scope) -> int:
        conditions = scope_conditions(scope)
        if conditions is None:
            return 0
        return await self._on(self._readers, lambda: self._held().call("count", wire.conditions(conditions)))

    async def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        conditions = scope_conditions(scope)
        if conditions is None:
            return
        offset: str | None = None
        while True:
            read = partial(self._chunks, conditions, batch, offset)
            chunks, offset = await self._on(self._readers, read)
            if chunks:
                yield chunks
            if offset is None:
                return

    # ---- on the writer's thread

    def _open(self, encoder: EncoderInfo) -> None:
        if self._host is not None:
            raise StoreUnavailableError(f"the index in {self._folder} is already open")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Before the engine looks at the folder: a second load, though the engine
        # refuses it, damages what the first one flushes.
        self._lock.acquire()
        try:
            self._record(encoder)
            schema = wire.schema(encoder, self._settings.edge_ef)
            host = EngineHost(self._folder, schema, self._lock.inherited, self._relearn)
            sizes = host.open()
        except BaseException:
            self._lock.release()
            raise
        optimise_after = self._settings.edge_optimise_after if encoder.dense_searchable else 0
        self._host, self._encoder = host, encoder
        self._upkeep = Upkeep(host, self._writer, sizes, optimise_after)
        self._upkeep.start()

    def _relearn(self) -> None:
        if self._upkeep is not None:
            self._upkeep.learn()

    def _record(self, encoder: EncoderInfo) -> None:
        """Check the recorded encoder, or record this one before any shard exists."""
        file = self._folder / "encoder.json"
        if file.exists():
            try:
                recorded = EncoderInfo.model_validate_json(file.read_bytes())
            except ValidationError:
                recorded = None
            check_encoder(f"the index in {self._folder}", recorded, encoder)
        elif Generations(self._folder).current.exists() or (self._folder / FIRST).exists():
            check_encoder(f"the index in {self._folder}", None, encoder)
        else:
            _write_durably(file, encoder.model_dump_json(indent=2).encode())

    def _close(self) -> None:
        host, self._host, self._upkeep, self._encoder = self._held(), None, None, None
        try:
            host.close()
        finally:
            self._lock.release()

    def _write(self, batch: Sequence[EncodedChunk]) -> None:
        host, encoder = self._held(), self._opened()
        ids = [encoded.chunk.chunk_id for encoded in batch]
        stored: dict[str, tuple[str, str, Any]] = host.call("owners", ids)
        points: list[tuple[Any, ...]] = []
        for encoded in batch:
            check_dimension(encoded.dense, encoder.dim)
            state = "staged"
            if (known := stored.get(encoded.chunk.chunk_id)) is not None:
                check_owner(encoded.chunk, {TENANT: known[0], DOCUMENT: known[1]})
                state = known[2]
            points.append(wire.point(encoded, state, encoder))
        self._change(ids, "upsert", points)
        self._looked_after().changed(len(ids), len(ids) - len(stored))

    def _publish(self, document: Sequence[Condition]) -> int:
        # Only a rewriting wants to know them; to ask for them takes longer than to publish.
        ids = self._ids(document) if self._looked_after().rewriter.follows else ()
        count = self._change(ids, "publish", wire.conditions(document))
        self._looked_after().changed(count)
        return count

    def _prune(self, document: Sequence[Condition], keep: set[str]) -> int:
        gone = sorted(self._ids(document) - keep)
        if gone:
            self._change(gone, "delete", gone)
        return len(gone)

    def _change(self, ids: Collection[str], command: str, *arguments: Any) -> Any:
        """Make one change durable; `ids` are the points it meets."""
        host = self._held()
        try:
            done = host.call(command, *arguments)
        finally:
            self._looked_after().rewriter.touch(ids)
            self._read.cache_clear()  # what was deleted is not to stay in memory
        host.sync()
        return done

    def _ids(self, conditions: Sequence[Condition]) -> set[str]:
        return set(self._held().call("ids", wire.conditions(conditions)))

    def _encodings(self, tenant: str, index_texts: Sequence[str]) -> dict[str, TextVectors]:
        """Look each text up on its own: a text that many chunks share must not bring them all."""
        host, encoder = self._held(), self._opened()
        keys = [wire.conditions(encoding_conditions(tenant, encoding_key(text, encoder))) for text in index_texts]
        found = host.call("encodings", keys)
        return {text: wire.vectors(*each) for text, each in zip(index_texts, found, strict=True) if each is not None}

    # ---- on a reader's thread

    def _search(self, searches: Sequence[tuple[Any, ...]]) -> list[list[ScoredChunk] | Exception]:
        """Answer searches that came together; one that the engine refuses fails alone."""
        try:
            return [*self._search_at_once(searches)]
        except EngineFailedError as exc:
            if len(searches) == 1:
                return [StoreUnavailableError(f"the index in {self._folder} gave no answer: {exc}")]
            return [self._search([each])[0] for each in searches]

    def _search_at_once(self, searches: Sequence[tuple[Any, ...]]) -> list[list[ScoredChunk]]:
        answers, texts = self._held().call("search", list(searches))
        chunks = {key: self._read(text) for key, text in texts.items()}
        return [[ScoredChunk(chunks[key], score) for key, score in found if key in chunks] for found in answers]

    def _chunks(
        self, conditions: Sequence[Condition], limit: int, offset: str | None
    ) -> tuple[list[Chunk], str | None]:
        texts, after = self._held().call("chunks", wire.conditions(conditions), limit, offset)
        return [Chunk.model_validate_json(text) for text in texts], after

    # ---- between the threads

    async def _found(
        self, using: str, vector: Any, scope: Scope, limit: int, statistics: Any = None
    ) -> list[ScoredChunk]:
        conditions = scope_conditions(scope)
        if conditions is None:
            return []
        try:
            hits = await self._searches.ask((using, vector, wire.conditions(conditions), limit, statistics))
        except RuntimeError as exc:  # the executor was shut down by `close`
            raise StoreUnavailableError(f"the index in {self._folder} is closed") from exc
        return best_first(hits, limit)

    async def _rewrite(self, way: Way) -> bool:
        upkeep = self._looked_after()
        return await self._on(upkeep.thread, lambda: upkeep.rewrite(way))

    def _looked_after(self) -> Upkeep:
        if self._upkeep is None:
            raise StoreUnavailableError(f"the index in {self._folder} is not open")
        return self._upkeep

    def _held(self) -> EngineHost:
        if self._host is None:
            raise StoreUnavailableError(f"the index in {self._folder} is not open")
        return self._host

    def _opened(self) -> EncoderInfo:
        if self._encoder is None:
            raise StoreUnavailableError(f"the index in {self._folder} is not open")
        return self._encoder

    def _guarded(self, work: Callable[..., T]) -> Callable[..., T]:
        def guarded(*arguments: Any) -> T:
            try:
                return work(*arguments)
            except (RetrievalError, ValueError, AssertionError):
                raise
            except (EngineFailedError, EngineGoneError, NoRoomError, OSError) as exc:
                raise StoreUnavailableError(f"the index in {self._folder} gave no answer: {exc}") from exc

        return guarded

    async def _on(self, executor: Executor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, self._guarded(work))
        except RuntimeError as exc:  # the executor was shut down by `close`
            raise StoreUnavailableError(f"the index in {self._folder} is closed") from exc


def _batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _write_durably(file: Path, content: bytes) -> None:
    """Write a small file so that after a crash it is whole or absent."""
    draft = file.with_suffix(".tmp")
    with draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
    sync_folder(file.parent)
