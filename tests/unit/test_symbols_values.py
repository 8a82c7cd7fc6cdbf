from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.symbols.values.calendar import day, half, months, normal_of, parse_span, quarter, whole_year
from retrieval.symbols.values.numerals import parse_chinese, plain

LANGUAGE: SymbolLanguage = load_language(b"0123456789abcdef")
BASE = date(2024, 11, 5)


def normals(text: str, *kinds: str, base_date: date | None = None) -> list[str]:
    symbols = LANGUAGE.read(text, tenant="t", base_date=base_date)
    return [s.normal for s in symbols if not kinds or s.kind in kinds]


@pytest.mark.parametrize(
    "text",
    [
        "2.38 亿元",
        "2.38亿元",
        "RMB 238 million",
        "RMB238mn",
        "238,000,000 元",
        "２３８，０００，０００元",
        "2.38億元",
        "人民币2.38亿元",
        "2.38亿元人民币",
        "¥238,000,000",
        "￥2.38亿",
        "CNY 238,000,000.00",
        "238 million yuan",
        "二亿三千八百万元",
        "2亿3800万元",
        "贰亿叁仟捌佰万元整",
        "0.238 billion yuan",
        "2.38 hundred million yuan",
        "23800万元",
        "238百万元",
        "238M RMB",
        "2．38亿元",
    ],
)
def test_amount_has_one_normal_form_in_every_writing(text: str) -> None:
    (symbol,) = LANGUAGE.read(f"收入为{text}。", tenant="t")
    assert (symbol.kind, symbol.normal, symbol.token) == ("amount", "CNY 238000000", "[CNY_238000000]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("US$1.5 billion", ["USD 1500000000"]),
        ("HK$5.2mn", ["HKD 5200000"]),
        ("港币238万元", ["HKD 2380000"]),
        ("100美元", ["USD 100"]),
        ("€ 77 million", ["EUR 77000000"]),
        ("approximately$5.1 million", ["USD 5100000"]),
        ("$(1,234.5) million", ["USD -1234500000"]),
        ("净利润（2.38）亿元", ["CNY -238000000"]),
        ("-$5m", ["USD -5000000"]),
        ("RMB -5.2 million", ["CNY -5200000"]),
        ("净利润-238万元", ["CNY -2380000"]),
        ("| (RMB 238 million) |", ["CNY -238000000"]),
        ("revenue (RMB 238 million) rose", ["CNY 238000000"]),
        ("2-3亿元", ["CNY 200000000", "CNY 300000000"]),
        ("RMB 2 to 3 million", ["CNY 2000000", "CNY 3000000"]),
        ("200万至300万元", ["CNY 2000000", "CNY 3000000"]),
        ("壹佰贰拾叁万元整", ["CNY 1230000"]),
        ("叁元伍角整", ["CNY 3.5"]),
        ("两万五千元", ["CNY 25000"]),
        ("300余万元", ["CNY 3000000"]),
        ("4 块钱", ["CNY 4"]),
        ("支付2万元，人民币5万元", ["CNY 20000", "CNY 50000"]),
        ("$53.53 in 2019", ["USD 53.53"]),
    ],
)
def test_amounts_are_read(text: str, expected: list[str]) -> None:
    assert normals(text, "amount") == expected


