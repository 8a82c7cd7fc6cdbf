"""Ranked lists: one order for equal scores, symbol counting, weighted reciprocal rank fusion. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from retrieval.types import Candidate, Channel, Chunk, ScoredChunk


def best_first(hits: Iterable[ScoredChunk], limit: int | None = None) -> list[ScoredChunk]:
    """Sort by score, equal scores by chunk id, so that one state of the index gives one order."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:limit]


def symbol_tokens(chunk: Chunk) -> list[str]:
    """Return the distinct symbol tokens of a chunk, sorted."""
    return sorted({symbol.token for symbol in chunk.symbols})


def rank_by_symbols(chunks: Iterable[Chunk], tokens: frozenset[str], limit: int | None = None) -> list[ScoredChunk]:
    """Score chunks by how many of `tokens` they carry; those that carry none are left out."""
    scored = ((chunk, len(tokens.intersection(symbol_tokens(chunk)))) for chunk in chunks)
    return best_first((ScoredChunk(chunk, float(score)) for chunk, score in scored if score), limit)


def rank_by_rarity(chunks: Iterable[Chunk], tokens: frozenset[str]) -> list[ScoredChunk]:
    """Score chunks by the share of the asked symbols that they carry, each symbol by how few of the chunks carry it.

    A symbol that more than half of the chunks carry (the year of a whole report) tells nothing and is left out, and
    so is a chunk that carries none of the others.
    """
    carried = [(chunk, tokens.intersection(symbol_tokens(chunk))) for chunk in chunks]
    held = Counter(token for _, own in carried for token in own)
    n = len(carried)
    rarity = {t: log(1 + (n - count + 0.5) / (count + 0.5)) for t, count in held.items() if 2 * count <= n}
    total = sum(rarity[token] for token in sorted(rarity))
    scored = ((chunk, sum(rarity.get(token, 0.0) for token in sorted(own))) for chunk, own in carried)
    return best_first(ScoredChunk(chunk, score / total) for chunk, score in scored if score > 0)


def ranked_by_symbols(
    found: Iterable[Chunk],
    tokens: frozenset[str],
    carrying: Sequence[ScoredChunk],
    others: Sequence[Sequence[ScoredChunk]],
) -> list[ScoredChunk]:
    """Rank what was found by its symbols; what nothing but a symbol found comes last, however common the symbol.

    Without it a question that is nothing but a number would lose the only chunk that holds it.
    """
    ranked = rank_by_rarity(found, tokens)
    known = {hit.chunk.chunk_id for hits in (ranked, *others) for hit in hits}
    return [*ranked, *(ScoredChunk(hit.chunk, 0.0) for hit in carrying if hit.chunk.chunk_id not in known)]


def without_cut_tie(hits: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
    """Drop the last group of equal scores when the limit may have cut through it.

    Which members of such a group came back is chance, not relevance.
    """
    if len(hits) < limit or not hits:
        return list(hits)
    return [hit for hit in hits if hit.score > hits[-1].score]


def fuse(
    channels: Mapping[Channel, Sequence[ScoredChunk]], weights: Mapping[Channel, float], rrf_k: int
) -> list[Candidate]:
    """Fuse channel lists by weighted reciprocal rank, best first.

    Scores of different channels are never compared, only ranks: a chunk gets
    `weight / (rrf_k + rank)` from every channel that found it (Cormack, Clarke and Büttcher,
    SIGIR 2009). Ranks are 1-based; equal scores share the better rank, so that a channel
    that cannot tell two chunks apart does not order them either.

    Args:
        channels: every list sorted by score, best first.
        weights: per channel; one that is missing or 0 takes no part in the score.
        rrf_k: damps the lead of the first ranks.
    """
    chunks: dict[str, Chunk] = {}
    scores: dict[str, dict[Channel, float]] = {}
    ranks: dict[str, dict[Channel, int]] = {}
    for channel, hits in channels.items():
        rank = 0
        for position, hit in enumerate(hits, start=1):
            if position == 1 or hit.score != hits[position - 2].score:
                rank = position
            chunk_id = hit.chunk.chunk_id
            chunks.setdefault(chunk_id, hit.chunk)
            scores.setdefault(chunk_id, {}).setdefault(channel, hit.score)
            ranks.setdefault(chunk_id, {}).setdefault(channel, rank)
    candidates = [
        Candidate(
            chunk=chunk,
            scores=scores[chunk_id],
            ranks=ranks[chunk_id],
            fused=sum(weights.get(channel, 0.0) / (rrf_k + rank) for channel, rank in ranks[chunk_id].items()),
        )
        for chunk_id, chunk in chunks.items()
    ]
    return sorted(candidates, key=lambda candidate: (-candidate.fused, candidate.chunk.chunk_id))
