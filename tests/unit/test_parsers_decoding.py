"""F13: text files are decoded rightly, and the encoding is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import UnsupportedDocumentError
from ingest.parsers.text.decoding import decode

SIMPLIFIED = "本公司第三季度营业收入为2.38亿元，同比下滑5.2%。\n这是一份关于员工报销的管理制度。\n"
TRADITIONAL = "本公司第三季營業收入為2.38億元，較去年同期下滑5.2%。\n這是一份關於員工報銷的管理制度。\n"
JAPANESE = "当社の第三四半期の売上高は2.38億円でした。\nこれは従業員の経費精算に関する規程です。\n"
KOREAN = "우리 회사의 3분기 매출은 2억 3800만 원이다. 이것은 직원 경비에 관한 규정이다.\n"
FRENCH = "Le chiffre d'affaires du troisième trimestre a été élevé à Genève; né à Besançon, déjà présenté.\n"


@pytest.mark.parametrize(
    ("text", "codec", "reported"),
    [
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (SIMPLIFIED, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (JAPANESE, "cp932", "cp932"),
        (KOREAN, "cp949", "cp949"),
        (SIMPLIFIED, "utf-16", "utf-16-le"),
        (SIMPLIFIED, "utf-16-le", "utf-16-le"),
        (SIMPLIFIED, "utf-16-be", "utf-16-be"),
        (TRADITIONAL, "utf-16-be", "utf-16-be"),
        ("Plain English, nothing else.\n", "utf-16-le", "utf-16-le"),
        ("Plain English, nothing else.\n", "utf-16-be", "utf-16-be"),
        (SIMPLIFIED, "utf-32", "utf-32-le"),
        ("Plain English, nothing else.\n", "utf-32-le", "utf-32-le"),
        ("Plain English, nothing else.\n", "utf-32-be", "utf-32-be"),
    ],
)
def test_decode_finds_the_encoding(text: str, codec: str, reported: str) -> None:
    decoded = decode(text.encode(codec), "a.txt")
    assert decoded.text == text
    assert decoded.encoding == reported
    assert decoded.damaged == 0


def test_decode_keeps_western_letters() -> None:
    assert decode(FRENCH.encode("cp1252"), "a.txt").text == FRENCH


def test_decode_forgives_a_cut_last_character() -> None:
    decoded = decode(SIMPLIFIED.encode("gbk")[:-2], "a.txt")
    assert decoded.encoding == "gb18030"
    assert decoded.text.startswith(SIMPLIFIED[:-3])


def test_decode_forgives_rare_bad_bytes_in_utf8_and_counts_them() -> None:
    decoded = decode(SIMPLIFIED.encode() * 3 + b"\xff" + SIMPLIFIED.encode(), "a.txt")
    assert decoded.encoding == "utf-8"
    assert decoded.damaged == 1


def test_decode_normalises_line_ends() -> None:
    assert decode(b"a\r\nb\rc\n", "a.txt").text == "a\nb\nc\n"


def test_decode_refuses_binary() -> None:
    with pytest.raises(UnsupportedDocumentError, match=r"a\.txt"):
        decode(bytes(range(256)) * 8, "a.txt")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=200))
def test_decode_returns_any_utf8_text_unchanged(text: str) -> None:
    assert decode(text.encode(), "a.txt").text == text.removeprefix("\ufeff")


@given(st.binary(max_size=300))
def test_decode_never_raises_anything_else(raw: bytes) -> None:
    try:
        assert "\x00" not in decode(raw, "a.txt").text
    except UnsupportedDocumentError:
        return
