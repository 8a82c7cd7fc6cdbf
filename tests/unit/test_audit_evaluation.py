"""The auditor's own figures: how it does on labelled answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.auditor import Auditor
from agent.audit.evaluation import AuditCase, evaluate, read_cases
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


@pytest.mark.eval
def test_auditor_keeps_true_answers_and_catches_changed_numbers(eval_data: Path, auditor: Auditor) -> None:
    cases = read_cases(eval_data / "cmrc2018" / "derived_auditor_trial.jsonl")
    # All changed numbers, every third of the rest: enough to see a rule break, in a third of the time.
    report = evaluate((c for n, c in enumerate(cases) if c.kind == "number_changed" or n % 3 == 0), auditor)
    assert report.of("gold").rejected <= 0.02
    assert (report.of("number_changed").balanced_accuracy or 0) >= 0.94
    assert (report.of("wrong_passage").balanced_accuracy or 0) >= 0.96
