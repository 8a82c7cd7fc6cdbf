"""A reranker that keeps the order of fusion: search without one, for comparison."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.types import Candidate, Symbol


class FusedOrder:
    """Scores candidates by their fused score, relative to the best."""

    @property
    def name(self) -> str:
        """The name under which reports show it."""
        return "none"

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        """Return the fused scores divided by the largest; they compare only within one question."""
        best = max((candidate.fused for candidate in candidates), default=0.0)
        return [candidate.fused / best if best else 0.0 for candidate in candidates]
