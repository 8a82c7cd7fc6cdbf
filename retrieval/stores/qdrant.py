"""The store on a Qdrant server or cluster, through qdrant-client.

The only file that imports qdrant_client. `qdrant_url` `:memory:` runs the client's local
mode instead, for tests.
"""

# ruff: noqa: D102 - the methods are documented once, in the Protocol

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Collection, Generator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.encoder import EncoderInfo
from retrieval.errors import CollectionMissingError, StoreUnavailableError
from retrieval.fusion import best_first, rank_by_symbols, symbol_tokens
from retrieval.settings import StoreSettings
from retrieval.stores.conditions import (
    AnyOf,
    Condition,
    SpanWithin,
    document_conditions,
    encoding_conditions,
    place_conditions,
    scope_conditions,
    visible_conditions,
    within_document,
)
from retrieval.stores.payload import (
    CHUNK,
    DENSE,
    DOCUMENT,
    FIRST,
    KEYWORD_FIELDS,
    LAST,
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
    from qdrant_client import AsyncQdrantClient, models

IN_MEMORY: Final = ":memory:"
WRITE_BATCH: Final = 64
SCROLL_BATCH: Final = 1000


class QdrantStore:
    """A `VectorStore` on one collection, whose metadata records the encoder (servers from 1.16 on).

    A client that is passed in is used and not closed.
    """

    def __init__(self, settings: StoreSettings, client: AsyncQdrantClient | None = None) -> None:
        if not settings.qdrant_url:
            raise ValueError("the qdrant store needs a URL; set vectors.qdrant_url")
        self._settings, self._url = settings, settings.qdrant_url
        self._name = settings.collection
        self._given = client
        self._client: AsyncQdrantClient | None = None
        self._encoder: EncoderInfo | None = None

    async def open(self, encoder: EncoderInfo) -> None:
        client = self._given or self._connect()
        try:
            with self._translated():
                recorded = await self._prepare(client, encoder)
            check_encoder(f"the collection {self._name!r} on {self._url}", recorded, encoder)
        except BaseException:
            if self._given is None:
                await client.close()
            raise
        self._client, self._encoder = client, encoder

    async def close(self) -> None:
        client, self._client, self._encoder = self._client, None, None
        if client is not None and self._given is None:
            await client.close()

    async def write(self, chunks: Sequence[EncodedChunk]) -> None:
        unique, dim = distinct(chunks), self._opened().dim
        for encoded in unique:
            check_dimension(encoded.dense, dim)
        for start in range(0, len(unique), WRITE_BATCH):
            await self._write(unique[start : start + WRITE_BATCH])

    async def publish(self, tenant: str, document_id: str) -> int:
        document = _filter(document_conditions(tenant, document_id))
        with self._translated():
            client = self._held()
            await client.set_payload(self._name, {STATE: "published"}, points=document, wait=True)
            return (await client.count(self._name, count_filter=document, exact=True)).count

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        document = _filter(document_conditions(tenant, document_id))
        ids: set[str] = set()
        async for records in self._scroll(document, SCROLL_BATCH, fields=None):
            ids.update(str(record.id) for record in records)
        return ids

    async def encodings(self, tenant: str, index_texts: Collection[str]) -> dict[str, TextVectors]:
        texts = sorted(set(index_texts))
        found: dict[str, TextVectors] = {}
        for start in range(0, len(texts), WRITE_BATCH):
            found |= await self._encodings(tenant, texts[start : start + WRITE_BATCH])
        return found

    async def prune(self, tenant: str, document_id: str, keep: set[str]) -> int:
        gone = sorted(await self.chunk_ids(tenant, document_id) - keep)
        with self._translated():
            for start in range(0, len(gone), SCROLL_BATCH):
                await self._held().delete(self._name, points_selector=[*gone[start : start + SCROLL_BATCH]], wait=True)
        return len(gone)

    async def delete(self, tenant: str, document_id: str) -> int:
        return await self.prune(tenant, document_id, keep=set())

    async def scrub(self) -> None:
        return None  # its optimiser rewrites segments by itself; there is no call to make it

    async def optimise(self) -> bool:
        return False  # its optimiser works by itself

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        encoder = self._opened()
        if not encoder.dense_searchable:
            return []
        check_dimension(vector, encoder.dim)
        return await self._query(DENSE, _floats(vector), scope, limit)

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        if not len(vector.indices):
            return []
        hits = await self._query(SPARSE, _sparse(vector), scope, limit)
        return [hit for hit in hits if hit.score > 0]

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        if not tokens:
            return []
        hits = await self._query(SYMBOL, _terms(tokens), scope, limit)
        return rank_by_symbols((hit.chunk for hit in hits), tokens, limit)

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        chunks = [chunk async for batch in self.scan(within_document(scope, document_id)) for chunk in batch]
        return sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def at_places(self, places: Collection[tuple[str, int]], scope: Scope) -> list[Chunk]:
        conditions = place_conditions(scope, places)
        if conditions is None:
            return []
        limit = len(places) + 1
        records = [one async for batch in self._scroll(_filter(conditions), limit, [CHUNK]) for one in batch]
        chunks = [chunk_of(record.payload) for record in records]
        return sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal, chunk.chunk_id))

    async def count(self, scope: Scope) -> int:
        conditions = scope_conditions(scope)
        if conditions is None:
            return 0
        with self._translated():
            return (await self._held().count(self._name, count_filter=_filter(conditions), exact=True)).count

    async def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        conditions = scope_conditions(scope)
        if conditions is None:
            return
        async for records in self._scroll(_filter(conditions), batch, fields=[CHUNK]):
            yield [chunk_of(record.payload) for record in records]

    def _connect(self) -> AsyncQdrantClient:
        from qdrant_client import AsyncQdrantClient

        if self._url == IN_MEMORY:
            return AsyncQdrantClient(location=IN_MEMORY)
        return AsyncQdrantClient(
            url=self._url,
            api_key=self._settings.qdrant_api_key,
            timeout=math.ceil(self._settings.timeout_s),
            check_compatibility=False,  # a blocking request in the constructor
        )

    async def _prepare(self, client: AsyncQdrantClient, encoder: EncoderInfo) -> EncoderInfo | None:
        """Create what is missing; return the encoder that the collection records."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        if not await client.collection_exists(self._name):
            try:
                await self._create(client, encoder)
            except UnexpectedResponse as exc:
                if exc.status_code != 409:  # another process was faster; what it recorded is checked
                    raise
        if self._url != IN_MEMORY:
            await self._index(client)
        metadata = (await client.get_collection(self._name)).config.metadata or {}
        try:
            return EncoderInfo.model_validate(metadata.get("encoder"))
        except ValidationError:
            return None

    async def _create(self, client: AsyncQdrantClient, encoder: EncoderInfo) -> None:
        from qdrant_client import models

        modifier = models.Modifier.IDF if encoder.sparse == "bm25" else None
        await client.create_collection(
            self._name,
            vectors_config={DENSE: models.VectorParams(size=encoder.dim, distance=models.Distance.COSINE)},
            sparse_vectors_config={
                SPARSE: models.SparseVectorParams(modifier=modifier),
                SYMBOL: models.SparseVectorParams(),
            },
            metadata={"encoder": encoder.model_dump(mode="json")},
        )

    async def _index(self, client: AsyncQdrantClient) -> None:
        """Create the payload indexes; one that exists is left alone."""
        from qdrant_client import models

        keyword, integer = models.KeywordIndexType.KEYWORD, models.IntegerIndexType.INTEGER
        schemas: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=keyword, is_tenant=True)}
        schemas |= {field: models.KeywordIndexParams(type=keyword) for field in KEYWORD_FIELDS}
        schemas |= {field: models.IntegerIndexParams(type=integer, lookup=False, range=True) for field in NUMBER_FIELDS}
        for field, schema in schemas.items():
            await client.create_payload_index(self._name, field_name=field, field_schema=schema, wait=True)

    async def _write(self, batch: Sequence[EncodedChunk]) -> None:
        """Insert new points as staged; update known ones without touching their state.

        A plain upsert of a known point would need its state read first, and would undo a
        `publish` that came in between.
        """
        from qdrant_client import models

        encoder = self._opened()
        ids = [encoded.chunk.chunk_id for encoded in batch]
        with self._translated():
            records = await self._held().retrieve(self._name, ids=ids, with_payload=[TENANT, DOCUMENT])
        known = {str(record.id): record.payload for record in records}
        new: list[models.PointStruct] = []
        moved: list[models.PointVectors] = []
        operations: list[models.UpdateOperation] = []
        for encoded in batch:
            chunk, vectors = encoded.chunk, _vectors(encoded)
            if chunk.chunk_id not in known:
                new.append(
                    models.PointStruct(id=chunk.chunk_id, vector=vectors, payload=payload_of(chunk, "staged", encoder))
                )
                continue
            check_owner(chunk, known[chunk.chunk_id])
            moved.append(models.PointVectors(id=chunk.chunk_id, vector=vectors))
            operations.append(_keep_state(chunk, encoder))
            if emptied := [name for name in (SPARSE, SYMBOL) if name not in vectors]:
                removal = models.DeleteVectors(points=[chunk.chunk_id], vector=emptied)
                operations.append(models.DeleteVectorsOperation(delete_vectors=removal))
        if moved:
            operations.append(models.UpdateVectorsOperation(update_vectors=models.UpdateVectors(points=moved)))
        if new:
            operations.append(models.UpsertOperation(upsert=models.PointsList(points=new)))
        with self._translated():
            await self._held().batch_update_points(self._name, update_operations=operations, wait=True)

    async def _encodings(self, tenant: str, index_texts: Sequence[str]) -> dict[str, TextVectors]:
        """Ask for one point of each text: a text that many chunks share must not bring them all."""
        from qdrant_client import models

        encoder = self._opened()
        requests = [
            models.QueryRequest(
                filter=_filter(encoding_conditions(tenant, encoding_key(text, encoder))),
                limit=1,
                with_vector=[DENSE, SPARSE],
            )
            for text in index_texts
        ]
        with self._translated():
            answers = await self._held().query_batch_points(self._name, requests=requests)
        return {
            text: _stored_vectors(point.vector)
            for text, answer in zip(index_texts, answers, strict=True)
            for point in answer.points
        }

    async def _query(self, using: str, vector: Any, scope: Scope, limit: int) -> list[ScoredChunk]:
        from qdrant_client import models

        conditions = scope_conditions(scope)
        if conditions is None:
            return []
        params = None
        if using == SPARSE and self._opened().sparse == "bm25":
            # Word statistics come from what the asker may see, so that scores tell nothing of the rest.
            params = models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(visible_conditions(scope))))
        with self._translated():
            response = await self._held().query_points(
                self._name,
                query=vector,
                using=using,
                query_filter=_filter(conditions),
                search_params=params,
                limit=limit,
                with_payload=[CHUNK],
            )
        return best_first((ScoredChunk(chunk_of(point.payload), point.score) for point in response.points), limit)

    async def _scroll(
        self, condition: models.Filter, limit: int, fields: list[str] | None
    ) -> AsyncIterator[list[models.Record]]:
        offset: Any = None
        while True:
            with self._translated():
                records, offset = await self._held().scroll(
                    self._name, scroll_filter=condition, limit=limit, offset=offset, with_payload=fields or False
                )
            if records:
                yield records
            if offset is None:
                return

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Turn the client's errors into ours; answers of the server are named by their status alone."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

        where = f"the collection {self._name!r} on {self._url}"
        try:
            yield
        except UnexpectedResponse as exc:
            if exc.status_code == 404:
                raise CollectionMissingError(f"{where} does not exist; ingest the documents again") from exc
            raise StoreUnavailableError(f"{where}: the server answered {exc.status_code}") from exc
        except (ApiException, QdrantException, JSONDecodeError, ValidationError, OSError) as exc:
            raise StoreUnavailableError(f"{where}: no answer ({type(exc).__name__})") from exc

    def _held(self) -> AsyncQdrantClient:
        if self._client is None:
            raise StoreUnavailableError(f"the collection {self._name!r} is not open")
        return self._client

    def _opened(self) -> EncoderInfo:
        if self._encoder is None:
            raise StoreUnavailableError(f"the collection {self._name!r} is not open")
        return self._encoder


def _keep_state(chunk: Chunk, encoder: EncoderInfo) -> models.SetPayloadOperation:
    from qdrant_client import models

    payload = models.SetPayload(payload=payload_of(chunk, None, encoder), points=[chunk.chunk_id])
    return models.SetPayloadOperation(set_payload=payload)


def _filter(conditions: Sequence[Condition]) -> models.Filter:
    from qdrant_client import models

    return models.Filter(must=[_translate(condition) for condition in conditions])


def _translate(condition: Condition) -> models.FieldCondition | models.Filter:
    from qdrant_client import models

    if isinstance(condition, AnyOf):
        return models.FieldCondition(key=condition.field, match=models.MatchAny(any=[*condition.values]))
    if isinstance(condition, SpanWithin):
        return _span_within(condition)
    missing = models.IsEmptyCondition(is_empty=models.PayloadField(key=condition.field))
    bound = models.Range(lte=condition.at_most, gt=condition.above)
    return models.Filter(should=[missing, models.FieldCondition(key=condition.field, range=bound)])


def _span_within(condition: SpanWithin) -> models.Filter:
    """One object of the list lies within the bounds.

    The nested condition reads the payload of every point it is asked about; the two that the indexes answer
    leave it few.
    """
    from qdrant_client import models

    within = models.Range(gte=condition.first, lte=condition.last)
    both = models.Filter(must=[models.FieldCondition(key=key, range=within) for key in (FIRST, LAST)])
    indexed = [models.FieldCondition(key=f"{condition.field}[].{key}", range=within) for key in (FIRST, LAST)]
    nested = models.NestedCondition(nested=models.Nested(key=condition.field, filter=both))
    return models.Filter(must=[*indexed, nested])


def _vectors(encoded: EncodedChunk) -> dict[str, Any]:
    vectors: dict[str, Any] = {DENSE: _floats(encoded.dense)}
    if len(encoded.sparse.indices):
        vectors[SPARSE] = _sparse(encoded.sparse)
    if tokens := symbol_tokens(encoded.chunk):
        vectors[SYMBOL] = _terms(tokens)
    return vectors


def _stored_vectors(vectors: Any) -> TextVectors:
    from qdrant_client import models

    sparse = vectors.get(SPARSE) or models.SparseVector(indices=[], values=[])
    return TextVectors(
        np.asarray(vectors[DENSE], dtype=np.float32),
        SparseVector(np.asarray(sparse.indices, dtype=np.uint32), np.asarray(sparse.values, dtype=np.float32)),
    )


def _floats(vector: NDArray[np.float32]) -> list[float]:
    return vector.astype(np.float32).ravel().tolist()


def _sparse(vector: SparseVector) -> models.SparseVector:
    from qdrant_client import models

    return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.astype(np.float32).tolist())


def _terms(tokens: Sequence[str] | frozenset[str]) -> models.SparseVector:
    from qdrant_client import models

    terms = symbol_terms(tokens)
    return models.SparseVector(indices=terms, values=[1.0] * len(terms))
