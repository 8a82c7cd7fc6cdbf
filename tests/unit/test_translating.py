"""Questions are translated word by word, for search in the other language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.dictionary import Dictionary, cc_cedict
from retrieval.lexical import document_weights, terms
from retrieval.translating import Translator, query_vector
from retrieval.types import Language

ENTRIES = """
淨利潤 净利润 [x] /net profit/
利潤 利润 [x] /profit/
公司 公司 [x] /company; firm/
申報 申报 [x] /to declare/
增長 增长 [x] /to grow; growth/
的 的 [x] /of; ~'s/
"""
SMALL = Translator(Dictionary(lambda: ENTRIES))
WHOLE = Translator(cc_cedict())


def _said(words: str, text: str) -> set[str]:
    held = set(terms(text))
    return {word.word for word in SMALL.translate(words, "en") if word.said_in(held)}


def test_a_chinese_question_is_cut_into_the_longest_words() -> None:
    assert [word.word for word in SMALL.translate("公司的净利润增长", "en")] == ["公司", "净利润", "增长"]


def test_traditional_and_full_width_questions_are_read_alike() -> None:
    assert SMALL.translate("淨利潤", "en") == SMALL.translate("净利润", "en")
    assert SMALL.translate("Ｐｒｏｆｉｔ", "zh") == SMALL.translate("profit", "zh")


def test_a_text_says_a_word_in_any_of_its_meanings_and_inflections() -> None:
    assert _said("公司净利润", "The firms declared net profits.") == {"公司", "净利润"}
    assert _said("申报", "It declared, declares and is declaring.") == {"申报"}
    assert _said("净利润", "profit") == set(), "one word of two is not the meaning"


def test_an_english_question_finds_the_words_of_its_phrases_and_base_forms() -> None:
    found = SMALL.translate("Which companies declared net profit?", "zh")
    assert [word.word for word in found] == ["companies", "declared", "net profit"]
    assert found[-1].said_in(set(terms("本期净利润")))
    assert not found[-1].said_in(set(terms("利润")))


def test_function_words_and_other_languages_are_not_translated() -> None:
    assert SMALL.translate("的", "en") == ()
    assert SMALL.translate("the of", "zh") == ()
    assert SMALL.translate("公司", "other") == ()


def test_the_question_vector_asks_for_every_form_with_a_weight_that_meanings_share() -> None:
    vector = query_vector(SMALL.translate("公司", "en"))
    held = document_weights("company firm")
    assert set(map(int, held.indices)) <= set(map(int, vector.indices))
    assert list(vector.indices) == sorted(vector.indices)
    alone = query_vector(SMALL.translate("申报", "en"))
    assert max(vector.values) < max(alone.values)


@given(st.text(max_size=80))
def test_any_text_translates_the_same_way_each_time(text: str) -> None:
    languages: tuple[Language, ...] = ("zh", "en")
    for into in languages:
        found = WHOLE.translate(text, into)
        assert found == WHOLE.translate(text, into)
        assert all(word.meanings and word.weight > 0 for word in found)
        vector = query_vector(found)
        assert len(vector.indices) == len(vector.values)
