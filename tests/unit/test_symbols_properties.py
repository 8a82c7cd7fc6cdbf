from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.language import load_language
from retrieval.symbols.values.currencies import CURRENCIES_AFTER

LANGUAGE = load_language(b"0123456789abcdef")
BASE = date(2024, 11, 5)

_WRITINGS = st.sampled_from([
    "2.38亿元",
    "RMB 238 million",
    "(1,234.5)",
    "-5.2%",
    "下滑",
    "5%",
    "-",
    "至",
    " to ",
    "2024年",
    "第三季度",
    "7月1日",
    "Q3 2024",
    "2024-07-01",
    "July 1, ",
    "2024",
    "13812345678",
    "a@b.com",
    "C1",
    "客户",
    "R4基金",
    "AA+",
    "评级",
    "二亿三千万",
    "百分之五",
    "上季度",
    "去年",
    "，",
    "。",
    " ",
    "\n",
    "[CNY_5]",
    "[PHONE_k3f9a2mq7x4tw]",
    "[",
    "]",
    "(",
    ")",
    "$",
    "¥",
    "1",
    "万",
    "亿",
    "元",
    "|",
    "％",
    "．",
    "５",
])
_ANY = st.text(max_size=60) | st.lists(_WRITINGS | st.text(max_size=3), max_size=14).map("".join)


@given(_ANY)
@settings(max_examples=150, deadline=None)
def test_reading_any_text_gives_ordered_spans_that_do_not_overlap(text: str) -> None:
    symbols = LANGUAGE.read(text, tenant="t", base_date=BASE)
    at = 0
    for symbol in symbols:
        assert at <= symbol.start < symbol.end <= len(text)
        at = symbol.end
        assert symbol.surface == (symbol.normal if symbol.cls == "secret" else text[symbol.start : symbol.end])


@given(_ANY)
@settings(max_examples=150, deadline=None)
def test_symbolising_twice_is_symbolising_once(text: str) -> None:
    first = LANGUAGE.symbolise(text, tenant="t", base_date=BASE)
    again = LANGUAGE.symbolise(first.text, tenant="t", base_date=BASE)
    assert (again.text, again.index_text, again.symbols, again.secrets) == (
        first.text,
        first.index_text,
        first.symbols,
        (),
    )


@pytest.mark.parametrize(
    "text",
    [
        "2024-07-01Q3 2024",
        "二亿三千万百分之五",
        "RMB 238 million2024-07-01",
        "2021—2023年度，2024.07.01-2024.09.30",
        "C1客户的R4基金2-3亿元，下降5%-6%",
        "2019, 2018 and 2017: 主体评级AA+/A-1，13812345678",
    ],
)
def test_symbolising_the_index_text_changes_nothing(text: str) -> None:
    index_text = LANGUAGE.symbolise(text, tenant="t").index_text
    assert LANGUAGE.symbolise(index_text, tenant="t").index_text == index_text


@pytest.mark.parametrize("name", CURRENCIES_AFTER)
def test_the_name_of_every_currency_is_seen_behind_a_figure(name: str) -> None:
    (symbol,) = LANGUAGE.read(f"| 7 {name} |", tenant="t")
    assert symbol.kind == "amount"


@given(_ANY)
@settings(max_examples=80, deadline=None)
def test_reading_and_symbolising_agree(text: str) -> None:
    read = LANGUAGE.read(text, tenant="t", base_date=BASE)
    symbolised = LANGUAGE.symbolise(text, tenant="t", base_date=BASE).symbols
    assert [(s.kind, s.normal, s.surface) for s in read] == [(s.kind, s.normal, s.surface) for s in symbolised]


@given(st.text())
def test_folding_keeps_every_character_in_its_place(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,111",
        "1.1",
        "1 ",
        "13812345678 ",
        "138 1234 5678 ",
        "a@",
        "a.",
        "[PHONE_",
        "(",
        "一",
        "万亿",
        "二〇二四年",
        "2024-07-01 to ",
        "Q3",
        "5%-",
        "fell by about ",
        "RMB ",
        "$1",
        "1万2",
        "C1客户",
        "AA+",
        "| C1 |\n",
        "4111 1111 1111 1111 ",
        "last ",
        "\u200b1",
    ],
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (12_000 // len(piece))
    result = LANGUAGE.symbolise(text, tenant="t", base_date=BASE)
    assert len(result.symbols) <= len(text)


def test_a_text_of_200_kb_without_any_end_is_read() -> None:
    text = "1,234,567.8.9-2024年1-(亿a@a." * 8_000
    assert len(text) > 200_000
    assert LANGUAGE.symbolise(text, tenant="t").text


@pytest.mark.parametrize(
    "piece",
    [
        "7", ",", "1,234", ".7", "年", "年月日", "二〇", "(", "(7)", "[", "[CNY_", "@", "a@b.", "\u200b", "7\u200b",
        "\u3000", "\n", " ", "fell by ", "人民币", "1380013800",
    ],
    ids=repr,
)  # fmt: skip
def test_text_of_200_kb_that_repeats_what_patterns_begin_with_is_read_to_its_end(piece: str) -> None:
    text = piece * (200_000 // len(piece)) + "，共计2.38亿元"
    symbolised = LANGUAGE.symbolise(text, tenant="t", base_date=BASE)
    assert symbolised.text.endswith("元")


def test_letters_that_patterns_take_for_ascii_are_read_as_such() -> None:
    lookalikes = {
        chr(code)
        for code in range(0x80, 0x110000)
        if not 0xD800 <= code < 0xE000 and re.match("[a-z]", chr(code), re.I)
    }
    assert all(fold(letter).isascii() for letter in lookalikes)
    for text in ("thiſ year", "5 Swiſs francs", "1 mıllıon dollarſ", "lAST quarter", "İn 3 mİllİon dollars"):
        read = LANGUAGE.symbolise(text, tenant="t", base_date=date(2024, 5, 1))
        plain = LANGUAGE.symbolise(fold(text), tenant="t", base_date=date(2024, 5, 1))
        assert [symbol.normal for symbol in read.symbols] == [symbol.normal for symbol in plain.symbols] != []
