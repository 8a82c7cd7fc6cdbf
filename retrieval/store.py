"""The vector store Protocol. One contract suite (`tests/contract`) runs on every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.types import Chunk, EncodedChunk, Scope, ScoredChunk, SparseVector, TextVectors


class VectorStore(Protocol):
    """Keeps encoded chunks and answers filtered nearest-neighbour questions.

    Chunks are written *staged* and become visible to queries only by `publish`, so
    that a half-written version is never found. Every read takes a `Scope`
    (tenant and access); there is no way to ask without one, and every implementation
    refuses a scope that was built past its checks (`stores.conditions.checked`).

    Raises everywhere: `StoreUnavailableError` when the store gives no answer, `StoreRefusedError` when
    it does not allow the call, `UnscopedQueryError` when the tenant or the scope is not whole.
    """

    async def open(self, encoder: EncoderInfo) -> None:
        """Create the collection or check that `encoder` wrote it.

        Raises:
            IndexMismatchError: another encoder, revision or dimension is recorded.
            FolderLockedError: another process holds the folder (embedded store).
        """
        ...

    async def close(self) -> None:
        """Flush and release. Closing twice is allowed."""
        ...

    async def write(self, chunks: Sequence[EncodedChunk]) -> None:
        """Upsert chunks as staged, by `chunk_id`; durable when it returns. Writing twice doubles nothing.

        A chunk that is already published stays published.
        """
        ...

    async def publish(self, tenant: str, document_id: str) -> int:
        """Make all chunks of a document visible; return how many it has."""
        ...

    async def chunk_ids(self, tenant: str, document_id: str) -> set[str]:
        """Return the ids of the document's chunks, staged ones included (resume after a crash)."""
        ...

    async def encodings(self, tenant: str, index_texts: Collection[str]) -> dict[str, TextVectors]:
        """Return the vectors of those texts that a stored chunk of the tenant was encoded from, staged or published.

        So that equal text is encoded once. Chunks that were written before their index text was
        recorded lend nothing, nor do those that an encoder with another token limit wrote.
        """
        ...

    async def prune(self, tenant: str, document_id: str, keep: set[str]) -> int:
        """Delete the document's chunks whose id is not in `keep`; return how many went."""
        ...

    async def delete(self, tenant: str, document_id: str) -> int:
        """Delete all chunks of a document, staged ones included; return how many went."""
        ...

    async def scrub(self) -> None:
        """Take off the disk what deleted and overwritten chunks have left there, as far as it is this process's.

        For texts that must not have been kept; it may hold up other calls for seconds. A server that is
        asked over the network clears its disk by itself, some time later.
        """
        ...

    async def optimise(self) -> bool:
        """Bring the index into its fastest form, where that is this process's to do; return whether it was not.

        Answers and writes go on meanwhile.
        """
        ...

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return published chunks by cosine, best first."""
        ...

    async def sparse(self, vector: SparseVector, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return published chunks by sparse dot product, best first; chunks that score 0 are left out."""
        ...

    async def symbols(self, tokens: frozenset[str], scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return published chunks that carry any of these symbol tokens; the score is how many they carry."""
        ...

    async def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        """Return a document's published chunks in order; empty when the scope does not admit it."""
        ...

    async def at_places(self, places: Collection[tuple[str, int]], scope: Scope) -> list[Chunk]:
        """Return the published chunks at these places (document, ordinal) in order; those the scope leaves out are not.

        Chunks that were written before their place was recorded are not found.
        """
        ...

    async def count(self, scope: Scope) -> int:
        """Count published chunks in scope."""
        ...

    def scan(self, scope: Scope, batch: int = 256) -> AsyncIterator[list[Chunk]]:
        """Iterate over all published chunks in scope (evaluation, vocabulary)."""
        ...


@runtime_checkable
class ComparesSetup(Protocol):
    """What a store offers beside `VectorStore` when its collection may be set up otherwise than the settings say."""

    @property
    def differences(self) -> tuple[str, ...]:
        """In which settings the collection is another than it would be made now; it is left as it is."""
        ...
