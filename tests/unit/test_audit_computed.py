"""Figures that follow from others: which computations are tried, from which cells, and what the formula says."""

from __future__ import annotations

import pytest

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.verdicts import SentenceVerdict
from retrieval.symbols.language import load_language

LABEL = "doc_f19e_s1"
REPORT = """(in millions)

|  | Year Ended March 31, |  |
| (Dollars in millions, except Comp.) | 2019 | 2018 |
| Deferred income: |  |  |
| Services | 40 | 31 |
| Cost of goods: |  |  |
| Net sales | $500.0 | $400.0 |
| Services | 210 | 160 |
| Marketing and travel expenses | (42.7) | (20.9) |
| Exchange effect | 12 | (30%) |
"""
MARCH = "公司2024年管理费用为 22.88 亿元，2023年为 16.93 亿元。公司2024年利息支出为 40.19 亿元，2023年为 53.05 亿元。"


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def verdict(auditor: Auditor, sentence: str, source: str = REPORT) -> SentenceVerdict:
    audit = auditor.audit(
        f"{sentence} [SOURCE: {LABEL}]",
        passages=[plain_passage(LABEL, source)],
        labels={LABEL},
        question="",
        tier="strong",
        tenant="plain",
    )
    (only,) = audit.sentences
    return only


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        ("Net sales increased by 25.0% from 2018 to 2019.", "($500.0 millions − $400.0 millions) ÷ $400.0 millions"),
        ("Net sales increased by $100 million from 2018 to 2019.", "$500.0 millions − $400.0 millions"),
        ("The average net sales were $450 million.", "($500.0 millions + $400.0 millions) ÷ 2"),
        ("The difference between net sales and services in 2019 was $290 million, both costs of goods.", "−"),
        ("The change in marketing and travel expenses from 2018 to 2019 was -$21.8 million.", "(42.7) millions"),
    ],
)
def test_a_figure_that_follows_from_the_table_is_supported_with_its_formula(
    auditor: Auditor, sentence: str, formula: str
) -> None:
    found = verdict(auditor, sentence)
    assert found.kind == "supported"
    assert any(formula in evidence.detail for evidence in found.evidence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Net sales increased by 20.0% from 2018 to 2019.",  # of the later year
        "Net sales decreased by 25.0% from 2018 to 2019.",
        "Net sales decreased by $100 million from 2018 to 2019.",
        "The average net sales were $455 million.",
    ],
)
def test_a_figure_worked_out_wrongly_is_not_supported(auditor: Auditor, sentence: str) -> None:
    assert verdict(auditor, sentence).kind != "supported"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("2024年管理费用与利息支出合计 63.07 亿元。", "supported"),
        ("2024年管理费用与利息支出合计 63.17 亿元。", "partly_supported"),
        ("2024年管理费用同比增长 35.1%。", "supported"),
        ("2024年管理费用同比下降 35.1%。", "partly_supported"),
    ],
)
def test_sums_and_growth_are_recomputed_from_prose(auditor: Auditor, sentence: str, kind: str) -> None:
    assert verdict(auditor, sentence, MARCH).kind == kind


@pytest.mark.parametrize(
    "sentence",
    [
        "Marketing and travel expenses were $500.0 million in 2019.",  # another row
        "Net sales were $400.0 million in 2019.",  # another column
        "2019年净销售额为 5 万美元。",
        "2024年利息支出为 22.88 亿元。",  # another sentence
    ],
)
def test_a_value_of_another_row_column_or_sentence_is_not_supported(auditor: Auditor, sentence: str) -> None:
    source = MARCH if "2024" in sentence else REPORT
    assert verdict(auditor, sentence, source).kind in ("contradicted", "unsupported", "partly_supported")


def test_a_percentage_in_brackets_has_fallen(auditor: Auditor) -> None:
    assert verdict(auditor, "Exchange effect fell by 30%.").kind == "supported"
    assert verdict(auditor, "Exchange effect rose by 30%.").kind == "contradicted"
