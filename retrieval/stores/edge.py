"""The in-process store: Qdrant's engine on a folder (qdrant-edge-py), one process at a time.

The only file that imports qdrant_edge. Every engine call runs on one owner thread,
which makes read-then-write steps atomic within the process.
"""

# ruff: noqa: D102 - the methods are documented once, in the Protocol

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.encoder import EncoderInfo
from retrieval.errors import FolderLockedError, RetrievalError, StoreUnavailableError
from retrieval.fusion import best_first, rank_by_symbols, symbol_tokens
from retrieval.settings import StoreSettings
from retrieval.stores import rewriting
from retrieval.stores.conditions import (
    AnyOf,
    Condition,
    document_conditions,
    encoding_conditions,
    scope_conditions,
    visible_conditions,
    within_document,
)
from retrieval.stores.payload import (
    CHUNK,
    DENSE,
    DOCUMENT,
    KEYWORD_FIELDS,
    NUMBER_FIELDS,
    SPARSE,
    STATE,
    SYMBOL,
    TENANT,
    check_dimension,
    check_owner,
    chunk_of,
    distinct,
    encoding_key,
    payload_of,
    symbol_terms,
)
from retrieval.stores.record import check_encoder
from retrieval.types import Chunk, EncodedChunk, Scope, ScoredChunk, SparseVector, TextVectors

if TYPE_CHECKING:
    import qdrant_edge as engine

T = TypeVar("T")

# The engine holds the GIL during a call: small batches let queries in between.
WRITE_BATCH: Final = 64
SCROLL_BATCH: Final = 1000
# The engine's own flush takes 0.4 s under the GIL, whatever it writes; the log alone is forced
# to the disk in 10 ms without it. The flush only bounds how much log the next start reads again.
FLUSH_AFTER_POINTS: Final = 4096


