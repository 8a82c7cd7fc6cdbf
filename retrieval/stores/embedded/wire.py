"""Our values in the plain form that crosses to the engine's process, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.fusion import symbol_tokens
from retrieval.stores.conditions import AnyOf, Condition, MissingOr, SpanWithin, visible_conditions
from retrieval.stores.payload import FIRST, KEYWORD_FIELDS, LAST, NUMBER_FIELDS, State, payload_of, symbol_terms
from retrieval.types import EncodedChunk, Scope, SparseVector, TextVectors

Terms = tuple[bytes, bytes]


def schema(encoder: EncoderInfo, ef: int) -> dict[str, Any]:
    """Return what a shard must hold for this encoder; `ef` is how widely its graphs are searched."""
    return {
        "dim": encoder.dim,
        "bm25": encoder.sparse == "bm25",
        "keywords": list(KEYWORD_FIELDS),
        "numbers": list(NUMBER_FIELDS),
        "ef": ef,
    }


def conditions(wanted: Iterable[Condition]) -> list[tuple[Any, ...]]:
    """Return conditions as `engine.Condition`."""
    return [_condition(each) for each in wanted]


def _condition(condition: Condition) -> tuple[Any, ...]:
    match condition:
        case AnyOf(field, values):
            return field, values
        case MissingOr(field, at_most, above):
            return field, at_most, above
        case SpanWithin(field, first, last):
            return field, FIRST, LAST, (first, last)


def readers(scope: Scope) -> tuple[str, list[str], list[tuple[Any, ...]]]:
    """Return whose chunks word statistics are taken from."""
    visible = conditions(visible_conditions(scope))
    return scope.tenant, sorted(scope.access), visible


def point(encoded: EncodedChunk, state: State, encoder: EncoderInfo) -> tuple[Any, ...]:
    """Return a chunk as `engine.WirePoint`."""
    tokens = symbol_tokens(encoded.chunk)
    return (
        encoded.chunk.chunk_id,
        floats(encoded.dense),
        terms(encoded.sparse),
        symbols(tokens) if tokens else None,
        payload_of(encoded.chunk, state, encoder),
    )


def floats(vector: NDArray[np.float32]) -> bytes:
    """Return a dense vector."""
    return vector.astype(np.float32).tobytes()


def terms(vector: SparseVector) -> Terms:
    """Return a sparse vector."""
    return vector.indices.astype(np.uint32).tobytes(), floats(vector.values)


def symbols(tokens: Sequence[str] | frozenset[str]) -> Terms:
    """Return symbol tokens as a sparse vector that counts the shared ones."""
    indices = np.asarray(symbol_terms(tokens), dtype=np.uint32)
    return terms(SparseVector(indices, np.ones(len(indices), dtype=np.float32)))


def vectors(dense: bytes, sparse: Terms) -> TextVectors:
    """Read the vectors of a stored text."""
    found = SparseVector(np.frombuffer(sparse[0], dtype=np.uint32), np.frombuffer(sparse[1], dtype=np.float32))
    return TextVectors(np.frombuffer(dense, dtype=np.float32), found)
