"""The lexical encoder: BM25 alone, for machines without any dense model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrieval.encoder import EncoderInfo
from retrieval.lexical import LEXICAL_REVISION, document_weights, query_weights, terms
from retrieval.types import Encoding

_LONGEST_TERM = 24
"""Characters per term that no text reaches on average: a chunk's budget in terms thereby bounds its size."""


class LexicalEncoder:
    """BM25 weights beside a constant dense vector that nobody searches. Safe to share between threads."""

    def __init__(self, *, max_tokens: int = 512) -> None:
        self._info = EncoderInfo(
            name="lexical",
            revision=LEXICAL_REVISION,
            dim=1,
            max_tokens=max_tokens,
            sparse="bm25",
            dense_searchable=False,
        )

    @property
    def info(self) -> EncoderInfo:
        """Name, revision and sizes. `max_tokens` bounds chunks alone: no text is cut."""
        return self._info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Return BM25 document weights; every dense row is `[1.0]`."""
        return Encoding(np.ones((len(texts), 1), dtype=np.float32), tuple(document_weights(text) for text in texts))

    def encode_query(self, text: str) -> Encoding:
        """Return the question's term counts; the dense row is `[1.0]`."""
        return Encoding(np.ones((1, 1), dtype=np.float32), (query_weights(text),))

    def count_tokens(self, text: str) -> int:
        """Count terms; text that has next to none, a run of letters without spaces, counts by its length."""
        return max(len(terms(text)), len(text) // _LONGEST_TERM)
