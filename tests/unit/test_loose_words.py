"""Words in a looser writing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical import terms
from retrieval.rerankers.features import FEATURES, feature_matrix
from retrieval.rerankers.loose_words import loose_words
from retrieval.types import Candidate, Chunk


def candidate(text: str) -> Candidate:
    chunk = Chunk(
        chunk_id=text,
        tenant="acme",
        document_id="a" * 32,
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
    )
    return Candidate(chunk, {"sparse": 3.0}, {"sparse": 1}, 0.1)


def loose_coverage(question: str, *texts: str) -> list[float]:
    column = FEATURES.index("loose_coverage")
    return [float(row[column]) for row in feature_matrix(question, (), [candidate(text) for text in texts])]


def test_english_words_are_stems_and_cjk_terms_characters() -> None:
    assert loose_words(terms("Revenues increased by 1,452.4")) == {"revenu", "increas", "by", "1452.4"}
    assert loose_words(terms("蓍的别名")) == {"蓍", "的", "别", "名"}
    assert loose_words(["[CNY_238000000]", "q3"]) == {"[CNY_238000000]", "q3"}


def test_another_form_of_an_asked_word_counts() -> None:
    right, wrong = loose_coverage("What were the revenues?", "Revenue was 5 million.", "Costs were 5 million.")
    assert right == 1.0
    assert wrong == 0.0


def test_a_chinese_word_of_one_character_counts_where_it_is_rare() -> None:
    wrong = ["桑的叶子很大。", "槐的叶子很小。", "柳的叶子很长。"]
    right, *others = loose_coverage("蓍的叶子", "蓍为多年生草本。", *wrong)
    assert right > max(others)
    assert min(others) > 0


@given(st.text(max_size=60))
def test_any_text_has_loose_words_of_its_own_terms_alone(text: str) -> None:
    found = terms(text)
    assert bool(loose_words(found)) == bool(found)
    assert loose_words(found) == loose_words([*found, *found])
