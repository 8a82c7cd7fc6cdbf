"""Writings of figures, days and papers that the challenge sentences showed: one test for each rule."""

from __future__ import annotations

from datetime import date

import pytest

from retrieval.symbols.language import SymbolLanguage
from retrieval.symbols.rules import FixedRules, TenantRules


def read(text: str) -> list[tuple[str, str]]:
    language = SymbolLanguage(FixedRules(TenantRules()), bytes(32))
    found = language.read(text, tenant="bank", base_date=date(2024, 11, 20))
    return [(s.kind, s.normal if s.cls == "value" else s.kind) for s in found if s.kind != "number"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Upon ninety (90) days' notice", [("duration", "P90D")]),
        ("Last month's sales", [("period", "2024-10")]),
        ("Fee: 25 pounds", [("amount", "GBP 25")]),
        ("The parcel weighs 10 pounds", [("quantity", "4.5359237 kg")]),
        ("必须退款2999块。", [("amount", "CNY 2999")]),
        ("dose 200 mg", [("quantity", "0.0002 kg")]),
        ("7.9 TWh of output", [("quantity", "7900000000 kWh")]),
        ("毛利率回落90BP至27.3%", [("percent_points", "-0.9pp"), ("percent", "27.3%")]),
        ("毛利率提升1.8pct至9.4%", [("percent_points", "1.8pp"), ("percent", "9.4%")]),
        ("17,widget,EUR 12.50,2024-04-30", [("amount", "EUR 12.5"), ("date", "2024-04-30")]),
        ("passports G44120987 and E77120945", [("passport", "passport")] * 2),
        ("京 B·8K302违停", [("plate", "plate")]),
    ],
)
def test_writings_of_documents_are_read(text: str, found: list[tuple[str, str]]) -> None:
    assert read(text) == found


@pytest.mark.parametrize("text", ["分成三块。", "10 pounds of flour", "passport photos, 35 and 45"])
def test_things_that_resemble_them_are_not(text: str) -> None:
    assert read(text) == []
