"""What a chunk becomes in a store: indexed payload fields beside the whole chunk as JSON.

Owned by the stores, shared so that every store filters on the same fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from hashlib import blake2b
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.fusion import symbol_tokens
from retrieval.stores.stated_periods import cells, stated_spans
from retrieval.types import Chunk, EncodedChunk

State = Literal["staged", "published"]

DENSE: Final = "dense"
SPARSE: Final = "sparse"
SYMBOL: Final = "symbol"
"""Names of the vectors of a point."""

TENANT: Final = "tenant"
DOCUMENT: Final = "document_id"
STATE: Final = "state"
"""`staged` or `published`. A keyword, because qdrant-edge-py 0.9.0 turns `MatchValue(True)`
into the integer 1, which matches no boolean."""
LABELS: Final = "labels"
ACCESS: Final = "access"
LANGUAGE: Final = "language"
AUTHORITY: Final = "authority"
SYMBOLS: Final = "symbols"
EFFECTIVE_FROM: Final = "effective_from"
EFFECTIVE_TO: Final = "effective_to"
ENCODED_FROM: Final = "encoded_from"
"""Key of the text that the vectors were made of (`encoding_key`)."""
PERIODS: Final = "periods"
"""Every day, month, quarter, half and year of the calendar that holds a period the chunk states."""
SPANS: Final = "spans"
"""The periods that the chunk states, each an object with its `first` and `last` day as numbers."""
FIRST: Final = "first"
LAST: Final = "last"
PLACE: Final = "place"
"""Document and ordinal in one word (`place_key`)."""
CHUNK: Final = "chunk"

KEYWORD_FIELDS: Final = (DOCUMENT, STATE, LABELS, ACCESS, LANGUAGE, AUTHORITY, SYMBOLS, PERIODS, ENCODED_FROM, PLACE)
"""Fields with a keyword index; `tenant` has one too, marked as the tenant key."""
NUMBER_FIELDS: Final = (EFFECTIVE_FROM, EFFECTIVE_TO, f"{SPANS}[].{FIRST}", f"{SPANS}[].{LAST}")


def date_number(day: date) -> int:
    """Return a date as the number the stores compare: 2024-07-01 → 20240701."""
    return day.year * 10_000 + day.month * 100 + day.day


def symbol_terms(tokens: Iterable[str]) -> list[int]:
    """Return the sparse indices of symbol tokens, distinct and sorted.

    Two tokens may share an index (32 bits); `fusion.rank_by_symbols` counts again on the tokens themselves.
    """
    return sorted({int.from_bytes(blake2b(token.encode(), digest_size=4).digest(), "big") for token in tokens})


def encoding_key(index_text: str, encoder: EncoderInfo) -> str:
    """Return what equal vectors have in common, given that one collection has one encoder.

    The token limit takes part: under another one a long text is cut elsewhere.
    """
    return blake2b(f"{encoder.max_tokens}\0{index_text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def place_key(document_id: str, ordinal: int) -> str:
    """Return what names the place of a chunk in its document."""
    return f"{document_id}#{ordinal}"


def payload_of(chunk: Chunk, state: State | None, encoder: EncoderInfo) -> dict[str, Any]:
    """Return the payload of a chunk; with `state` None the field is left out, for updates that keep it.

    A missing date is written as null, so that an update also clears it.
    """
    spans = stated_spans(chunk)
    payload: dict[str, Any] = {
        TENANT: chunk.tenant,
        DOCUMENT: chunk.document_id,
        LABELS: sorted(chunk.labels),
        ACCESS: sorted(chunk.access),
        LANGUAGE: chunk.language,
        AUTHORITY: chunk.authority,
        SYMBOLS: symbol_tokens(chunk),
        EFFECTIVE_FROM: None if chunk.effective_from is None else date_number(chunk.effective_from),
        EFFECTIVE_TO: None if chunk.effective_to is None else date_number(chunk.effective_to),
        PERIODS: sorted({cell for span in spans for cell in cells(span)}),
        SPANS: [{FIRST: date_number(span.first), LAST: date_number(span.last)} for span in spans],
        ENCODED_FROM: encoding_key(chunk.index_text, encoder),
        PLACE: place_key(chunk.document_id, chunk.ordinal),
        CHUNK: chunk.model_dump_json(),
    }
    if state is not None:
        payload[STATE] = state
    return payload


def chunk_of(payload: Mapping[str, Any] | None) -> Chunk:
    """Read the chunk back from a payload."""
    assert payload is not None, "queries ask for the chunk field"
    return Chunk.model_validate_json(payload[CHUNK])


def check_owner(chunk: Chunk, payload: Mapping[str, Any] | None) -> None:
    """Refuse to overwrite a point of another tenant or document.

    Raises:
        ValueError: the stored point under this chunk id is not this document's.
    """
    stored = payload or {}
    if (stored.get(TENANT), stored.get(DOCUMENT)) != (chunk.tenant, chunk.document_id):
        raise ValueError(f"chunk id {chunk.chunk_id} is taken by another document")


def check_dimension(vector: NDArray[np.float32], dim: int) -> None:
    """Refuse a dense vector that is not of the collection's dimension.

    Raises:
        ValueError: another size.
    """
    if vector.size != dim:
        raise ValueError(f"the dense vector has {vector.size} dimensions, the collection {dim}")


def distinct(chunks: Sequence[EncodedChunk]) -> list[EncodedChunk]:
    """Return the chunks with each id once; of equal ids the last stands."""
    return list({encoded.chunk.chunk_id: encoded for encoded in chunks}.values())
