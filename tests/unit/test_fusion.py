from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import (
    best_first,
    fuse,
    rank_by_rarity,
    rank_by_symbols,
    ranked_by_symbols,
    without_cut_tie,
)
from retrieval.types import Chunk, ScoredChunk, Symbol

WEIGHTS = {"dense": 1.0, "sparse": 1.0, "symbol": 0.6}


def chunk(chunk_id: str, *tokens: str) -> Chunk:
    symbols = tuple(Symbol(cls="code", kind="k", normal=t, token=t, start=0, end=1, surface=t) for t in tokens)
    return Chunk(
        chunk_id=chunk_id,
        tenant="t",
        document_id="d",
        ordinal=0,
        text=chunk_id,
        index_text=chunk_id,
        start_char=0,
        end_char=1,
        symbols=symbols,
    )


def hits(**scores: float) -> list[ScoredChunk]:
    return [ScoredChunk(chunk(name), score) for name, score in scores.items()]


def test_fuse_prefers_what_two_channels_found() -> None:
    fused = fuse({"dense": hits(a=0.9, b=0.8), "sparse": hits(b=7.0, c=6.0)}, WEIGHTS, 60)
    assert [c.chunk.chunk_id for c in fused] == ["b", "a", "c"]
    assert fused[0].fused == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].scores == {"dense": 0.8, "sparse": 7.0}
    assert fused[0].ranks == {"dense": 2, "sparse": 1}


def test_fuse_weighs_channels() -> None:
    channels = {"dense": hits(a=0.9), "symbol": hits(b=2.0)}
    assert [c.chunk.chunk_id for c in fuse(channels, WEIGHTS, 60)] == ["a", "b"]
    assert [c.chunk.chunk_id for c in fuse(channels, {"dense": 0.0, "symbol": 1.0}, 60)] == ["b", "a"]


def test_fuse_gives_equal_scores_the_same_rank() -> None:
    [first, second, third] = fuse({"symbol": hits(a=2.0, b=2.0, c=1.0)}, WEIGHTS, 60)
    assert [first.ranks["symbol"], second.ranks["symbol"], third.ranks["symbol"]] == [1, 1, 3]
    assert first.fused == second.fused > third.fused


def test_fuse_of_nothing_is_nothing() -> None:
    assert fuse({}, WEIGHTS, 60) == []
    assert fuse({"dense": []}, WEIGHTS, 60) == []


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), unique_by=lambda p: p[0]), max_size=2))
def test_fuse_is_bounded_sorted_and_complete(lists: list[list[tuple[str, float]]]) -> None:
    channels = dict(
        zip(("dense", "sparse"), [best_first(ScoredChunk(chunk(n), s) for n, s in one) for one in lists], strict=False)
    )
    fused = fuse(channels, WEIGHTS, 60)
    assert {c.chunk.chunk_id for c in fused} == {name for one in lists for name, _ in one}
    assert [c.fused for c in fused] == sorted((c.fused for c in fused), reverse=True)
    assert all(0 < c.fused <= 2 / 61 for c in fused)


def test_rank_by_symbols_counts_distinct_tokens_and_leaves_out_the_rest() -> None:
    chunks = [chunk("b", "[X]", "[X]"), chunk("a", "[X]", "[Y]"), chunk("c", "[Z]"), chunk("d", "[Y]")]
    ranked = rank_by_symbols(chunks, frozenset({"[X]", "[Y]"}))
    assert [(hit.chunk.chunk_id, hit.score) for hit in ranked] == [("a", 2.0), ("b", 1.0), ("d", 1.0)]


def test_without_cut_tie_drops_the_group_the_limit_cut_through() -> None:
    full = hits(a=2.0, b=1.0, c=1.0)
    assert [hit.chunk.chunk_id for hit in without_cut_tie(full, 3)] == ["a"]
    assert without_cut_tie(full, 4) == full
    assert without_cut_tie([], 3) == []


def test_rank_by_rarity_puts_the_rare_symbol_before_two_common_ones() -> None:
    chunks = [chunk("a", "x", "y"), chunk("b", "x", "y"), chunk("c", "z"), chunk("d"), chunk("e"), chunk("f")]
    ranked = rank_by_rarity(chunks, frozenset("xyz"))
    assert {hit.chunk.chunk_id for hit in ranked} == {"a", "b", "c"}
    alone = rank_by_rarity([chunk("a", "x"), chunk("b", "x"), chunk("c", "z"), chunk("d")], frozenset("xz"))
    assert alone[0].chunk.chunk_id == "c"


def test_rank_by_rarity_leaves_out_what_most_carry() -> None:
    chunks = [chunk("a", "year"), chunk("b", "year", "code"), chunk("c", "year")]
    [only] = rank_by_rarity(chunks, frozenset({"year", "code"}))
    assert (only.chunk.chunk_id, only.score) == ("b", 1.0)


def test_rank_by_rarity_of_nothing_is_empty() -> None:
    assert rank_by_rarity([], frozenset({"x"})) == []
    assert rank_by_rarity([chunk("a")], frozenset({"x"})) == []


def test_what_only_a_symbol_found_stays_though_all_carry_the_symbol() -> None:
    alone, elsewhere = chunk("a", "x"), chunk("b", "x")
    tokens = frozenset({"x"})
    kept = ranked_by_symbols(
        [alone, elsewhere],
        tokens,
        [ScoredChunk(alone, 1.0), ScoredChunk(elsewhere, 1.0)],
        [[ScoredChunk(elsewhere, 3.0)]],
    )
    assert [(hit.chunk.chunk_id, hit.score) for hit in kept] == [("a", 0.0)]


def test_what_only_a_common_symbol_found_comes_behind_the_rare_ones() -> None:
    chunks = [chunk("a", "x"), chunk("b", "x", "rare"), chunk("c", "x")]
    kept = ranked_by_symbols(chunks, frozenset({"x", "rare"}), [ScoredChunk(c, 1.0) for c in chunks], [])
    assert [hit.chunk.chunk_id for hit in kept] == ["b", "a", "c"]