@pytest.mark.parametrize(
    "text",
    [
        "一元二次方程",
        "118元素周期表",
        "2025元旦",
        "千万不要",
        "那一块",
        "8M内存",
        "5k run",
        "XUS$5",
        "第2章",
        "一个",
        "三元材料",
        "万一",
    ],
)
def test_lookalikes_are_neither_amounts_nor_quantities(text: str) -> None:
    assert normals(text, "amount", "quantity") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.38 亿", "238000000"),
        ("238 million users", "238000000"),
        ("八万两", "80000"),
        ("1万2千个", "12000"),
        ("十万个", "100000"),
    ],
)
def test_quantity_is_a_scaled_number_without_currency(text: str, expected: str) -> None:
    assert normals(text, "quantity") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("同比下滑 5.2%", ["-5.2%"]),
        ("同比下降了约5.2％", ["-5.2%"]),
        ("降幅为5.2%", ["-5.2%"]),
        ("5.2%的降幅", ["-5.2%"]),
        ("负增长5.2%", ["-5.2%"]),
        ("同比-5.2%", ["-5.2%"]),
        ("(5.2)%", ["-5.2%"]),
        ("fell by 5.2%", ["-5.2%"]),
        ("a decline of approximately 5.2 per cent", ["-5.2%"]),
        ("a 5.2% year-on-year decline", ["-5.2%"]),
        ("down 5.2 percent", ["-5.2%"]),
        ("下降5%-6%", ["-5%", "-6%"]),
        ("增长5.2%", ["5.2%"]),
        ("rose 5.2%", ["5.2%"]),
        ("+5.2%", ["5.2%"]),
        ("5-6%", ["5%", "6%"]),
        ("百分之五点二", ["5.2%"]),
        ("百分之百", ["100%"]),
        ("3‰", ["0.3%"]),
        # The word governs another figure, or the level that was reached.
        ("下降至5.2%", ["5.2%"]),
        ("由6.1%降到5.2%", ["6.1%", "5.2%"]),
        ("fell to 5.2%", ["5.2%"]),
        ("fell from 6.1% to 5.2%", ["6.1%", "5.2%"]),
        ("成本下降，毛利率5.2%", ["5.2%"]),
        ("毛利率（35.2%）", ["35.2%"]),
        ("20% down payment", ["20%"]),
        ("30% fall into this group", ["30%"]),
        ("最低5.2%", ["5.2%"]),
        ("低于5.2%", ["5.2%"]),
        ("止跌回升5.2%", ["5.2%"]),
    ],
)
def test_percent_carries_the_sign_of_the_word_that_governs_it(text: str, expected: list[str]) -> None:
    assert normals(text, "percent") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("上升0.5个百分点", "0.5pp"),
        ("下降50个基点", "-0.5pp"),
        ("declined 148 bps", "-1.48pp"),
        ("0.5 percentage points", "0.5pp"),
        ("0.5 pp", "0.5pp"),
        ("2%-points", "2pp"),
    ],
)
def test_percentage_points_are_a_kind_of_their_own(text: str, expected: str) -> None:
    assert [(s.kind, s.normal) for s in LANGUAGE.read(text, tenant="t")] == [("percent_points", expected)]


@pytest.mark.parametrize(
    "text",
    [
        "2024年第三季度",
        "2024年三季度",
        "2024年3季度",
        "2024 年 Q3",
        "Q3 2024",
        "2024Q3",
        "2024-Q3",
        "3Q24",
        "Q3'24",
        "Q3 FY2024",
        "24Q3",
        "third quarter of 2024",
        "Third-quarter 2024",
        "2024-07-01 to 2024-09-30",
        "2024年7月1日至2024年9月30日",
        "2024年7月1日至9月30日",
        "2024年7月至9月",
        "2024年7-9月",
        "July to September 2024",
        "July 1 to September 30, 2024",
        "1 July – 30 September 2024",
        "2024.07.01-2024.09.30",
        "2024/7/1~2024/9/30",
        "three months ended September 30, 2024",
        "quarter ended 30 September 2024",
        "截至2024年9月30日止三个月",
        "二〇二四年第三季度",
        "２０２４年第三季度",
    ],
)
def test_quarter_has_one_normal_form_in_every_writing(text: str) -> None:
    found = [s for s in LANGUAGE.read(f"（{text}）", tenant="t") if s.kind in ("period", "date")]
    assert [(s.kind, s.normal, s.token) for s in found] == [("period", "2024Q3", "[PERIOD_2024Q3]")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024年7月1日", ["2024-07-01"]),
        ("2024-07-01", ["2024-07-01"]),
        ("2024/7/1", ["2024-07-01"]),
        ("1 July 2024", ["2024-07-01"]),
        ("1st of July 2024", ["2024-07-01"]),
        ("July 1, 2024", ["2024-07-01"]),
        ("Jul. 1, 2024", ["2024-07-01"]),
        ("二〇二四年七月一日", ["2024-07-01"]),
        ("二零二四年十二月三十一日", ["2024-12-31"]),
        ("31/12/2024", ["2024-12-31"]),
        ("2024年7月", ["2024-07"]),
        ("July 2024", ["2024-07"]),
        ("2024-07", ["2024-07"]),
        ("2024年上半年", ["2024H1"]),
        ("2024 H1", ["2024H1"]),
        ("first half of 2024", ["2024H1"]),
        ("2024年半年度", ["2024H1"]),
        ("2024年度", ["2024"]),
        ("2024年", ["2024"]),
        ("FY2024", ["2024"]),
        ("fiscal 2024", ["2024"]),
        ("revenue in 2024 rose", ["2024"]),
        ("2024年前三季度", ["2024-01/2024-09"]),
        ("2024年1-9月", ["2024-01/2024-09"]),
        ("first nine months of 2024", ["2024-01/2024-09"]),
        ("1 December to 31 January 2025", ["2024-12/2025-01"]),
        ("for fiscal 2019, 2018 and 2017", ["2019", "2018", "2017"]),
        ("2023-2024年", ["2023", "2024"]),
        ("| 2019 | 2018 |", ["2019", "2018"]),
    ],
)
def test_dates_and_periods_are_read(text: str, expected: list[str]) -> None:
    assert normals(text, "date", "period") == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024-13-01",
        "in 2000 employees",
        "2024 users",
        "room 2019",
        "ASU 2017-07",
        "10.2024.07.01.5",
        "H1N1",
        "Q3",
        "第三季度",
        "ISO 9001:2015",
        "去年同期",
        "上季度",
        "last quarter",
    ],
)
def test_lookalikes_are_no_dates(text: str) -> None:
    assert normals(text, "date", "period") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("上季度", "2024Q3"),
        ("本季度", "2024Q4"),
        ("上个月", "2024-10"),
        ("去年", "2023"),
        ("去年第三季度", "2023Q3"),
        ("今年上半年", "2024H1"),
        ("上半年", "2024H1"),
        ("last quarter", "2024Q3"),
        ("last year", "2023"),
        ("third quarter of last year", "2023Q3"),
        ("this month", "2024-11"),
    ],
)
def test_relative_periods_are_resolved_from_the_base_date(text: str, expected: str) -> None:
    assert normals(text, base_date=BASE) == [expected]
    assert normals(text) == []


