"""Our conditions and vectors in the words of qdrant-client, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.fusion import symbol_tokens
from retrieval.stores.conditions import AnyOf, Condition, MissingOr, SpanWithin
from retrieval.stores.payload import DENSE, FIRST, LAST, SPARSE, SYMBOL, check_owner, payload_of, symbol_terms
from retrieval.types import EncodedChunk, SparseVector, TextVectors

if TYPE_CHECKING:
    from qdrant_client import models


def filter_of(conditions: Sequence[Condition]) -> models.Filter:
    """Return the conditions, AND-ed."""
    from qdrant_client import models

    return models.Filter(must=[_translate(condition) for condition in conditions])


def _translate(condition: Condition) -> models.FieldCondition | models.Filter:
    from qdrant_client import models

    match condition:
        case AnyOf(field, values):
            return models.FieldCondition(key=field, match=models.MatchAny(any=[*values]))
        case SpanWithin():
            return _span_within(condition)
        case MissingOr(field, at_most, above):
            missing = models.IsEmptyCondition(is_empty=models.PayloadField(key=field))
            bound = models.Range(lte=at_most, gt=above)
            return models.Filter(should=[missing, models.FieldCondition(key=field, range=bound)])


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


def write_operations(
    batch: Sequence[EncodedChunk], known: dict[str, Any], encoder: EncoderInfo
) -> list[models.UpdateOperation]:
    """Insert new points as staged; update known ones without touching their state.

    A plain upsert of a known point would need its state read first, and would undo a `publish` that came in
    between.

    Raises:
        ValueError: a known point is another document's.
    """
    from qdrant_client import models

    new: list[models.PointStruct] = []
    moved: list[models.PointVectors] = []
    operations: list[models.UpdateOperation] = []
    for encoded in batch:
        chunk, named = encoded.chunk, _vectors(encoded)
        key = chunk.chunk_id
        if key not in known:
            new.append(models.PointStruct(id=key, vector=named, payload=payload_of(chunk, "staged", encoder)))
            continue
        check_owner(chunk, known[key])
        moved.append(models.PointVectors(id=key, vector=named))
        payload = models.SetPayload(payload=payload_of(chunk, None, encoder), points=[key])
        operations.append(models.SetPayloadOperation(set_payload=payload))
        if emptied := [name for name in (SPARSE, SYMBOL) if name not in named]:
            removal = models.DeleteVectors(points=[key], vector=emptied)
            operations.append(models.DeleteVectorsOperation(delete_vectors=removal))
    if moved:
        operations.append(models.UpdateVectorsOperation(update_vectors=models.UpdateVectors(points=moved)))
    if new:
        operations.append(models.UpsertOperation(upsert=models.PointsList(points=new)))
    return operations


def _vectors(encoded: EncodedChunk) -> dict[str, Any]:
    named: dict[str, Any] = {DENSE: floats(encoded.dense)}
    if len(encoded.sparse.indices):
        named[SPARSE] = sparse(encoded.sparse)
    if tokens := symbol_tokens(encoded.chunk):
        named[SYMBOL] = terms(tokens)
    return named


def stored_vectors(named: Any) -> TextVectors:
    """Read the vectors of a point."""
    from qdrant_client import models

    words = named.get(SPARSE) or models.SparseVector(indices=[], values=[])
    return TextVectors(
        np.asarray(named[DENSE], dtype=np.float32),
        SparseVector(np.asarray(words.indices, dtype=np.uint32), np.asarray(words.values, dtype=np.float32)),
    )


def floats(vector: NDArray[np.float32]) -> list[float]:
    """Return a dense vector."""
    return vector.astype(np.float32).ravel().tolist()


def sparse(vector: SparseVector) -> models.SparseVector:
    """Return a sparse vector."""
    from qdrant_client import models

    return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.astype(np.float32).tolist())


def terms(tokens: Sequence[str] | frozenset[str]) -> models.SparseVector:
    """Return symbol tokens as a sparse vector that counts the shared ones."""
    from qdrant_client import models

    indices = symbol_terms(tokens)
    return models.SparseVector(indices=indices, values=[1.0] * len(indices))