class EdgeStore:
    """A `VectorStore` on a folder of this machine: `encoder.json`, `lock` and the engine's shard.

    A change is in the engine's write-ahead log, and that log on the disk, before the call returns.
    """

    def __init__(self, folder: Path, settings: StoreSettings) -> None:
        self._folder = folder / settings.collection
        self._lock = FileLock(self._folder / "lock", thread_local=False)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edge-store")
        self._shard: engine.EdgeShard | None = None
        self._encoder: EncoderInfo | None = None
        self._unflushed = 0
        self._sees_all: dict[tuple[str, frozenset[str]], bool] = {}

    async def open(self, encoder: EncoderInfo) -> None:
        await self._call(lambda: self._open(encoder))

    async def close(self) -> None:
        if self._shard is not None:
            await self._call(self._close)
        self._thread.shutdown(wait=False)

    async def write(self, chunks: Sequence[EncodedChunk]) -> None:
        for batch in _batches(distinct(chunks), WRITE_BATCH):
            await self._call(lambda batch=batch: self._write(batch))

    async def publish(self, tenant: str, document_id: str) -> int:
        return await self._call(lambda: self._publish(_filter(document_conditions(tenant, document_id))))

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        return await self._call(lambda: self._ids(_filter(document_conditions(tenant, document_id))))

    async def encodings(self, tenant: str, index_texts: Collection[str]) -> dict[str, TextVectors]:
        found: dict[str, TextVectors] = {}
        for batch in _batches(sorted(set(index_texts)), WRITE_BATCH):
            found |= await self._call(lambda batch=batch: self._encodings(tenant, batch))
        return found

    async def prune(self, tenant: str, document_id: str, keep: set[str]) -> int:
        return await self._call(lambda: self._prune(_filter(document_conditions(tenant, document_id)), keep))

    async def delete(self, tenant: str, document_id: str) -> int:
        return await self.prune(tenant, document_id, keep=set())

    async def scrub(self) -> None:
        await self._call(self._scrub)

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        encoder = self._opened()
        if not encoder.dense_searchable:
            return []
        check_dimension(vector, encoder.dim)
        return await self._call(lambda: self._query(DENSE, _floats(vector), scope, limit))

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        if not len(vector.indices):
            return []
        hits = await self._call(lambda: self._query(SPARSE, _sparse(vector), scope, limit))
        return [hit for hit in hits if hit.score > 0]

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        if not tokens:
            return []
        hits = await self._call(lambda: self._query(SYMBOL, _terms(tokens), scope, limit))
        return rank_by_symbols((hit.chunk for hit in hits), tokens, limit)

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        chunks = [chunk async for batch in self.scan(within_document(scope, document_id)) for chunk in batch]
        return sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def count(self, scope: Scope) -> int:
        conditions = scope_conditions(scope)
        return 0 if conditions is None else await self._call(lambda: self._count(_filter(conditions)))

    async def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        conditions = scope_conditions(scope)
        if conditions is None:
            return
        offset: Any = None
        while True:
            records, offset = await self._call(
                lambda offset=offset: self._scroll(_filter(conditions), batch, offset, fields=[CHUNK])
            )
            if records:
                yield [chunk_of(record.payload) for record in records]
            if offset is None:
                return

    # ---- everything below runs on the owner thread

    def _open(self, encoder: EncoderInfo) -> None:
        if self._shard is not None:
            raise StoreUnavailableError(f"the index in {self._folder} is already open")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Before the engine looks at the folder: a second load, though the engine
        # refuses it, damages what the first one flushes.
        try:
            self._lock.acquire(blocking=False)
        except Timeout as exc:
            raise FolderLockedError(
                f"the index in {self._folder} is held by another process; stop it or ask through the running server"
            ) from exc
        try:
            self._record(encoder)
            self._shard = self._load(encoder)
        except BaseException:
            self._lock.release()
            raise
        self._encoder = encoder

    def _record(self, encoder: EncoderInfo) -> None:
        """Check the recorded encoder, or record this one before any shard exists."""
        file = self._folder / "encoder.json"
        if file.exists():
            try:
                recorded = EncoderInfo.model_validate_json(file.read_bytes())
            except ValidationError:
                recorded = None
            check_encoder(f"the index in {self._folder}", recorded, encoder)
        elif (self._folder / "shard").exists():
            check_encoder(f"the index in {self._folder}", None, encoder)
        else:
            _write_durably(file, encoder.model_dump_json(indent=2).encode())

    def _load(self, encoder: EncoderInfo) -> engine.EdgeShard:
        import qdrant_edge as engine

        path = self._folder / "shard"
        rewriting.settle(path)
        if (path / "edge_config.json").exists():
            shard = engine.EdgeShard.load(str(path))
        else:
            path.mkdir(exist_ok=True)
            shard = engine.EdgeShard.create(str(path), _config(encoder))
        return self._indexed(shard)

    def _indexed(self, shard: engine.EdgeShard) -> engine.EdgeShard:
        import qdrant_edge as engine

        # Creating an index that exists does nothing; so a kill between the two is mended here.
        shard.update(engine.UpdateOperation.create_field_index(TENANT, engine.KeywordIndexParams(is_tenant=True)))
        for field in KEYWORD_FIELDS:
            shard.update(engine.UpdateOperation.create_field_index(field, engine.PayloadSchemaType.Keyword))
        for field in NUMBER_FIELDS:
            shard.update(engine.UpdateOperation.create_field_index(field, engine.PayloadSchemaType.Integer))
        return shard

    def _scrub(self) -> None:
        """Copy what is there into a new shard, and put it in the place of the old one."""
        import qdrant_edge as engine

        shard, encoder, path = self._held(), self._opened(), self._folder / "shard"
        fresh = rewriting.begin(path)
        copy = self._indexed(engine.EdgeShard.create(str(fresh), _config(encoder)))
        offset: Any = None
        while True:
            request = engine.ScrollRequest(offset=offset, limit=WRITE_BATCH, with_payload=True, with_vector=True)
            records, offset = shard.scroll(request)
            if records:
                points = [engine.Point(record.id, record.vector or {}, record.payload) for record in records]
                copy.update(engine.UpdateOperation.upsert_points(points))
            if offset is None:
                break
        copy.flush()
        copy.close()
        self._shard = None
        try:
            shard.flush()
            shard.close()
            rewriting.swap(path)
        finally:
            # Whatever went wrong, one of the two folders is whole.
            self._shard = self._load(encoder)
        self._sees_all.clear()
        self._unflushed = 0

    def _close(self) -> None:
        shard, self._shard, self._encoder = self._shard, None, None
        try:
            if shard is not None:
                shard.flush()
                shard.close()
        finally:
            self._lock.release()

    def _write(self, batch: Sequence[EncodedChunk]) -> None:
        import qdrant_edge as engine

        shard, encoder = self._held(), self._opened()
        records = shard.retrieve(
            [encoded.chunk.chunk_id for encoded in batch], with_payload=[TENANT, DOCUMENT, STATE], with_vector=False
        )
        stored = {str(record.id): record.payload or {} for record in records}
        points: list[engine.Point] = []
        for encoded in batch:
            check_dimension(encoded.dense, encoder.dim)
            chunk, state = encoded.chunk, "staged"
            if (known := stored.get(chunk.chunk_id)) is not None:
                check_owner(chunk, known)
                state = known[STATE]
            points.append(engine.Point(chunk.chunk_id, _vectors(encoded), payload_of(chunk, state, encoder)))
        self._apply(engine.UpdateOperation.upsert_points(points), len(points))

    def _encodings(self, tenant: str, index_texts: Sequence[str]) -> dict[str, TextVectors]:
        """Look each text up on its own: a text that many chunks share must not bring them all."""
        import qdrant_edge as engine

        shard, encoder = self._held(), self._opened()
        found: dict[str, TextVectors] = {}
        for text in index_texts:
            condition = _filter(encoding_conditions(tenant, encoding_key(text, encoder)))
            request = engine.ScrollRequest(limit=1, filter=condition, with_payload=False, with_vector=[DENSE, SPARSE])
            for record in shard.scroll(request)[0]:
                found[text] = _stored_vectors(record.vector)
        return found

    def _publish(self, document: engine.Filter) -> int:
        import qdrant_edge as engine

        count = self._count(document)
        if count:
            self._apply(engine.UpdateOperation.set_payload_by_filter(document, {STATE: "published"}), count)
        return count

    def _prune(self, document: engine.Filter, keep: set[str]) -> int:
        import qdrant_edge as engine

        gone = sorted(self._ids(document) - keep)
        if gone:
            self._apply(engine.UpdateOperation.delete_points([*gone]), len(gone))
        return len(gone)

    def _apply(self, operation: engine.UpdateOperation, points: int) -> None:
        """Make one change durable; `points` is how many it touches."""
        shard = self._held()
        self._sees_all.clear()
        shard.update(operation)
        for file in (self._folder / "shard" / "wal").iterdir():
            with file.open("rb+") as log:
                os.fsync(log.fileno())
        self._unflushed += points
        if self._unflushed >= FLUSH_AFTER_POINTS:
            shard.flush()
            self._unflushed = 0

    def _ids(self, condition: engine.Filter) -> set[str]:
        ids: set[str] = set()
        offset: Any = None
        while True:
            records, offset = self._scroll(condition, SCROLL_BATCH, offset, fields=None)
            ids.update(str(record.id) for record in records)
            if offset is None:
                return ids

    def _scroll(
        self, condition: engine.Filter, limit: int, offset: Any, fields: list[str] | None
    ) -> tuple[list[engine.Record], Any]:
        import qdrant_edge as engine

        request = engine.ScrollRequest(
            offset=offset, limit=limit, filter=condition, with_payload=fields or False, with_vector=False
        )
        return self._held().scroll(request)

    def _count(self, condition: engine.Filter) -> int:
        import qdrant_edge as engine

        return self._held().count(engine.CountRequest(exact=True, filter=condition))

    def _query(self, using: str, vector: Any, scope: Scope, limit: int) -> list[ScoredChunk]:
        import qdrant_edge as engine

        conditions = scope_conditions(scope)
        if conditions is None:
            return []
        corpus = self._corpus(scope) if using == SPARSE and self._opened().sparse == "bm25" else None
        request = engine.QueryRequest(
            limit=limit,
            query=engine.Query.Nearest(vector, using=using),
            filter=_filter(conditions),
            with_payload=[CHUNK],
            params=engine.SearchParams(idf=corpus),
        )
        found = self._held().query(request)
        return best_first((ScoredChunk(chunk_of(point.payload), point.score) for point in found), limit)

    def _corpus(self, scope: Scope) -> engine.IdfParams | None:
        """Take word statistics from what the asker may see, so that scores tell nothing of the rest.

        Counting them costs 28 ms at 20,000 chunks, the engine's own of the whole shard 0.6 ms; so
        those serve an asker who sees everything, which is looked up once after each change.
        """
        import qdrant_edge as engine

        visible = _filter(visible_conditions(scope))
        asker = (scope.tenant, scope.access)
        if asker not in self._sees_all:
            everything = self._held().count(engine.CountRequest(exact=True))
            self._sees_all[asker] = self._count(visible) == everything
        return None if self._sees_all[asker] else engine.IdfParams(visible)

    def _held(self) -> engine.EdgeShard:
        if self._shard is None:
            raise StoreUnavailableError(f"the index in {self._folder} is not open")
        return self._shard

    # ---- between the threads

    def _opened(self) -> EncoderInfo:
        if self._encoder is None:
            raise StoreUnavailableError(f"the index in {self._folder} is not open")
        return self._encoder

    async def _call(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except (RetrievalError, ValueError, AssertionError):
                raise
            except Exception as exc:  # the engine raises bare `Exception` for everything
                raise StoreUnavailableError(f"the index in {self._folder} gave no answer: {exc}") from exc

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)
        except RuntimeError as exc:  # the executor was shut down by `close`
            raise StoreUnavailableError(f"the index in {self._folder} is closed") from exc