def test_last_quarter_of_a_year_is_not_relative() -> None:
    assert normals("the last quarter of 2023", base_date=BASE) == ["2023Q4"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("编号合计 12,345", ["12345"]),
        ("系数 1.50", ["1.5"]),
        ("loss (1,234)", ["-1234"]),
        ("-3.5", ["-3.5"]),
        ("共 238000 单", ["238000"]),
        ("1.2.3 192.168.0.1 GPT-4.5 doc_12345 A1.5", []),
        ("第 12 页，共 2024", []),
    ],
)
def test_plain_numbers_are_figures_not_labels(text: str, expected: list[str]) -> None:
    assert normals(text, "number") == expected


@pytest.mark.parametrize(
    ("text", "value", "place"),
    [
        ("二亿", 2 * 10**8, 8),
        ("壹佰贰拾叁万", 1_230_000, 4),
        ("一万二千亿", 12_000 * 10**8, 11),
        ("一万亿", 10**12, 12),
        ("两万五", 25_000, 3),
        ("一百二", 120, 1),
        ("一百零二", 102, 0),
        ("十二", 12, 0),
        ("二〇二四", 2024, 0),
        ("一点五亿", 150_000_000, 7),
    ],
)
def test_chinese_numerals_are_parsed(text: str, value: int, place: int) -> None:
    assert parse_chinese(text) == (Decimal(value), place)


@pytest.mark.parametrize("text", ["十十", "万", "一二万三四", "百", "亿万"])
def test_malformed_chinese_numerals_are_refused(text: str) -> None:
    assert parse_chinese(text) is None


def chinese(number: int) -> str:
    """Write a number below 10^8 in Chinese."""
    digits, out = "零一二三四五六七八九", ""
    for section, unit in ((number // 10_000, "万"), (number % 10_000, "")):
        if not section:
            continue
        if out and section < 1000:
            out += "零"
        written, pending = "", False
        for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = section // power % 10
            if digit:
                written += ("零" if pending else "") + digits[digit] + name
                pending = False
            elif written:
                pending = True
        out += written + unit
    return out


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_parse_back(number: int) -> None:
    parsed = parse_chinese(chinese(number))
    assert parsed is not None
    assert parsed[0] == number


@given(
    st.decimals(Decimal("-1e12"), Decimal("1e12"), places=2, allow_nan=False), st.sampled_from(["CNY", "USD", "HKD"])
)
def test_amounts_parse_back(value: Decimal, currency: str) -> None:
    (symbol,) = LANGUAGE.read(f"{currency} {value:,.2f}", tenant="t")
    assert symbol.normal == f"{currency} {plain(value)}"


@given(st.decimals(Decimal("0.01"), Decimal("9999"), places=2))
def test_one_amount_in_two_scales_is_one_value(value: Decimal) -> None:
    (in_yi,) = LANGUAGE.read(f"{value}亿元", tenant="t")
    (in_million,) = LANGUAGE.read(f"RMB {value * 100} million", tenant="t")
    assert (in_yi.normal, in_yi.token) == (in_million.normal, in_million.token)


@given(st.dates(date(1950, 1, 1), date(2049, 12, 31)))
def test_dates_parse_back(day_: date) -> None:
    texts = [
        day_.isoformat(),
        f"{day_.year}年{day_.month}月{day_.day}日",
        f"{day_:%d %B %Y}",
        f"{day_:%B} {day_.day}, {day_.year}",
    ]
    assert {n for text in texts for n in normals(text)} == {day_.isoformat()}


@given(st.integers(1900, 2100), st.integers(1, 4), st.integers(1, 12), st.integers(1, 12))
def test_span_normal_forms_parse_back(year: int, n: int, a: int, b: int) -> None:
    for span in (
        quarter(year, n),
        half(year, (n + 1) // 2),
        whole_year(year),
        months(year, min(a, b), max(a, b)),
        day(year, a, b),
    ):
        assert span is not None
        assert parse_span(normal_of(span)) == span
