"""The auditor's own figures: how it does on labelled answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.auditor import Auditor
from agent.audit.evaluation import AuditCase, evaluate, read_cases
from agent.audit.figure_writing import FigureStatement
from agent.audit.pair_evaluation import evaluate_pairs, random_pairs
from retrieval.symbols.language import load_language


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def case(kind: str, answer: str) -> AuditCase:
    return AuditCase(
        question="营业收入是多少？",
        answer=answer,
        context="公司营业收入为 2.38 亿元。",
        supported=kind == "gold",
        kind=kind,
    )


def test_evaluate_reports_each_kind(auditor: Auditor) -> None:
    report = evaluate(
        [
            case("gold", "营业收入为 2.38 亿元。"),
            case("gold", "营业收入为 238 百万元。"),
            case("number_changed", "营业收入为 2.58 亿元。"),
            case("number_changed", "营业收入为 2.38 亿元。"),
        ],
        auditor,
    )
    assert [kind.kind for kind in report.kinds] == ["gold", "number_changed"]
    assert report.of("gold").rejected == 0.0
    assert report.of("gold").balanced_accuracy is None
    assert report.of("number_changed").rejected == 0.5
    assert report.of("number_changed").balanced_accuracy == 0.75
    with pytest.raises(KeyError):
        report.of("wrong_passage")


def test_pairs_are_of_different_documents_and_hardly_supported(auditor: Auditor) -> None:
    cases = [case("gold", "营业收入为 2.38 亿元。"), case("gold", "托管人是江城银行。")]
    cases[1] = cases[1].model_copy(update={"context": "该基金的托管人是江城银行。"})
    statements = [
        FigureStatement(text, "", said, True, "stated", "en")
        for text, said in (
            ("Sales were 5.2 million.", "Sales were 5.2 million."),
            ("Costs were 7.1 million.", "Costs were 7.1 million."),
        )
    ]
    pairs = random_pairs(cases, statements, 6)
    assert len(pairs) == 6
    assert all(pair.answer.rstrip("。.") not in pair.context for pair in pairs)
    report = evaluate_pairs(pairs, auditor)
    assert report.sentences == 6
    assert report.metrics["unsupported"] == 1.0
    with pytest.raises(ValueError, match="two documents"):
        random_pairs(cases[:1], statements, 2)


@pytest.mark.eval
def test_auditor_keeps_true_answers_and_catches_changed_numbers(eval_data: Path, auditor: Auditor) -> None:
    cases = read_cases(eval_data / "cmrc2018" / "derived_auditor_trial.jsonl")
    # All changed numbers, every third of the rest: enough to see a rule break, in a third of the time.
    report = evaluate((c for n, c in enumerate(cases) if c.kind == "number_changed" or n % 3 == 0), auditor)
    assert report.of("gold").rejected <= 0.02
    assert (report.of("number_changed").balanced_accuracy or 0) >= 0.94
    assert (report.of("wrong_passage").balanced_accuracy or 0) >= 0.96
