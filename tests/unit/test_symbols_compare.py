from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.compare import Comparison, Magnitude, compare, equivalent, parse_normal
from retrieval.symbols.language import load_language
from retrieval.symbols.relations import after, before, contains, convert, rounds_to
from retrieval.symbols.values.calendar import Span
from retrieval.types import Symbol

LANGUAGE = load_language(b"0123456789abcdef")


def read(text: str) -> Symbol:
    symbols = LANGUAGE.read(text, tenant="t")
    return symbols[0]


@pytest.mark.parametrize(
    ("stated", "source", "expected"),
    [
        ("RMB 238 million", "2.38 亿元", "equal"),
        ("2.38 billion yuan", "2.38 亿元", "different"),
        ("2.4 亿元", "238,000,000 元", "rounded"),
        ("2.4 亿元", "2.38 亿元", "rounded"),
        ("2.40 亿元", "2.38 亿元", "different"),
        ("2.3 亿元", "2.38 亿元", "different"),
        ("2-3亿元", "2.2亿元", "rounded"),
        ("238,000,000元", "2.4亿元", "incomparable"),
        ("238 million", "2.38 亿元", "equal"),
        ("2.38 亿", "RMB 238 million", "equal"),
        ("USD 238 million", "RMB 238 million", "different"),
        ("2.38亿元", "-2.38亿元", "different"),
        ("二亿元", "2.1亿元", "rounded"),
        ("1,234", "1234.0", "equal"),
        ("1,234", "1,235", "different"),
        ("238 million", "1,234", "incomparable"),
        ("5%", "5.2%", "rounded"),
        ("5.0%", "5.2%", "different"),
        ("5.2%", "5.24%", "rounded"),
        ("下滑5.2%", "fell by 5.2%", "equal"),
        ("下滑5.2%", "增长5.2%", "different"),
        ("5.2%", "5.2个百分点", "incomparable"),
        ("50个基点", "0.5个百分点", "equal"),
        ("5.2%", "2.38亿元", "incomparable"),
        ("2024年第三季度", "Q3 2024", "equal"),
        ("2024年第三季度", "Q3 2023", "different"),
        ("2024年", "Q3 2024", "contains"),
        ("2024年第三季度", "2024-08-15", "contains"),
        ("2024-08-15", "2024年第三季度", "incomparable"),
        ("2024-08-15", "2024-08-16", "different"),
        ("2024年", "2.38亿元", "incomparable"),
        ("C1客户", "c1 customers", "equal"),
        ("C1客户", "C2客户", "different"),
        ("C1客户", "R1基金", "incomparable"),
        ("13812345678", "+86 138-1234-5678", "equal"),
        ("13812345678", "13812345679", "different"),
        ("13812345678", "a@b.com", "incomparable"),
    ],
)
def test_compare(stated: str, source: str, expected: str) -> None:
    assert compare(read(stated), read(source)) == expected


@pytest.mark.parametrize(
    ("stated", "source", "expected"),
    [
        ("约2.4亿元", "2.38亿元", "rounded"),
        ("约200万元", "203万元", "rounded"),
        ("200.0万元", "203万元", "different"),
        ("约200万元", "290万元", "different"),
        ("超过2亿元", "2.38亿元", "contains"),
        ("超过2亿元", "1.9亿元", "different"),
        ("不超过5%", "4.2%", "contains"),
        ("不低于5%", "4.2%", "different"),
        ("2亿元以上", "2亿元", "equal"),
        ("2.38亿元", "超过2亿元", "incomparable"),
        ("1.5亿元", "超过2亿元", "different"),
        ("低于5000元", "高于5000元", "different"),
        ("高于5000元", "5000元以上", "equal"),
        ("at least RMB 3 million", "at least RMB 2 million", "incomparable"),
        ("1500吨", "1,500,000 kg", "equal"),
        ("1.5千吨", "1,500 tonnes", "equal"),
        ("5 miles", "8公里", "rounded"),
        ("1500吨", "1,500", "equal"),
        ("3.304平方公里", "62", "incomparable"),
        ("36家分行", "42 branches", "different"),
        ("36家分行", "36人", "incomparable"),
        ("36家分行", "36吨", "incomparable"),
        ("120万", "120万人", "equal"),
        ("1.5倍", "3:2", "equal"),
        ("1.5倍", "150%", "incomparable"),
        ("每股0.5元", "0.50 yuan per share", "equal"),
        ("每股0.5元", "0.5元", "equal"),
        ("每股0.5元", "0.6元", "incomparable"),
        ("每股0.5元", "每股0.6元", "different"),
        ("12元/吨", "0.012元/公斤", "equal"),
        ("200 shares", "USD 200", "incomparable"),
    ],
)
def test_compare_takes_units_and_qualifiers_at_their_word(stated: str, source: str, expected: Comparison) -> None:
    assert compare(read(stated), read_figure(source)) == expected


