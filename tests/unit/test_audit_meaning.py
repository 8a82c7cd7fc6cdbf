"""Quotations, opposite meanings, lexical support and other languages."""

from __future__ import annotations

import pytest

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.verdicts import Audit
from retrieval.symbols.language import load_language

LABEL = "doc_7f3a_p5"
ZH = (
    "员工出差须事先取得部门经理批准。出租车费用不得报销，但夜间航班除外。报销须在出差后 30 天内提交。"
    "第三季度营业收入下滑，主要原因是出口订单减少。公司称本次调整“不影响员工福利”。"
)
EN = (
    "Employees must obtain the approval of their manager before travelling. Taxi fares may not be reimbursed. "
    "Receipts must be submitted within 30 days of the trip. All contractors are covered by the policy. "
    "Export orders fell in the third quarter because demand in Europe was weak."
)


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def audit(auditor: Auditor, sentence: str, source: str, question: str = "") -> Audit:
    """Audit one sentence that cites one passage."""
    return auditor.audit(
        f"{sentence} [SOURCE: {LABEL}]",
        passages=[plain_passage(LABEL, source)],
        labels={LABEL},
        question=question,
        tier="strong",
        tenant="t",
    )


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("出租车费用可以报销。", ZH),
        ("出差无需事先取得部门经理批准。", ZH),
        ("报销须在出差前 30 天内提交。", ZH),
        ("第三季度营业收入上升。", ZH),
        ("Taxi fares may be reimbursed.", EN),
        ("Employees may obtain the approval of their manager before travelling.", EN),
        ("Employees must obtain the approval of their manager after travelling.", EN),
        ("Some contractors are covered by the policy.", EN),
        ("Contractors are not covered by the policy.", EN),
        ("Export orders rose in the third quarter.", EN),
    ],
)
def test_auditor_contradicts_the_opposite_of_its_source(auditor: Auditor, sentence: str, source: str) -> None:
    result = audit(auditor, sentence, source)
    assert result.sentences[0].kind == "contradicted"
    assert result.risk == "high"


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("出租车费用不得报销。", ZH),
        ("出差之前必须取得部门经理的批准。", ZH),
        ("第三季度营业收入下降，原因是出口订单减少。", ZH),
        ("报销应在出差后 30 天之内提交。", ZH),
        ("Taxi fares cannot be reimbursed.", EN),
        ("Employees have to obtain their manager's approval before travelling.", EN),
        ("Every contractor is covered by the policy.", EN),
        ("Export orders declined in the third quarter because European demand was weak.", EN),
    ],
)
def test_auditor_supports_a_faithful_paraphrase(auditor: Auditor, sentence: str, source: str) -> None:
    result = audit(auditor, sentence, source)
    assert (result.sentences[0].kind, result.risk) == ("supported", "low")


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("公司将于明年在深圳上市。", ZH),
        ("董事会任命了新的财务总监。", ZH),
        ("The board appointed a new chief financial officer.", EN),
        ("The canteen opens at noon and serves vegetarian food.", EN),
    ],
)
def test_auditor_does_not_support_what_the_source_is_silent_on(auditor: Auditor, sentence: str, source: str) -> None:
    result = audit(auditor, sentence, source)
    assert (result.sentences[0].kind, result.risk) == ("unsupported", "medium")


@pytest.mark.parametrize(
    ("sentence", "source", "kind"),
    [
        ("制度规定“出租车费用不得报销”。", ZH, "supported"),
        ("制度规定「出租车费用 不得报销，但夜间航班除外。」", ZH, "supported"),
        ("制度规定“出租车费用不得报销，但……除外”。", ZH, "supported"),
        ('The policy says "taxi fares may not be reimbursed".', EN, "supported"),
        ('The policy says "All contractors … by the policy."', EN, "supported"),
        # Not in the source.
        ("制度规定“出租车费用一律由公司承担”。", ZH, "unsupported"),
        ('The policy says "taxi fares are reimbursed in full every month".', EN, "unsupported"),
        # Glued from two places.
        ("制度规定“员工出差须在出差后 30 天内提交”。", ZH, "unsupported"),
        ("制度规定“员工出差须事先取得部门经理批准……报销须在出差后 30 天内提交”。", ZH, "unsupported"),
        # The omission turns the meaning round.
        ('The policy says "Taxi fares may … be reimbursed".', EN, "contradicted"),
    ],
)
def test_auditor_wants_quotations_verbatim(auditor: Auditor, sentence: str, source: str, kind: str) -> None:
    result = audit(auditor, sentence, source)
    assert result.sentences[0].kind == kind
    assert result.risk == ("low" if kind == "supported" else "high")


def test_auditor_accepts_a_quotation_from_the_question(auditor: Auditor) -> None:
    result = audit(auditor, "“打车费”即出租车费用，不得报销。", ZH, question="“打车费”能报销吗？")
    assert all(e.passed for e in result.sentences[0].evidence if e.rule == "quote")


@pytest.mark.parametrize(
    ("sentence", "source", "kind"),
    [
        ("Taxi fares are never reimbursed.", ZH, "unsupported"),
        ("Claims are due within 30 days.", ZH, "partly_supported"),
        ("费用须在 30 天内报销。", EN, "partly_supported"),
        ("费用须在 60 天内报销。", EN, "unsupported"),
        ("“Taxi fares may not be reimbursed.”", EN, "supported"),
        ("制度原文为“Taxi fares may not be reimbursed”。", EN, "supported"),
    ],
)
def test_auditor_judges_another_language_by_figures_and_quotations(
    auditor: Auditor, sentence: str, source: str, kind: str
) -> None:
    assert audit(auditor, sentence, source).sentences[0].kind == kind


def test_auditor_speaks_the_answers_language(auditor: Auditor) -> None:
    chinese = audit(auditor, "出租车费用可以报销。", ZH).sentences[0].evidence
    english = audit(auditor, "Taxi fares may be reimbursed.", EN).sentences[0].evidence
    assert any("意思相反" in e.detail for e in chinese)
    assert any("opposite meaning" in e.detail for e in english)
