"""Sentences that put one thing in another's place or widen what was said, and the set to measure that on."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.auditor import Auditor
from agent.audit.sentence_evaluation import evaluate_sentences, verdict_on_sentence
from agent.audit.sentence_set import JudgedSentence, Kind, read_judged
from ingest.evaluation import default_expected
from retrieval.symbols.language import load_language

RULES = "未经仓库主管批准的货物，门卫不予放行。宏远物流把全部冷链车辆交给安捷维修保养。"
LEASE = "The tenant pays the landlord on the first day of each month. The caretaker keeps the spare keys of the house."


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def judged(text: str, passage: str | None, *, supported: bool = False, kind: Kind = "swapped") -> JudgedSentence:
    return JudgedSentence("zh" if text >= "\u2e80" else "en", kind, text, passage, supported, apart=False)


@pytest.mark.parametrize(
    ("text", "passage", "verdict"),
    [
        ("未经销售经理批准的货物，门卫不予放行。", RULES, "partly_supported"),  # a stranger to the source
        ("未经门卫批准的货物，仓库主管不予放行。", RULES, "contradicted"),  # both stand there
        ("未经仓库主管批准的货物，门卫部分放行。", RULES, "partly_supported"),
        ("The landlord pays the tenant on the first day of each month.", LEASE, "contradicted"),
        ("The neighbour keeps the spare keys of the house.", LEASE, "partly_supported"),
        ("Only the caretaker keeps the spare keys of the house.", LEASE, "partly_supported"),
        ("Nobody may enter the cellar.", "Visitors may enter the cellar.", "contradicted"),
        (
            "The system does not reject orders above the limit.",
            "The system rejects orders above the limit.",
            "contradicted",
        ),
    ],
)
def test_another_subject_or_a_wider_statement_is_not_supported(
    auditor: Auditor, text: str, passage: str, verdict: str
) -> None:
    assert verdict_on_sentence(judged(text, passage), auditor) == verdict


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("没有仓库主管批准的货物，门卫不予放行。", RULES),
        ("The spare keys of the house are kept by the caretaker.", LEASE),
        ("The landlord is paid by the tenant on the first day of each month.", LEASE),
        ("The meeting did not approve the plan.", "The meeting rejected the plan."),
        ("单一股票的持仓上限为净值的一成。", "单一股票的持仓不得超过净值的一成。"),
    ],
)
def test_a_paraphrase_is_supported(auditor: Auditor, text: str, passage: str) -> None:
    assert verdict_on_sentence(judged(text, passage), auditor) == "supported"


def test_the_report_counts_both_sides_and_each_kind(auditor: Auditor) -> None:
    apart = [
        JudgedSentence("en", "paraphrase", "The caretaker keeps the spare keys.", LEASE, supported=True, apart=True),
        JudgedSentence(
            "en", "invented_source", "The caretaker keeps the spare keys.", None, supported=False, apart=True
        ),
    ]
    report = evaluate_sentences([*apart, judged("The caretaker keeps the spare keys.", LEASE)], auditor)
    assert report.macro_f1_apart == 1.0
    assert report.macro_f1 == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert report.metrics["en.invented_source.apart"] == 1.0
    assert report.metrics["en.swapped"] == 0.0


def test_a_set_with_one_side_only_measures_nothing(auditor: Auditor) -> None:
    with pytest.raises(ValueError, match="missing"):
        evaluate_sentences([judged("The caretaker keeps the keys.", LEASE)], auditor)


def test_the_set_has_a_third_apart_and_every_kind() -> None:
    found = read_judged(default_expected().with_name("sentences") / "sentences.jsonl")
    assert len(found) >= 600
    assert 0.3 <= sum(one.apart for one in found) / len(found) <= 0.4
    assert {one.kind for one in found if one.apart} == {one.kind for one in found}


def test_a_line_that_is_no_passage_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sentences.jsonl"
    file.write_text('{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="passages"):
        read_judged(file)


@pytest.mark.eval
def test_the_auditor_tells_supported_sentences_from_others(auditor: Auditor) -> None:
    report = evaluate_sentences(read_judged(default_expected().with_name("sentences") / "sentences.jsonl"), auditor)
    assert report.macro_f1 >= 0.85
    assert report.macro_f1_apart >= 0.8
