"""The fake vector store: the same contract in plain Python, nothing kept after the process."""

# ruff: noqa: D102 - the methods are documented once, in the Protocol

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.errors import StoreUnavailableError
from retrieval.fusion import best_first, rank_by_symbols, symbol_tokens
from retrieval.stores.conditions import checked, checked_tenant
from retrieval.stores.payload import check_dimension, distinct
from retrieval.stores.record import check_encoder
from retrieval.stores.stated_periods import stated_spans
from retrieval.symbols.values.calendar import parse_span
from retrieval.types import Chunk, EncodedChunk, Scope, ScoredChunk, SearchFilter, SparseVector, TextVectors


@dataclass(frozen=True, slots=True)
class _Point:
    encoded: EncodedChunk
    published: bool
    max_tokens: int

    @property
    def chunk(self) -> Chunk:
        return self.encoded.chunk


class InMemoryVectorStore:
    """A `VectorStore` for tests. Its filter is written on its own, not shared with the real stores."""

    def __init__(self) -> None:
        self._points: dict[str, _Point] = {}
        self._recorded: EncoderInfo | None = None
        self._encoder: EncoderInfo | None = None

    async def open(self, encoder: EncoderInfo) -> None:
        if self._recorded is not None:
            check_encoder("the in-memory collection", self._recorded, encoder)
        self._recorded = self._encoder = encoder

    async def close(self) -> None:
        self._encoder = None

    async def write(self, chunks: Sequence[EncodedChunk]) -> None:
        encoder = self._opened()
        for encoded in distinct(chunks):
            check_dimension(encoded.dense, encoder.dim)
            old = self._points.get(encoded.chunk.chunk_id)
            if old is not None and _owner(old.chunk) != _owner(encoded.chunk):
                raise ValueError(f"chunk id {encoded.chunk.chunk_id} is taken by another document")
            published = old is not None and old.published
            self._points[encoded.chunk.chunk_id] = _Point(encoded, published, encoder.max_tokens)

    async def publish(self, tenant: str, document_id: str) -> int:
        points = self._document(tenant, document_id)
        self._points |= {point.chunk.chunk_id: replace(point, published=True) for point in points}
        return len(points)

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        return {point.chunk.chunk_id for point in self._document(tenant, document_id)}

    async def encodings(self, tenant: str, index_texts: Collection[str]) -> dict[str, TextVectors]:
        limit, wanted = self._opened().max_tokens, set(index_texts)
        checked_tenant(tenant)
        return {
            point.chunk.index_text: TextVectors(point.encoded.dense, point.encoded.sparse)
            for point in self._points.values()
            if point.chunk.tenant == tenant and point.max_tokens == limit and point.chunk.index_text in wanted
        }

    async def prune(self, tenant: str, document_id: str, keep: set[str]) -> int:
        gone = [p.chunk.chunk_id for p in self._document(tenant, document_id) if p.chunk.chunk_id not in keep]
        for chunk_id in gone:
            del self._points[chunk_id]
        return len(gone)

    async def delete(self, tenant: str, document_id: str) -> int:
        return await self.prune(tenant, document_id, keep=set())

    async def scrub(self) -> None:
        return None  # nothing is on a disk

    async def optimise(self) -> bool:
        return False  # nothing is indexed

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        encoder = self._opened()
        if not encoder.dense_searchable:
            return []
        check_dimension(vector, encoder.dim)
        return _ranked(self._visible(scope), lambda point: _cosine(vector, point.encoded.dense), limit)

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        idf = self._opened().sparse == "bm25"
        corpus = self._visible(scope.model_copy(update={"filter": SearchFilter()}))
        frequency = Counter(int(term) for point in corpus for term in point.encoded.sparse.indices)
        query = {
            int(term): float(weight) * (_idf(frequency[int(term)], len(corpus)) if idf else 1.0)
            for term, weight in zip(vector.indices, vector.values, strict=True)
        }
        hits = _ranked(self._visible(scope), lambda point: _dot(query, point.encoded.sparse), limit)
        return [hit for hit in hits if hit.score > 0]

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        return rank_by_symbols((point.chunk for point in self._visible(scope)), tokens, limit)

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        found = [p.chunk for p in self._visible(scope) if p.chunk.document_id == document_id]
        return sorted(found, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def at_places(self, places: Collection[tuple[str, int]], scope: Scope) -> list[Chunk]:
        found = [p.chunk for p in self._visible(scope) if (p.chunk.document_id, p.chunk.ordinal) in places]
        return sorted(found, key=lambda chunk: (chunk.document_id, chunk.ordinal, chunk.chunk_id))

    async def count(self, scope: Scope) -> int:
        return len(self._visible(scope))

    async def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        chunks = sorted((point.chunk for point in self._visible(scope)), key=lambda chunk: chunk.chunk_id)
        for start in range(0, len(chunks), batch):
            yield chunks[start : start + batch]

    def _opened(self) -> EncoderInfo:
        if self._encoder is None:
            raise StoreUnavailableError("the in-memory store is not open")
        return self._encoder

    def _document(self, tenant: str, document_id: str) -> list[_Point]:
        self._opened()
        return [p for p in self._points.values() if _owner(p.chunk) == (checked_tenant(tenant), document_id)]

    def _visible(self, scope: Scope) -> list[_Point]:
        self._opened()
        whole = checked(scope)
        return [p for p in self._points.values() if p.published and _admits(whole, p.chunk)]


def _owner(chunk: Chunk) -> tuple[str, str]:
    return (chunk.tenant, chunk.document_id)


def _admits(scope: Scope, chunk: Chunk) -> bool:
    wanted = scope.filter
    return (
        chunk.tenant == scope.tenant
        and not scope.access.isdisjoint(chunk.access)
        and wanted.labels <= chunk.labels
        and (wanted.document_ids is None or chunk.document_id in wanted.document_ids)
        and wanted.language in (None, chunk.language)
        and wanted.authority in (None, chunk.authority)
        and wanted.symbols <= set(symbol_tokens(chunk))
        and (wanted.period is None or any(parse_span(wanted.period).contains(span) for span in stated_spans(chunk)))
        and (
            wanted.as_of is None
            or (
                (chunk.effective_from is None or chunk.effective_from <= wanted.as_of)
                and (chunk.effective_to is None or chunk.effective_to > wanted.as_of)
            )
        )
    )


def _ranked(points: Iterable[_Point], score: Callable[[_Point], float], limit: int) -> list[ScoredChunk]:
    return best_first((ScoredChunk(point.chunk, score(point)) for point in points), limit)


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a.ravel() @ b.ravel()) / norm if norm else 0.0


def _dot(query: dict[int, float], vector: SparseVector) -> float:
    pairs = zip(vector.indices, vector.values, strict=True)
    return sum(query.get(int(term), 0.0) * float(weight) for term, weight in pairs)


def _idf(frequency: int, total: int) -> float:
    """Qdrant's form of BM25's inverse document frequency, never negative."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
