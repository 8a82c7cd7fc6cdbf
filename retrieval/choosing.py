"""Which of the fused candidates are reranked."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.duplicates import Fingerprint
from retrieval.search_result import Dropped
from retrieval.types import Candidate


def choose(candidates: Sequence[Candidate], count: int) -> tuple[list[Candidate], list[Dropped]]:
    """Take the first `count` candidates that do not repeat one before them."""
    chosen: list[tuple[Candidate, Fingerprint]] = []
    dropped: list[Dropped] = []
    for candidate in candidates:
        if len(chosen) == count:
            dropped.append(Dropped(candidate, "below_rerank_k"))
            continue
        fingerprint = Fingerprint.of(candidate.chunk)
        twin = next((c for c, known in chosen if fingerprint.near(known)), None)
        if twin is not None:
            dropped.append(Dropped(candidate, "near_duplicate", of=twin.chunk.chunk_id))
        else:
            chosen.append((candidate, fingerprint))
    return [candidate for candidate, _ in chosen], dropped
