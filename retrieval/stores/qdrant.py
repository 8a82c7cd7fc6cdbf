"""The store on a Qdrant server or cluster, through qdrant-client.

`qdrant_url` `:memory:` runs the client's local mode instead, for tests. Beside it lie the set-up of
the collection (`qdrant_collection`), calls and errors (`qdrant_calls`) and translation (`qdrant_words`);
only these four import qdrant_client.
"""

# ruff: noqa: D102 - the methods are documented once, in the Protocol

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.encoder import EncoderInfo
from retrieval.errors import StoreRefusedError, StoreUnavailableError
from retrieval.fusion import best_first, rank_by_symbols
from retrieval.settings import StoreSettings
from retrieval.stores.conditions import (
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
    SPARSE,
    STATE,
    SYMBOL,
    TENANT,
    check_dimension,
    chunk_of,
    distinct,
    encoding_key,
)
from retrieval.stores.qdrant_calls import OLDEST_SERVER, QdrantCalls, Sleep
from retrieval.stores.qdrant_collection import creation, differences, payload_indexes, search_params
from retrieval.stores.qdrant_words import filter_of, floats, sparse, stored_vectors, terms, write_operations
from retrieval.stores.record import check_encoder
from retrieval.types import Chunk, EncodedChunk, Scope, ScoredChunk, SparseVector, TextVectors

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

log = logging.getLogger(__name__)

IN_MEMORY: Final = ":memory:"
WRITE_BATCH: Final = 64
SCROLL_BATCH: Final = 1000


