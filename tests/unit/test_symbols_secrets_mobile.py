from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    "text",
    [
        "13812345678",
        "１３８１２３４５６７８",
        "138 1234 5678",
        "138-1234-5678",
        "138–1234–5678",
        "138—1234—5678",
        "138.1234.5678",
        "138·1234·5678",
        "(138)12345678",
        "（138）1234 5678",
        "(138) 1234-5678",
        "(138)1234-5678",
        "138 12345678",
        "1381234 5678",
        "13812\n345678",
        "138-1234-\n5678",
        "138 1234\n5678",
        "1 3 8 1 2 3 4 5 6 7 8",
        "1-3-8-1-2-3-4-5-6-7-8",
        "１ ３ ８ １ ２ ３ ４ ５ ６ ７ ８",
        "x13812345678",
        "手机13812345678号",
        "微信同号13812345678",
        "手机号码：138 1234 5678",
        "手机号是13812345678。",
        "电话（手机）：138 1234 5678",
        "+8613812345678",
        "+86 13812345678",
        "+86-138-1234-5678",
        "+86 138 1234 5678",
        "(+86)13812345678",
        "(+86) 138 1234 5678",
        "(86)13812345678",
        "+(86)13812345678",
        "+(86) 138-1234-5678",
        "0086 13812345678",
        "0086-13812345678",
        "008613812345678",
        "8613812345678",
        "86-13812345678",
        "86 138 1234 5678",
        "＋８６ １３８ １２３４ ５６７８",
        "（＋８６）１３８１２３４５６７８",
        "tel:+86-138-1234-5678",
        "Mobile: 138 1234 5678 (office hours)",
        "call me at 138 1234 5678",
        "请打13812345678找我",
        "13812345678微信同号",
        "联系人：13812345678",
        "138\u200b1234\u200b5678",
        "138\u00a01234\u00a05678",
        "138-12345678",
        "1381-234-5678",
        "我的号码13812345678，谢谢",
        "whatsapp+8613812345678",
        "Tel.138 1234 5678",
        "TEL13812345678",
        "VX13812345678",
        "手機：13812345678",
        "電話 13812345678",
        "手机：1381234\n5678",
        "手机：138\n1234\n5678",
        "Phone (mobile): 13812345678",
        "https://wa.me/8613812345678?mobile=13812345678",
        "| 姓名 | 手机 |\n| --- | --- |\n| 甲 | 138 1234 5678 |",
        "[13812345678]",
        "“13812345678”",
        "13812345678/13812345678",
        "13812345678、13812345678",
        "手机13812345678元旦前有效",
        "+86 (138) 1234-5678",
        "+86138 1234 5678",
        "(+86 138 1234 5678)",
        "13812345678（同微信）",
        "86 13812345678",
        "138 - 1234 - 5678",
    ],
)
def test_mobile_is_found_in_every_writing(text: str) -> None:
    assert set(found(text)) == {("mobile", "13812345678")}


