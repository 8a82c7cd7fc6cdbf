"""Term counts by readers: what the engine would count over what an asker may see."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.stores.embedded import words
from retrieval.stores.embedded.words import TermCounts, Words


@given(st.lists(st.tuples(st.sets(st.integers(0, 2**32 - 1), max_size=6), st.booleans()), max_size=60))
def test_counts_are_those_of_a_counter_whether_packed_or_not(chunks: list[tuple[set[int], bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_LOOSE", 4)
        counts, expected, number = TermCounts(), Counter[int](), 0
        for terms, goes_again in chunks:
            counts.add(terms, 1)
            expected.update(terms)
            number += 1
            if goes_again:
                counts.add(terms, -1)
                expected.subtract(terms)
                number -= 1
    assert counts.chunks == number
    assert {term: counts.of(term) for term in expected} == expected
    assert counts.of(2**32) == 0


def test_idf_counts_what_the_asker_may_see_and_nothing_else() -> None:
    known = Words()
    known.add("acme", ["everyone"], [1, 2])
    known.add("acme", ["group:board", "user:eve"], [2])
    known.add("acme", ["user:bob"], [2, 3])
    known.add("other", ["everyone"], [1, 2, 3])
    assert known.idf("acme", frozenset({"everyone", "user:eve"}), [1, 2, 3]) == [
        log(1 + (2 - n + 0.5) / (n + 0.5)) for n in (1, 2, 0)
    ]
    assert known.idf("nobody", frozenset({"everyone"}), [1]) == [log(2)]


def test_a_chunk_counted_out_leaves_no_trace() -> None:
    known = Words()
    known.add("acme", ["everyone"], [1])
    known.add("acme", ["everyone"], [1, 2])
    known.add("acme", ["everyone"], [1, 2], by=-1)
    assert known.idf("acme", frozenset({"everyone"}), [1, 2]) == [log(1 + 0.5 / 1.5), log(1 + 1.5 / 0.5)]


def test_points_that_were_not_reached_are_not_covered() -> None:
    known = Words()
    assert not known.covers("a")
    known.reach("b")
    assert known.covers("a")
    assert not known.covers("b")
    known.reach(None)
    assert known.covers("z")
    assert known.complete