def _config(encoder: EncoderInfo) -> engine.EdgeConfig:
    import qdrant_edge as engine

    modifier = engine.Modifier.Idf if encoder.sparse == "bm25" else None
    return engine.EdgeConfig(
        vectors={DENSE: engine.EdgeVectorParams(size=encoder.dim, distance=engine.Distance.Cosine)},
        sparse_vectors={
            SPARSE: engine.EdgeSparseVectorParams(modifier=modifier),
            SYMBOL: engine.EdgeSparseVectorParams(),
        },
        wal_enabled=True,
    )


def _filter(conditions: Sequence[Condition]) -> engine.Filter:
    import qdrant_edge as engine

    return engine.Filter(must=[_translate(condition) for condition in conditions])


def _translate(condition: Condition) -> engine.FieldCondition | engine.Filter:
    import qdrant_edge as engine

    if isinstance(condition, AnyOf):
        return engine.FieldCondition(condition.field, match=engine.MatchAny([*condition.values]))
    bound = engine.RangeFloat(lte=condition.at_most, gt=condition.above)
    return engine.Filter(
        should=[engine.IsEmptyCondition(condition.field), engine.FieldCondition(condition.field, range=bound)]
    )


def _vectors(encoded: EncodedChunk) -> dict[str, Any]:
    vectors: dict[str, Any] = {DENSE: _floats(encoded.dense), SPARSE: _sparse(encoded.sparse)}
    if tokens := symbol_tokens(encoded.chunk):
        vectors[SYMBOL] = _terms(tokens)
    return vectors


def _stored_vectors(vectors: Any) -> TextVectors:
    sparse = vectors[SPARSE]
    return TextVectors(
        np.asarray(vectors[DENSE], dtype=np.float32),
        SparseVector(np.asarray(sparse.indices, dtype=np.uint32), np.asarray(sparse.values, dtype=np.float32)),
    )


def _floats(vector: NDArray[np.float32]) -> list[float]:
    return vector.astype(np.float32).ravel().tolist()


def _sparse(vector: SparseVector) -> engine.SparseVector:
    import qdrant_edge as engine

    return engine.SparseVector(vector.indices.tolist(), vector.values.astype(np.float32).tolist())


def _terms(tokens: Sequence[str] | frozenset[str]) -> engine.SparseVector:
    import qdrant_edge as engine

    terms = symbol_terms(tokens)
    return engine.SparseVector(terms, [1.0] * len(terms))


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
