"""What a search returns, with everything needed to explain it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.types import Candidate, Passage, Symbol

DropReason = Literal["not_live", "near_duplicate", "below_rerank_k", "below_top_k"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that did not become a passage, and why; `of` names the chunk a near-duplicate repeats."""

    candidate: Candidate
    reason: DropReason
    of: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """A chunk that is shown beside the best ones: as a passage that contradicts `of`, or as context of it."""

    chunk_id: str
    reason: Literal["conflict", "context"]
    of: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, and everything needed to explain it."""

    passages: tuple[Passage, ...]
    """At most `top_k`, best first, labelled in the run's book; behind them at most `conflict_extra` more that
    contradict one of these."""
    candidates: tuple[Candidate, ...]
    """All fused candidates with their score and rank per channel, best first."""
    reranked: dict[str, float]
    """Reranker score by chunk id, for the candidates that were reranked."""
    dropped: tuple[Dropped, ...]
    latencies_ms: dict[str, float]
    """By stage: symbolise, encode, dense, sparse, symbol, fuse, live, rerank, conflicts, neighbours, total."""
    symbols: tuple[Symbol, ...]
    """Symbols of the question."""
    added: tuple[Added, ...] = ()
    """What is shown beyond the best ones, and why."""
    index_text: str = ""
    """The question as it was encoded."""
    cached: bool = False
    """True when it was found before, for the same question of the same principal."""
    knowledge_version: int | None = None
    """What of the documents it was found in; None where nobody counts."""
