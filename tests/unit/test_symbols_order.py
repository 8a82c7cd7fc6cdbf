"""The order of codes within their vocabulary."""

from __future__ import annotations

import pytest

from retrieval.symbols.language import load_language
from retrieval.types import Symbol

LANGUAGE = load_language(bytes(16)).of("t")


def code(text: str) -> Symbol:
    (symbol,) = (s for s in LANGUAGE.read(text) if s.cls == "code")
    return symbol


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("C1客户", "C2客户", "below"),
        ("C5 customer", "保守型客户", "above"),
        ("R4基金", "an R4 fund", "equal"),
        ("C1客户", "R1基金", "incomparable"),
        ("信用评级AA+", "信用评级AA", "above"),
        ("信用评级BBB-", "信用评级BB+", "above"),
        ("信用评级C", "信用评级CC", "below"),
    ],
)
def test_codes_compare_within_their_vocabulary(left: str, right: str, expected: str) -> None:
    assert LANGUAGE.order.compare(code(left), code(right)) == expected


def test_at_least_and_at_most_name_the_codes_in_order() -> None:
    assert LANGUAGE.order.at_least(code("R4基金")) == ("R4", "R5")
    assert LANGUAGE.order.at_most(code("C2客户")) == ("C1", "C2")
    assert LANGUAGE.order.at_least(code("主体评级AA")) == ("AA", "AA+", "AAA")


def test_what_is_no_code_has_no_rank() -> None:
    (period,) = LANGUAGE.read("2024年第三季度")
    assert LANGUAGE.order.rank(period) is None
    assert LANGUAGE.order.at_least(period) == ()
    assert LANGUAGE.order.compare(period, period) == "incomparable"


def test_ranks_rise_with_the_code() -> None:
    ranks = [LANGUAGE.order.rank(code(f"主体评级{rating}")) for rating in ("BBB", "A", "AA-", "AAA")]
    assert ranks == sorted(r for r in ranks if r is not None)
