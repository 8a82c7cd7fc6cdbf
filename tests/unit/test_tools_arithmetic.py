from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ToolArgumentsError
from agent.fakes import FakeLibrary, FakeSearcher
from agent.tools.arithmetic import ExpressionError, compute
from agent.tools.base import ToolContext
from agent.tools.builtin.calculate import Calculate
from retrieval.labels import LabelBook
from retrieval.types import Principal, SearchFilter


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("0.1 + 0.2", "0.3"),
        ("2.38亿 * (1 + 5.2%)", "250376000"),
        ("238 million - 2.38亿", "0"),
        ("1,234.50 元 * 2", "2469"),
        ("（１２＋３）×２÷５", "6"),
        ("5.2% - 3.1%", "0.021"),
        ("-3 万 + abs(-2)", "-29998"),
        ("2^10", "1024"),
        ("max(1, 2, 3) + min(4, 5)", "7"),
        ("sum(1, 2, 3) =", "6"),
        ("3 bn / 2", "1500000000"),
    ],
)
def test_compute_is_exact(expression: str, text: str) -> None:
    computed = compute(expression)
    assert computed.text == text
    assert computed.exact


def test_compute_says_when_a_result_is_rounded() -> None:
    computed = compute("1/3")
    assert computed.text == "0." + "3" * 28
    assert not computed.exact
    assert compute("round(7.245, 2)").text == "7.25"


@pytest.mark.parametrize(
    "expression",
    [
        "1/0",
        "9**9**9",
        "10**999*10**999*10**999",
        "__import__('os').system('x')",
        "n0",
        "'a' * 9",
        "[1][0]",
        "lambda: 1",
        "(" * 300 + "1" + ")" * 100,
        "1 + " * 120 + "1",
        "RMB 5 million + $3",
        "max(100,200)",
        "round(1, 2, 3)",
        "abs(1, 2)",
        "0 ** 0",
        "(0-1) ** 0.5",
        "",
        "x" * 600,
        "10 % 3",
    ],
)
def test_compute_refuses_what_is_no_arithmetic_or_undefined(expression: str) -> None:
    with pytest.raises(ExpressionError):
        compute(expression)


@given(st.decimals(-(10**9), 10**9, places=3), st.decimals(-(10**9), 10**9, places=3))
def test_compute_agrees_with_decimal(a: Decimal, b: Decimal) -> None:
    assert compute(f"({a}) + ({b}) * 2").value == a + b * 2


@pytest.mark.parametrize(
    ("expression", "zh", "en"),
    [
        ("2.38亿元 * (1 + 5.2%)", "250376000元 (2.50376亿元)", "CNY 250376000 (CNY 250.376 million)"),
        ("$3.2m + USD 500k", "USD 3700000 (USD 370万)", "USD 3700000 (USD 3.7 million)"),
        ("5.2% - 3.1%", "2.1 个百分点", "2.1 percentage points"),
        ("5.2% + 30bp", "5.5%", "5.5%"),
        ("avg(5%, 7%)", "6%", "6%"),
        ("round(growth(3亿元, 3.5亿元), 1)", "16.7%", "16.7%"),
        ("1亿元 / 4亿元", "0.25 (25%)", "0.25 (25%)"),
        ("12元/吨 * 5吨", "60元", "CNY 60"),
        ("5万元 / 20人", "2500 CNY/person", "2500 CNY/person"),
        ("5 miles in km", "8.04672 km", "8.04672 km"),
        ("3亩 + 2亩 in 亩", "5 亩", "5 亩"),
        ("3小时 + 45分钟 in hours", "3.75 hours", "3.75 hours"),
        ("2.38亿元 换算成百万元", "238 百万元", "238 百万元"),
        ("238,000,000 in 亿", "2.38 亿", "2.38 亿"),
        ("0.085 in %", "8.5%", "8.5%"),
    ],
)
def test_compute_writes_the_result_in_its_unit(expression: str, zh: str, en: str) -> None:
    computed = compute(expression)
    assert computed.written("zh").rpartition(" = ")[2] == zh
    assert computed.written("en").rpartition(" = ")[2] == en


def test_compute_shows_functions_as_formulas_and_rounds_what_has_no_end() -> None:
    assert compute("growth(2亿元, 2.5亿元)").written("en") == "(2.5亿元 - 2亿元) / 2亿元 = 25%"
    assert compute("share(3亿元, 7亿元)").written("zh") == "3亿元 / 7亿元 ≈ 42.85714285714285714285714286% (≈ 42.8571%)"
    assert compute("2^0.5").written("en").startswith("2^0.5 ≈ 1.414213562373095048801688724 ")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("¥5 + $3", "CNY and USD are different currencies"),
        ("growth(CNY 5, EUR 6)", "CNY and EUR are different currencies"),
        ("5元 / $3", "different currencies"),
        ("2.38亿元 in USD", "different currencies"),
        ("5kg + 3km", "kg and m has no meaning"),
        ("5kg in km", "kg and m has no meaning"),
        ("5kg + 3", "write the unit at each"),
        ("100元 + 5%", r"AMOUNT \* \(1 \+ 5%\)"),
        ("1 + 2个百分点", "percentage points are added to percentages only"),
        ("5元 * 3元", "money times money"),
        ("5m * 2", "million or metres"),
        ("growth(-3亿元, 2亿元)", "from zero or from a negative figure"),
        ("5 in parsecs", "no known unit"),
        ("2 ** 5kg", "an exponent has no unit"),
    ],
)
def test_compute_refuses_units_that_do_not_go_together(expression: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason):
        compute(expression)


def _context() -> ToolContext:
    return ToolContext(
        principal=Principal(tenant="local", user="owner"),
        language="zh",
        book=LabelBook(),
        searcher=FakeSearcher(),
        library=FakeLibrary(),
        filter=SearchFilter(),
        max_chars=2000,
    )


async def test_calculate_gives_a_citable_result() -> None:
    context = _context()
    result = await Calculate().run({"expression": "growth(2亿元, 2.5亿元)"}, context)
    assert result.label == "tool_calculate#1"
    assert context.results == {"tool_calculate#1": "(2.5亿元 - 2亿元) / 2亿元 = 25%"}
    with pytest.raises(ToolArgumentsError, match="different currencies"):
        await Calculate().run({"expression": "¥5 + $3"}, context)
    assert len(context.results) == 1


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(["元", "kg", "小时", " km", "股"]))
def test_units_cancel_and_add(a: int, b: int, unit: str) -> None:
    assert compute(f"{a}{unit} / {b}{unit} * {b}").value == a
    assert compute(f"{a}{unit} + {b}{unit} - {a}{unit}").value == compute(f"{b}{unit}").value


@given(st.text("0123456789.,+-*/()%^ 万亿nmaxbskgin=元$[]'\"_个百分点每吨", max_size=40))
def test_compute_is_total(expression: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert compute(expression).text
