"""Passages in the other language are found and judged on a scale of their own."""

from __future__ import annotations

import pytest

from retrieval.foreign import foreign_relevance, other_language, shared_names


@pytest.mark.parametrize(
    ("question", "encoder", "expected"),
    [
        ("年假有几天？", "embedded", "en"),
        ("How many days of leave?", "embedded", "zh"),
        ("12345", "embedded", None),
        ("年假有几天？", "bge-m3", None),
        ("年假有几天？", "lexical", "en"),
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


def test_shared_names_count_what_is_written_alike_by_rarity() -> None:
    held = [{"nexon", "游戏", "2003"}, {"2003", "公司"}, {"2003"}]
    first, second, third = shared_names(["nexon", "2003", "游戏", "which"], held)
    assert first > 1.0
    assert second == third < 0.2


def test_shared_names_of_nothing() -> None:
    assert shared_names(["a"], []) == []
    assert shared_names([], [{"a"}]) == [0.0]


def test_a_shared_name_lifts_a_passage_of_the_other_language_a_little() -> None:
    assert foreign_relevance(0.79) < foreign_relevance(0.79, 1.0) < foreign_relevance(0.80, 1.0)
    assert foreign_relevance(0.75, 99.0) < 0.05