@pytest.mark.parametrize(
    "text",
    [
        "订单号：13812345678",
        "订单编号为：13812345678",
        "Order ID: 13812345678",
        "运单号13812345678",
        "SKU 13812345678",
        "timestamp=13812345678",
        "编号13812345678",
        "hash 13812345678",
        "13812345678.50",
        "13,812,345,678",
        "¥13812345678",
        "RMB 13812345678 million",
        "13812345678 元",
        "电话费13812345678元",
        "总计 138 1234 5678",
        "营收 138 1234 5678",
        "总资产为13812345678",
        "第13812345678号文件",
        "客户号 13812345678",
        "会员编号 15912345678",
        "工号 13812345678",
        "13812345678 shares",
        "13812345678kg",
        "1.13812345678",
        "138.12345678",
        "213812345678",
        "138123456789",
        "12812345678",
        "SN-13812345678",
        "ABC13812345678",
        "13812345678ABC1",
        "12/13812345678X9",
        "v13812345678",
        "138 1234 5678 9012",
        "2024年 138 1234 5678 万元",
        "150 2023 2024",
        "收入 13812345678 23812345678 15912345678",
        "7 138 12345678",
        "13812	345678",
        "138 12345678 9",
        "| 姓名 | 金额 |\n| --- | --- |\n| 甲 | 13812345678 |",
        "| 订单号 | 金额 |\n| --- | --- |\n| 13812345678 | 5 |",
        "192.30.252.211",
        "138.123.45.678",
        "https://example.com/p/13812345678.html",
        "doi:10.1000/13812345678",
        "a13812345678f00b",
        "2024070113812345678",
        "京公〔2023〕13812345678号",
        "[2023]13812345678号",
        "(2023)13812345678号",
        "卷号：（2024）13812345678",
        "1 2 3 4 5 6 7 8 9 10 11",
        "0 1 2 3 4 5 6 7 8 9",
    ],
)
def test_mobile_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| 姓名 | 手机 |\n| --- | --- |\n| 甲 | 1998 1234567 |", [("mobile", "19981234567")]),
        ("| 手机 | 1998 1234567 |", [("mobile", "19981234567")]),
        ("| 年份 | 1998 1234567 |", []),
        ("| 合同甲方代表 | 13812345678 |", [("mobile", "13812345678")]),
        ("| 订单号 | 13812345678 |", []),
        ("| 营业收入 | 13812345678 |", []),
    ],
)
def test_the_heading_of_a_column_and_the_cell_before_are_labels(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("请拨+86 138 1234 5678。", "+86 138 1234 5678"),
        ("(+86)13812345678", "(+86)13812345678"),
        ("（138）12345678", "（138）12345678"),
        ("手机13812345678号", "13812345678"),
        ("(13812345678)", "13812345678"),
        ("13812345678（同微信）", "13812345678"),
    ],
)
def test_span_holds_the_country_code_and_nothing_else(text: str, surface: str) -> None:
    (secret,) = find_secrets(fold(text))
    assert text[secret.start : secret.end] == surface


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("13812345678,13987654321", 2),
        ("13812345678 13987654321", 2),
        ("138 1234 5678 139 8765 4321", 2),
        ("138 1234 5678\n139 8765 4321\n137 0000 1111", 3),
        ("138 1234 5678 10:30", 1),
        ("138 1234 5678 2024-07-01", 1),
        ("138 1234 5678 2024年", 1),
        ("138 1234 5678: 王五", 1),
        (" 13812345678/13987654321", 2),
    ],
)
def test_numbers_beside_each_other_and_beside_a_day_are_all_found(text: str, count: int) -> None:
    assert [kind for kind, _ in found(text)] == ["mobile"] * count


_SEPARATORS = st.sampled_from(["", " ", "-", "\u2013", ".", "\u00b7", "\u200b", "\u00a0"])
_COUNTRY = st.sampled_from(["", "+86", "+86 ", "+86-", "0086", "0086-", "(+86)", "(86)", "86-"])


@settings(max_examples=40, deadline=None)
@given(st.from_regex(re.compile(r"1[3-9][0-9]{9}", re.ASCII), fullmatch=True), _SEPARATORS, _COUNTRY, st.booleans())
def test_any_mobile_number_in_any_writing_is_one_value(
    number: str, separator: str, country: str, is_wide: bool
) -> None:
    written = country + separator.join((number[:3], number[3:7], number[7:]))
    if is_wide:
        written = written.translate({ord("0") + i: ord("０") + i for i in range(10)})
    assert found(f"手机：{written}。") == [("mobile", number)]


@settings(max_examples=40, deadline=None)
@given(st.from_regex(re.compile(r"1[3-9][0-9]{9}", re.ASCII), fullmatch=True), st.integers(1, 10))
def test_a_mobile_number_after_its_label_may_be_torn_anywhere(number: str, place: int) -> None:
    assert found(f"手机：{number[:place]}\n{number[place:]}，请勿外传") == [("mobile", number)]
