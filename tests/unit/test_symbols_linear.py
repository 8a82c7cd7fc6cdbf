"""Reading a text takes time in proportion to its length, whatever is repeated in it."""

from __future__ import annotations

import time
from datetime import date

import pytest

from retrieval.symbols.language import SymbolLanguage, TenantLanguage, load_language
from retrieval.symbols.rules import Correction, FixedRules, Person, TenantRules

SHORT, LONG = 1_500, 12_000
"""Eight times the length takes eight times the work if it is linear, 64 times if it is quadratic."""
MOST = 24
LEAST_SECONDS = 0.002  # what is quicker is measured as if it took so long
PIECES = [
    # runs of one sort of character
    "1", "0-9-", "12 ", "1\n", "1,", "3.1.", "A", "AB", "aA1+", "--FY", "ABC ", "A. ", "A.B", "Mc", "O'", "é", "中",
    "张", "\u200b", "0086\u200b", "\n", "  ", "| ", "|1|", "(", "((0", "-", "\ufffc", "🙂",
    # beginnings of keys, links and addresses
    "sk-", "sk-a", "sk-ant-", "sk-a1-", "xoxb-", "eyJa.", "ghp_", "Bearer ", "key=", "password: ", "密码", "user:", "://",
    "http://", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "a@", "a.b@", " at ", "[at]", "1::", "192.168.0.1.",
    # numbers that may be secrets
    "138 1234 5678 ", "+86 ", "110101199001011234 ", "4111 1111 ", "GB82 ", "021-5888 9999转", "护照 E", "京A",
    "[PHONE_",
    # names and places
    "王小明先生", "张伟、", "联系人：", "Mr. ", "John Smith ", "Contact: ", "Dear ", "signed by ", "北京市", "路1号",
    "12 St, ",
    # values
    "2024年", "2024-", "1月1日", "Q3 ", "three months ended ", "自", "至", "twenty-", "thousand and ", "一", "壹佰",
    "百分之", "5%和", "、5%", "3:", "3比", "1~", "2-3亿", "$", "RMB ", "1元/", "约", "12:30", "30 (", "3年", "天",
    # codes
    "C1、", "R4 ", "AA+", "保守型、", "客户",
]  # fmt: skip


@pytest.fixture(scope="module")
def language() -> TenantLanguage:
    return load_language(bytes(32)).of("t")


@pytest.fixture(scope="module")
def corrected() -> TenantLanguage:
    nears = [f"near {number}" for number in range(50)]
    rules = TenantRules(
        persons=(Person(names=("张伟", "Zhang Wei")),),
        corrections=(
            *(Correction(text="falcon", verdict="secret", near=near) for near in nears),
            *(Correction(text="13812345678", verdict="not_secret", near=near) for near in nears),
            *(Correction(text=f"aa {number} bb", verdict="secret") for number in range(500)),
            Correction(text="a a a a b", verdict="not_symbol"),
        ),
    )
    return SymbolLanguage(FixedRules(rules), bytes(32)).of("t")


@pytest.mark.parametrize("piece", PIECES)
def test_repeated_piece_is_read_in_linear_time(language: TenantLanguage, piece: str) -> None:
    assert_linear(language, piece)


@pytest.mark.parametrize("piece", ["falcon ", "13812345678 ", "falcon 13812345678 ", "aa x bb ", "a ", "张伟、"])
def test_piece_that_was_corrected_is_read_in_linear_time(corrected: TenantLanguage, piece: str) -> None:
    assert_linear(corrected, piece)


def assert_linear(language: TenantLanguage, piece: str) -> None:
    # Other processes disturb the measure: only what is too much three times is.
    for _ in range(3):
        short = max(seconds(language, piece, SHORT), LEAST_SECONDS)
        growth = seconds(language, piece, LONG) / short
        if growth < MOST:
            return
    raise AssertionError(f"{piece!r}: {growth:.0f} times the work for {LONG // SHORT} times the text")


def seconds(language: TenantLanguage, piece: str, length: int) -> float:
    text = (piece * (length // len(piece) + 1))[:length]
    begin = time.process_time()
    language.symbolise(text, base_date=date(2024, 11, 5))
    return time.process_time() - begin
