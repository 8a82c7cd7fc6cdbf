"""Passages in the other language are found and judged on a scale of their own."""

from __future__ import annotations

import pytest

from retrieval.foreign import foreign_relevance, other_language


@pytest.mark.parametrize(
    ("question", "encoder", "expected"),
    [
        ("年假有几天？", "embedded", "en"),
        ("How many days of leave?", "embedded", "zh"),
        ("12345", "embedded", None),
        ("年假有几天？", "bge-m3", None),
        ("年假有几天？", "lexical", None),
    ],
)
def test_other_language_is_searched_apart_where_the_encoder_needs_it(
    question: str, encoder: str, expected: str | None
) -> None:
    assert other_language(question, encoder) == expected


def test_foreign_relevance_rises_with_the_cosine_and_is_never_certain() -> None:
    values = [foreign_relevance(c) for c in (0.6, 0.79, 0.797, 0.81, 0.87, 1.0)]
    assert values == sorted(values)
    assert values[2] == pytest.approx(0.45)
    assert values[1] < 0.3 < 0.7 < values[3]
    assert values[-1] <= 0.9
