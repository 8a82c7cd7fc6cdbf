from __future__ import annotations

from decimal import Decimal

import pytest

from retrieval.symbols.compare import Magnitude, compare, parse_normal
from retrieval.symbols.language import load_language
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
