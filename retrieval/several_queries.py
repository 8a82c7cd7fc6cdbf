"""Several questions asked as one: their first stages fused, and what each of them makes of a candidate."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.first_stage import FirstStage
from retrieval.types import Candidate, Symbol


def fuse_stages(stages: Sequence[FirstStage], rrf_k: int) -> FirstStage:
    """Fuse the first stages of one question's wordings by reciprocal rank; scores and ranks are the best per channel.

    Nothing changes where there is one. Question and symbols are those of the first, with the symbols that
    only the others name; latencies add up.
    """
    first = stages[0]
    if len(stages) == 1:
        return first
    found: dict[str, Candidate] = {}
    for stage in stages:
        for rank, candidate in enumerate(stage.candidates, start=1):
            gain = 1 / (rrf_k + rank)
            known = found.get(candidate.chunk.chunk_id)
            found[candidate.chunk.chunk_id] = _added(known, candidate, gain)
    symbols: dict[str, Symbol] = {symbol.token: symbol for stage in reversed(stages) for symbol in stage.symbols}
    latencies: dict[str, float] = {}
    for stage in stages:
        for name, value in stage.latencies_ms.items():
            latencies[name] = latencies.get(name, 0.0) + value
    return FirstStage(
        scope=first.scope,
        index_text=first.index_text,
        symbols=tuple(symbols.values()),
        candidates=tuple(sorted(found.values(), key=lambda c: (-c.fused, c.chunk.chunk_id))),
        latencies_ms=latencies,
    )


def _added(known: Candidate | None, new: Candidate, gain: float) -> Candidate:
    if known is None:
        return Candidate(new.chunk, new.scores, new.ranks, gain)
    scores, ranks = dict(known.scores), dict(known.ranks)
    for channel, score in new.scores.items():
        scores[channel] = max(score, scores.get(channel, score))
    for channel, rank in new.ranks.items():
        ranks[channel] = min(rank, ranks.get(channel, rank))
    return Candidate(new.chunk, scores, ranks, known.fused + gain)


def own_candidates(stage: FirstStage, chosen: Sequence[Candidate]) -> list[Candidate]:
    """Return those of the chosen candidates that a stage found itself, with its own scores, in the order chosen."""
    own = {candidate.chunk.chunk_id: candidate for candidate in stage.candidates}
    return [own[c.chunk.chunk_id] for c in chosen if c.chunk.chunk_id in own]
