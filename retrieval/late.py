"""Rescoring by a vector per token: how much of the question each candidate covers, word by word.

Off by default. The vectors of candidates are made when they are needed: kept in the index they would take some
400 times the room of the dense vectors (a chunk of 400 tokens at 1024 dimensions: 0.8 MB in half precision).
"""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.encoder import Encoder, ModelThread, MultiVector
from retrieval.settings import SearchSettings
from retrieval.types import Candidate


class LateRescorer:
    """Blends the reranker's scores with those of an encoder that has vectors per token."""

    def __init__(self, encoder: Encoder, thread: ModelThread, settings: SearchSettings) -> None:
        wanted = settings.multi_vector_weight > 0 and any(settings.multi_vector_modes)
        self._encoder = encoder if wanted and isinstance(encoder, MultiVector) else None
        self._thread = thread
        self._weight, self._modes = settings.multi_vector_weight, settings.multi_vector_modes

    async def rescore(self, question: str, candidates: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
        """Return the candidates' scores, in their order, 0 to 1 as `scores` are; unchanged while this is off.

        Args:
            question: as it was encoded.
            candidates: what was reranked.
            scores: the reranker's.
        """
        if self._encoder is None or not candidates:
            return list(scores)
        texts = [candidate.chunk.index_text for candidate in candidates]
        late = await self._thread.run(self._encoder.late_scores, question, texts, self._modes)
        return [
            (1 - self._weight) * score + self._weight * min(max(own, 0.0), 1.0)
            for score, own in zip(scores, late, strict=True)
        ]
