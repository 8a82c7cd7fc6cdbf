"""Numbers whose digits or separators are not the plain ones."""

from __future__ import annotations

import pytest

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str, str]]:
    return [(s.kind, s.value, text[s.start : s.end]) for s in find_secrets(fold(text))]


MOBILE = "13812345678"
IDENTITY = "11010519491231002X"
CARD = "4111111111111111"
JOINERS = [
    "\u200b", "\u200d", "\u200e", "\u200f", "\u2060", "\ufe0f", "\ufe0f\u20e3", "\u034f", "\u0301", "\U000e0031",
    "\x00", "\x01", "\u202a", "\u2068\u2069",
]  # fmt: skip


@pytest.mark.parametrize("joiner", JOINERS, ids=ascii)
@pytest.mark.parametrize("frame", ["{}。", "手机：{} 。", "call {} now"])
@pytest.mark.parametrize(("kind", "number"), [("mobile", MOBILE), ("id_card", IDENTITY), ("bank_card", CARD)])
def test_what_does_not_show_between_digits_hides_no_number(joiner: str, frame: str, kind: str, number: str) -> None:
    for written in (joiner.join(number), number[:3] + joiner + number[3:], number[:6] + joiner + number[6:]):
        assert found(frame.format(written)) == [(kind, number, written)]


@pytest.mark.parametrize(
    "digits",
    [
        "٠١٢٣٤٥٦٧٨٩",
        "۰۱۲۳۴۵۶۷۸۹",
        "०१२३४५६७८९",
        "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
        "𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿",
        "🯰🯱🯲🯳🯴🯵🯶🯷🯸🯹",
        "⓪①②③④⑤⑥⑦⑧⑨",
        "⁰¹²³⁴⁵⁶⁷⁸⁹",
        "₀₁₂₃₄₅₆₇₈₉",
    ],
)
@pytest.mark.parametrize(("kind", "number"), [("mobile", MOBILE), ("id_card", IDENTITY), ("bank_card", CARD)])
def test_digits_of_any_script_are_digits(digits: str, kind: str, number: str) -> None:
    written = "".join(digits[int(c)] if c.isdigit() else c for c in number)
    assert found(f"号码 {written}。") == [(kind, number, written)]


@pytest.mark.parametrize("tear", ["\n", "\r\n", "\n\n", "\r\n\r\n", " \n \n"])
@pytest.mark.parametrize(
    ("kind", "head", "tail"),
    [("mobile", "1381234", "5678"), ("id_card", "110105194912", "31002X"), ("bank_card", "41111111", "11111111")],
)
def test_number_torn_by_any_line_end_is_one(tear: str, kind: str, head: str, tail: str) -> None:
    written = head + tear + tail
    assert found(f"见：{written}。") == [(kind, head + tail, written)]


@pytest.mark.parametrize(
    "text",
    ["面积 12345678m²", "收入 2024\n\n1381 234", "①②③④⑤⑥⑦⑧⑨", "见注¹²³", "第 138\n\n1. 首先", "x³ + 13²"],
)
def test_notes_powers_and_paragraphs_are_no_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("kind", "number"), [("mobile", MOBILE), ("id_card", IDENTITY), ("bank_card", CARD)])
@pytest.mark.parametrize(
    "frame",
    [
        "https://x.example.cn/?id={}",
        "https://x.example.cn/u/{}",
        "见 https://x.example.cn/{}/show 。",
        "www.example.cn/q?m={}&x=1",
        "https://x.example.cn/u/{}#top",
        "(https://x.example.cn/u/{}).",
    ],
)
def test_number_that_is_a_whole_part_of_a_web_address_is_found(kind: str, number: str, frame: str) -> None:
    assert found(frame.format(number)) == [(kind, number, number)]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/p/13812345678.html",
        "https://example.com/p/13812345678-shoes",
        "https://example.com/?order=13812345678",
        "doi:10.1000/13812345678",
        "https://example.com/a13812345678",
        "https://example.com/t/1381234567890",
    ],
)
def test_number_of_a_page_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("手机：138/1234/5678", "138/1234/5678"),
        ("手机：138_1234_5678。", "138_1234_5678"),
        ("电话：138\t1234\t5678", "138\t1234\t5678"),
        ("手机：**138**12345678", "138**12345678"),
        ("**138**12345678", "138**12345678"),
        ("手机：138**1234**5678", "138**1234**5678"),
        ("手机 `138`-`1234`-`5678`", "138`-`1234`-`5678"),
    ],
)
def test_mobile_in_odd_groups_behind_a_label_is_found(text: str, surface: str) -> None:
    assert found(text) == [("mobile", MOBILE, surface)]


@pytest.mark.parametrize(
    "text",
    [
        "138/1234/5678",
        "138_1234_5678",
        "138\t1234\t5678",
        "138*1234*5678",
        "营业额13812345678",
        "金额 138,1234,5678",
        "订单号 138_1234_5678",
        "手机 138**1234**567",
        "手机价格 2024/1381/2345",
    ],
)
def test_odd_groups_without_a_label_are_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "piece", ["1\u0301", "1\u200b\ufe0f ", "①⑧", "138/", "138**", "手机138_1234_", "1\n\n", "https://a.b/1/"]
)
def test_long_repetitions_are_read(piece: str) -> None:
    assert find_secrets(fold(piece * 10_000)) is not None