class QdrantStore:
    """A `VectorStore` on one collection, whose metadata records the encoder."""

    def __init__(
        self, settings: StoreSettings, client: AsyncQdrantClient | None = None, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        """Take the settings.

        Args:
            settings: where the server is, and how the collection is made.
            client: used and not closed; without one the store makes its own.
            sleep: how to wait before a call is made again.

        Raises:
            ValueError: the settings name no server.
        """
        if not settings.qdrant_url:
            raise ValueError("the qdrant store needs a URL; set vectors.qdrant_url")
        self._settings, self._url = settings, settings.qdrant_url
        self._name = settings.collection
        self._where = f"the collection {self._name!r} on {self._url}"
        self._calls = QdrantCalls(self._where, settings, sleep)
        self._differences: tuple[str, ...] = ()
        self._given = client
        self._client: AsyncQdrantClient | None = None
        self._encoder: EncoderInfo | None = None

    async def open(self, encoder: EncoderInfo) -> None:
        client = self._given or self._connect()
        try:
            recorded = await self._prepare(client, encoder)
            check_encoder(self._where, recorded, encoder)
        except BaseException:
            if self._given is None:
                await client.close()
            raise
        self._client, self._encoder = client, encoder

    @property
    def differences(self) -> tuple[str, ...]:
        """In which settings the collection, when it was opened, was another than it would be made now."""
        return self._differences

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
        document, client, published = filter_of(document_conditions(tenant, document_id)), self._held(), "published"
        await self._calls.make(lambda: client.set_payload(self._name, {STATE: published}, points=document, wait=True))
        return await self._count(document)

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        document = filter_of(document_conditions(tenant, document_id))
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
        gone, client = sorted(await self.chunk_ids(tenant, document_id) - keep), self._held()
        for start in range(0, len(gone), SCROLL_BATCH):
            batch: list[Any] = [*gone[start : start + SCROLL_BATCH]]
            await self._calls.make(lambda batch=batch: client.delete(self._name, points_selector=batch, wait=True))
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
        return await self._query(DENSE, floats(vector), scope, limit)

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        if not len(vector.indices):
            return []
        hits = await self._query(SPARSE, sparse(vector), scope, limit)
        return [hit for hit in hits if hit.score > 0]

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        if not tokens:
            return []
        hits = await self._query(SYMBOL, terms(tokens), scope, limit)
        return rank_by_symbols((hit.chunk for hit in hits), tokens, limit)

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        chunks = [chunk async for batch in self.scan(within_document(scope, document_id)) for chunk in batch]
        return sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def at_places(self, places: Collection[tuple[str, int]], scope: Scope) -> list[Chunk]:
        conditions = place_conditions(scope, places)
        if conditions is None:
            return []
        limit = len(places) + 1
        records = [one async for batch in self._scroll(filter_of(conditions), limit, [CHUNK]) for one in batch]
        chunks = [chunk_of(record.payload) for record in records]
        return sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal, chunk.chunk_id))

    async def count(self, scope: Scope) -> int:
        conditions = scope_conditions(scope)
        return 0 if conditions is None else await self._count(filter_of(conditions))

    async def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        conditions = scope_conditions(scope)
        if conditions is None:
            return
        async for records in self._scroll(filter_of(conditions), batch, fields=[CHUNK]):
            yield [chunk_of(record.payload) for record in records]

    def _connect(self) -> AsyncQdrantClient:
        from qdrant_client import AsyncQdrantClient

        if self._url == IN_MEMORY:
            return AsyncQdrantClient(location=IN_MEMORY)
        return AsyncQdrantClient(
            url=self._url,
            api_key=self._settings.qdrant_api_key,
            timeout=math.ceil(self._settings.timeout_s),
            prefer_grpc=self._settings.qdrant_prefer_grpc,
            grpc_port=self._settings.qdrant_grpc_port,
            check_compatibility=False,  # a blocking request in the constructor
        )

    async def _prepare(self, client: AsyncQdrantClient, encoder: EncoderInfo) -> EncoderInfo | None:
        """Create what is missing; return the encoder that the collection records."""
        remote = self._url != IN_MEMORY
        if remote:
            await self._check_version(client)
        if not await self._calls.make(lambda: client.collection_exists(self._name)):
            await self._calls.make(lambda: self._create(client, encoder), repeatable=False)
        if remote:
            # One that exists is left alone.
            for field, schema in payload_indexes().items():
                await self._calls.make(
                    lambda field=field, schema=schema: client.create_payload_index(
                        self._name, field_name=field, field_schema=schema, wait=True
                    )
                )
        config = (await self._calls.make(lambda: client.get_collection(self._name))).config
        self._differences = tuple(differences(config, self._settings)) if remote else ()
        for each in self._differences:
            log.warning(
                "%s: %s. It is left as it is; change it on the server, or ingest into another collection",
                self._where,
                each,
            )
        try:
            return EncoderInfo.model_validate((config.metadata or {}).get("encoder"))
        except ValidationError:
            return None

    async def _check_version(self, client: AsyncQdrantClient) -> None:
        version = (await self._calls.make(client.info)).version
        numbers = version.split(".")[:2]
        known = all(each.isdecimal() for each in numbers)
        if known and tuple(map(int, numbers)) < OLDEST_SERVER:
            oldest = ".".join(map(str, OLDEST_SERVER))
            raise StoreRefusedError(f"{self._where}: the server is Qdrant {version}; upgrade it to {oldest} or later")

    async def _create(self, client: AsyncQdrantClient, encoder: EncoderInfo) -> None:
        from qdrant_client.http.exceptions import UnexpectedResponse

        try:
            await client.create_collection(self._name, **creation(encoder, self._settings))
        except UnexpectedResponse as exc:
            if exc.status_code != 409:  # another process was faster; what it recorded is checked
                raise

    async def _write(self, batch: Sequence[EncodedChunk]) -> None:
        client, encoder = self._held(), self._opened()
        ids = [encoded.chunk.chunk_id for encoded in batch]
        records = await self._calls.make(lambda: client.retrieve(self._name, ids=ids, with_payload=[TENANT, DOCUMENT]))
        operations = write_operations(batch, {str(record.id): record.payload for record in records}, encoder)
        await self._calls.make(lambda: client.batch_update_points(self._name, update_operations=operations, wait=True))

    async def _count(self, condition: models.Filter) -> int:
        client = self._held()
        found = await self._calls.make(lambda: client.count(self._name, count_filter=condition, exact=True))
        return found.count

    async def _encodings(self, tenant: str, index_texts: Sequence[str]) -> dict[str, TextVectors]:
        """Ask for one point of each text: a text that many chunks share must not bring them all."""
        from qdrant_client import models

        encoder = self._opened()
        requests = [
            models.QueryRequest(
                filter=filter_of(encoding_conditions(tenant, encoding_key(text, encoder))),
                limit=1,
                with_vector=[DENSE, SPARSE],
            )
            for text in index_texts
        ]
        client = self._held()
        answers = await self._calls.make(lambda: client.query_batch_points(self._name, requests=requests))
        return {
            text: stored_vectors(point.vector)
            for text, answer in zip(index_texts, answers, strict=True)
            for point in answer.points
        }

    async def _query(self, using: str, vector: Any, scope: Scope, limit: int) -> list[ScoredChunk]:
        from qdrant_client import models

        conditions = scope_conditions(scope)
        if conditions is None:
            return []
        params = search_params(self._settings) if using == DENSE else None
        if using == SPARSE and self._opened().sparse == "bm25":
            # Word statistics come from what the asker may see, so that scores tell nothing of the rest.
            params = models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(visible_conditions(scope))))
        client, condition = self._held(), filter_of(conditions)
        response = await self._calls.make(
            lambda: client.query_points(
                self._name,
                query=vector,
                using=using,
                query_filter=condition,
                search_params=params,
                limit=limit,
                with_payload=[CHUNK],
            )
        )
        return best_first((ScoredChunk(chunk_of(point.payload), point.score) for point in response.points), limit)

    async def _scroll(
        self, condition: models.Filter, limit: int, fields: list[str] | None
    ) -> AsyncIterator[list[models.Record]]:
        offset: Any = None
        while True:
            client = self._held()
            records, offset = await self._calls.make(
                lambda client=client, offset=offset: client.scroll(
                    self._name, scroll_filter=condition, limit=limit, offset=offset, with_payload=fields or False
                )
            )
            if records:
                yield records
            if offset is None:
                return

    def _held(self) -> AsyncQdrantClient:
        if self._client is None:
            raise StoreUnavailableError(f"the collection {self._name!r} is not open")
        return self._client

    def _opened(self) -> EncoderInfo:
        if self._encoder is None:
            raise StoreUnavailableError(f"the collection {self._name!r} is not open")
        return self._encoder
