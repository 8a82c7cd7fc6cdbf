from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.compare import Magnitude, parse_normal
from retrieval.symbols.fold import fold
from retrieval.symbols.language import load_language
from retrieval.symbols.values.durations import find_durations

LANGUAGE = load_language(b"0123456789abcdef")
ONES = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"]
ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
           "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def durations(text: str) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.normal) for f in sorted(find_durations(fold(text)), key=lambda f: f.start)]


@pytest.mark.parametrize(
    ("text", "surface", "normal"),
    [
        ("期限3年", "3年", "P3Y"),
        ("为期三年的", "三年", "P3Y"),
        ("近三年", "三年", "P3Y"),
        ("三年期国债", "三年", "P3Y"),
        ("满100年", "100年", "P100Y"),
        ("6个月", "6个月", "P6M"),
        ("十二个月", "十二个月", "P12M"),
        ("连续四个季度", "四个季度", "P12M"),
        ("30天", "30天", "P30D"),
        ("30日内", "30日", "P30D"),
        ("三十（30）日内", "三十（30）日", "P30D"),
        ("30个自然日", "30个自然日", "P30D"),
        ("一天内", "一天", "P1D"),
        ("请一天假", "一天", "P1D"),
        ("两周", "两周", "P14D"),
        ("四周内", "四周", "P28D"),
        ("2个星期", "2个星期", "P14D"),
        ("48小时", "48小时", "PT48H"),
        ("一个半小时", "一个半小时", "PT90M"),
        ("90分钟", "90分钟", "PT90M"),
        ("30秒", "30秒", "PT30S"),
        ("半年", "半年", "P6M"),
        ("半小时", "半小时", "PT30M"),
        ("两年半", "两年半", "P30M"),
        ("1.5年", "1.5年", "P18M"),
        ("0.5小时", "0.5小时", "PT30M"),
        ("three years", "three years", "P3Y"),
        ("a 5-year bond", "5-year", "P5Y"),
        ("an eight-month lag", "eight-month", "P8M"),
        ("the past three months", "three months", "P3M"),
        ("thirty (30) days", "thirty (30) days", "P30D"),
        ("30 calendar days", "30 calendar days", "P30D"),
        ("one hundred and twenty days", "one hundred and twenty days", "P120D"),
        ("twenty-four hours", "twenty-four hours", "PT24H"),
        ("2 weeks", "2 weeks", "P14D"),
        ("two decades", "two decades", "P20Y"),
        ("90 minutes", "90 minutes", "PT90M"),
        ("half an hour", "half an hour", "PT30M"),
        ("one and a half years", "one and a half years", "P18M"),
        ("2.69 years", "2.69 years", "P2.69Y"),
        ("within one day", "one day", "P1D"),
        ("1,000 hours", "1,000 hours", "PT1000H"),
    ],
)
def test_a_duration_has_one_unit(text: str, surface: str, normal: str) -> None:
    assert durations(text) == [(surface, normal)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3-5年", [("3", "P3Y"), ("5年", "P5Y")]),
        ("三至五年", [("三", "P3Y"), ("五年", "P5Y")]),
        ("6到12个月", [("6", "P6M"), ("12个月", "P12M")]),
        ("3 to 5 years", [("3", "P3Y"), ("5 years", "P5Y")]),
        ("three- to five-year", [("three", "P3Y"), ("five-year", "P5Y")]),
        ("between 3 and 5 years", [("3", "P3Y"), ("5 years", "P5Y")]),
    ],
)
def test_both_ends_of_a_range_are_durations(text: str, expected: list[tuple[str, str]]) -> None:
    assert durations(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024年",
        "二〇二四年",
        "2019-20年",
        "24年7月1日",
        "08年三季度",
        "（660年）",
        "550年—559年",
        "三月",
        "3月",
        "7月30日",
        "30日公告",
        "三年级",
        "90年代",
        "第三年",
        "第 3 天",
        "第三个月",
        "下一年",
        "这一天",
        "有一天",
        "一天到晚",
        "一年一度",
        "每一年",
        "贞观三年",
        "昭和10年",
        "仁祖二十年",
        "公元618年",
        "上半年",
        "半年度报告",
        "两周年",
        "3周岁",
        "四周环山",
        "5个工作日",
        "3小时候",
        "9秒69",
        "多年",
        "2019 years",
        "December 31 year end",
        "at 19:00 hrs",
        "at 1900 hrs",
        "0900 hours",
        "one day he left",
        "3 second quarter",
        "first year",
        "yearly 5",
        "days",
    ],
)
def test_what_only_looks_like_a_duration_is_none(text: str) -> None:
    assert durations(text) == []


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 99), st.sampled_from([("年", "years", "P{}Y"), ("个月", "months", "P{}M"), ("天", "days", "P{}D"),
                                            ("小时", "hours", "PT{}H"), ("分钟", "minutes", "PT{}M")]))  # fmt: skip
def test_every_duration_is_read_back_from_its_writings(number: int, unit: tuple[str, str, str]) -> None:
    chinese, english, form = unit
    tens, ones = divmod(number, 10)
    in_chinese = (("" if tens == 1 else ONES[tens]) + "十" if tens else "") + ONES[ones]
    below_20 = ENGLISH[number - 1] if number < 20 else ""
    in_english = below_20 or TENS[tens - 2] + (f"-{ENGLISH[ones - 1]}" if ones else "")
    normal = form.format(number)
    for text in (
        f"{number}{chinese}",
        f"{in_chinese}{chinese}",
        f"{number} {english}",
        f"{in_english} {english}",
        f"{in_english} ({number}) {english}",
        f"{number}-{english[:-1]}",
    ):
        (symbol,) = LANGUAGE.read(f"为期{text}", tenant="t")
        assert (symbol.surface, symbol.normal, symbol.token) == (text, normal, f"[DURATION_{normal}]")
    assert isinstance(parse_normal("duration", normal), Magnitude)


def test_doubled_numerals_that_are_words_are_read_over() -> None:
    assert LANGUAGE.read("两两比较，三三两两", tenant="t") == ()


@pytest.mark.parametrize("text", ["360,855\nDays past due", "227,727\nYears ended", "12\nmonths"])
def test_a_figure_and_the_word_at_the_head_of_the_next_line_are_no_duration(text: str) -> None:
    assert [s for s in LANGUAGE.read(text, tenant="t") if s.kind == "duration"] == []
