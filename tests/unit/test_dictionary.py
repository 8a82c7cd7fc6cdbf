"""CC-CEDICT is read for words that texts may hold."""

from __future__ import annotations

import pytest

from retrieval.dictionary import Dictionary, cc_cedict

ENTRIES = """# CC-CEDICT
淨利潤 净利润 [jing4 li4 run4] /net profit (accountancy)/
商譽 商誉 [shang1 yu4] /goodwill; trade reputation/CL:個|个[ge4]/
德川家康 德川家康 [De2 chuan1 Jia1 kang1] /Tokugawa Ieyasu (1543-1616), founder of the Edo shogunate/
復 复 [fu4] /to go and return/
複 复 [fu4] /to repeat/
王 王 [Wang2] /surname Wang/
"""


@pytest.fixture
def dictionary() -> Dictionary:
    return Dictionary(lambda: ENTRIES)


def test_meanings_are_the_words_that_a_text_may_hold(dictionary: Dictionary) -> None:
    assert dictionary.english("净利润") == (("net", "profit"),)
    assert dictionary.english("商誉") == (("goodwill",), ("trade", "reputation"))


def test_a_name_is_its_gloss_without_who_it_was(dictionary: Dictionary) -> None:
    assert dictionary.english("德川家康") == (("tokugawa", "ieyasu"),)


def test_entries_that_are_simplified_alike_have_the_meanings_of_all(dictionary: Dictionary) -> None:
    assert dictionary.english("复") == (("go", "return"), ("repeat",))


def test_a_surname_has_no_meaning_and_an_unknown_word_none(dictionary: Dictionary) -> None:
    assert "王" in dictionary
    assert dictionary.english("王") == ()
    assert "鑫" not in dictionary
    assert dictionary.english("鑫") == ()


def test_chinese_words_are_found_by_their_whole_meaning(dictionary: Dictionary) -> None:
    assert dictionary.chinese(("net", "profit")) == ("净利润",)
    assert dictionary.chinese(("profit",)) == ()


def test_nothing_is_read_before_a_word_is_looked_up() -> None:
    reads: list[int] = []

    def read() -> str:
        reads.append(1)
        return ENTRIES

    dictionary = Dictionary(read)
    assert not reads
    assert "商誉" in dictionary
    assert dictionary.chinese(("goodwill",)) == ("商誉",)
    assert len(reads) == 1


def test_the_dictionary_of_the_package_reads() -> None:
    assert ("annual", "leave") in cc_cedict().english("年假")
    assert "董事会" in cc_cedict().chinese(("board", "directors"))
