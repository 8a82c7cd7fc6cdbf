from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders.batches import batches_of_like_length


@given(
    st.lists(st.integers(0, 9000), max_size=60),
    st.integers(1, 20),
    st.integers(1, 9000),
)
def test_batches_hold_every_row_once_within_their_bounds(lengths: list[int], rows: int, tokens: int) -> None:
    batches = list(batches_of_like_length(lengths, rows, most_tokens=tokens))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    order = [lengths[row] for batch in batches for row in batch]
    assert order == sorted(lengths, reverse=True)
    for batch in batches:
        assert 1 <= len(batch) <= rows
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens


def test_batches_of_long_texts_are_of_like_length_and_short_ones_share() -> None:
    assert list(batches_of_like_length([5, 400, 90, 390, 7], 8)) == [[1, 3], [2, 4, 0]]
    assert list(batches_of_like_length([10, 10, 10], 2)) == [[0, 1], [2]]
    assert list(batches_of_like_length([], 4)) == []
