"""Passages of the other language are judged by the question's words in it, names, and how they stand out."""

from __future__ import annotations

import pytest

from retrieval.choosing import choose
from retrieval.dictionary import cc_cedict
from retrieval.foreign import foreign_relevance
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.foreign import CAP, ForeignJudge, foreign_features
from retrieval.translating import Translator
from retrieval.types import Candidate, Channel, Chunk

TRANSLATOR = Translator(cc_cedict())
JUDGE = ForeignJudge(TRANSLATOR)


def _candidate(text: str, **scores: float) -> Candidate:
    chunk = Chunk(
        chunk_id=text[:30], tenant="t", document_id="d", ordinal=0, text=text, index_text=text, start_char=0, end_char=1
    )
    channels: tuple[Channel, ...] = ("dense", "foreign", "sparse", "translated")
    return Candidate(chunk, {channel: scores[channel] for channel in channels if channel in scores}, {}, 0.0)


def test_a_text_in_the_questions_words_comes_before_one_that_is_only_near() -> None:
    right = _candidate("Employees have fifteen days of annual leave.", foreign=0.80, translated=4.0)
    near = _candidate("Employees travel by train.", foreign=0.81)
    first, second = JUDGE.score("员工年假", [right, near])
    assert first > 0.5 > 0.1 > second


def test_a_name_written_alike_counts() -> None:
    question = "Nexon 公司是什么时候成立的？"
    named, other = JUDGE.score(
        question,
        [
            _candidate("Nexon was established in 1994.", foreign=0.8, translated=2.0),
            _candidate("The club was established in 1994.", foreign=0.8, translated=2.0),
        ],
    )
    assert named > 0.5 > other


def test_without_a_word_to_translate_the_cosine_speaks() -> None:
    candidate = _candidate("Nexon", foreign=0.81)
    (score,) = JUDGE.score("瓛瓛瓛瓛", [candidate])
    assert score == pytest.approx(foreign_relevance(0.81))


def test_a_lead_in_cosine_is_bounded_so_that_it_never_decides_alone() -> None:
    first, second = JUDGE.score("员工年假", [_candidate("a b", foreign=0.9), _candidate("c d", foreign=0.2)])
    assert 0.5 > first > second


def test_features_of_one_candidate_alone_have_no_lead() -> None:
    ((lead, translated, names, coverage),) = foreign_features("年假", (), [_candidate("leave", foreign=0.8)])
    assert (lead, translated, names, coverage) == (0.0, 0.0, 0.0, 0.0)


def test_both_languages_are_scored_in_the_candidates_order_and_apart() -> None:
    reranker = FeatureReranker.beside("embedded")
    home = _candidate("员工每年享有十五天年假。", dense=0.9, sparse=6.0)
    abroad = _candidate("Employees have fifteen days of annual leave.", foreign=0.80, translated=4.0)
    question = "员工年假"
    assert reranker.score(question, (), [abroad, home]) == reranker.score(question, (), [home, abroad])[::-1]
    assert reranker.score(question, (), [abroad, home])[0] == JUDGE.score(question, [abroad])[0]
    assert 0.4 < JUDGE.score(question, [abroad])[0] <= CAP


def _ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.chunk.chunk_id for candidate in candidates]


def test_the_other_language_has_places_of_its_own_among_the_reranked() -> None:
    home = [_candidate(f"甲{n}", dense=0.9) for n in range(4)]
    abroad = [_candidate(f"a{n}", foreign=0.8) for n in range(4)]
    chosen, dropped = choose([*home, *abroad], 2, 1)
    assert _ids(chosen) == ["甲0", "甲1", "a0"]
    assert {each.reason for each in dropped} == {"below_rerank_k"}
    chosen, _ = choose([*abroad, *home], 2, 1)
    assert _ids(chosen) == ["a0", "甲0", "甲1"]


def test_places_left_free_by_the_questions_language_go_to_the_other() -> None:
    chosen, _ = choose([_candidate(f"a{n}", foreign=0.8) for n in range(5)] + [_candidate("甲", dense=0.9)], 3, 1)
    assert _ids(chosen) == ["a0", "a1", "a2", "甲"]