def read_figure(text: str) -> Symbol:
    """A small integer is a number for the auditor only."""
    symbols = LANGUAGE.read(text, tenant="t") or LANGUAGE.read_numbers(text, tenant="t")
    return symbols[0]


_FIGURES = [
    *(
        "2.38亿元",
        "RMB 238 million",
        "USD 238 million",
        "1500吨",
        "1,500,000 kg",
        "36家",
        "36 branches",
        "36人",
        "1.5倍",
    ),
    *(
        "3:2",
        "150%",
        "1.5个百分点",
        "150个基点",
        "12,345",
        "12345人",
        "2024年第三季度",
        "2024-07-01 to 2024-09-30",
        "每股0.5元",
    ),
    *("RMB 0.5 per share", "C1客户", "13812345678", "+86 138-1234-5678", "120万", "120万人"),
]


@given(st.sampled_from(_FIGURES), st.sampled_from(_FIGURES), st.sampled_from(_FIGURES))
def test_equivalence_is_reflexive_symmetric_and_transitive(a: str, b: str, c: str) -> None:
    x, y, z = read(a), read(b), read(c)
    assert equivalent(x, x)
    assert equivalent(x, y) == equivalent(y, x)
    if equivalent(x, y) and equivalent(y, z):
        assert equivalent(x, z)
    if equivalent(x, y):
        assert compare(x, y) == "equal"
    assert (compare(x, y) == "equal") == (compare(y, x) == "equal")


def symbol(kind: str, normal: str) -> Symbol:
    return Symbol(cls="value", kind=kind, normal=normal, token="[X]", start=0, end=1, surface=normal)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("P1Y", "P12M", True),
        ("P14D", "PT336H", True),
        ("PT90M", "PT5400S", True),
        ("P1M", "P30D", False),
        ("PT1M", "P1M", False),
    ],
)
def test_durations_are_equivalent_after_conversion(left: str, right: str, same: bool) -> None:
    assert equivalent(symbol("duration", left), symbol("duration", right)) is same


@pytest.mark.parametrize(
    ("kind", "normal", "unit", "expected"),
    [
        ("quantity", "2 kg", "g", "2000"),
        ("quantity", "1500000 kg", "吨", "1500"),
        ("quantity", "3000 m", "公里", "3"),
        ("quantity", "2 kg", "km", None),
        ("quantity", "120000", "person", None),
        ("percent_points", "0.5pp", "bps", "50"),
        ("percent", "30%", "成", "3"),
        ("duration", "P1Y", "months", "12"),
        ("duration", "P14D", "weeks", "2"),
        ("duration", "P1M", "days", None),
        ("amount", "USD 5", "CNY", None),
        ("period", "2024", "months", None),
    ],
)
def test_values_convert_to_units_of_their_sort(kind: str, normal: str, unit: str, expected: str | None) -> None:
    assert convert(symbol(kind, normal), unit) == (None if expected is None else Decimal(expected))


def test_order_of_dates_and_periods_is_strict() -> None:
    quarter, day, year = symbol("period", "2024Q3"), symbol("date", "2024-10-01"), symbol("period", "2024")
    assert before(quarter, day)
    assert after(day, quarter)
    assert not before(quarter, quarter)
    assert not before(year, day)
    assert contains(year, quarter)
    assert not contains(quarter, year)
    with pytest.raises(ValueError, match="no date or period"):
        before(quarter, symbol("quantity", "5 kg"))


def test_a_stated_figure_stands_for_what_it_was_rounded_from() -> None:
    assert rounds_to(read("2.38亿元"), read("2.4亿元"))
    assert not rounds_to(read("2.38亿元"), read("2.5亿元"))


def test_normal_forms_are_parsed() -> None:
    assert parse_normal("amount", "CNY 238000000") == Magnitude(Decimal(238_000_000), "CNY")
    assert parse_normal("percent", "-5.2%") == Magnitude(Decimal("-5.2"), "%")
    assert parse_normal("percent_points", "0.5pp") == Magnitude(Decimal("0.5"), "pp")
    assert parse_normal("number", "2024") == Magnitude(Decimal(2024), "")
    year = parse_normal("period", "2024")
    assert isinstance(year, Span)
    assert (year.first.isoformat(), year.last.isoformat()) == ("2024-01-01", "2024-12-31")


@pytest.mark.parametrize(
    ("kind", "normal"), [("amount", "238"), ("percent", "x"), ("period", "2024Q5"), ("email", "a@b.com")]
)
def test_malformed_normal_forms_are_refused(kind: str, normal: str) -> None:
    with pytest.raises(ValueError, match="no normal form"):
        parse_normal(kind, normal)
