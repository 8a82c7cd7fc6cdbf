"""Sources proposed for sentences that name none: marked as the auditor's own, never added."""

from __future__ import annotations

from typing import Any

import pytest

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.proposals import with_proposals
from agent.audit.verdicts import Audit
from agent.emitter import Emitter
from agent.events import SentenceAudited
from agent.fakes import FakeClock
from agent.rewriting import rewrite
from agent.tombstones import entomb
from retrieval.symbols.language import load_language

TEXTS = {
    "doc_7f3a_p1": "净利润 0.31 亿元。出口订单减少。",
    "doc_7f3a_p2": "第三季度营业收入 2.38 亿元，同比下滑 5.2%。",
    "doc_7f3a_p3": "Employees must submit receipts within 30 days. Taxi fares may not be reimbursed.",
}
AUDITOR = Auditor(load_language(b"0123456789abcdef"))


def audited(answer: str, tier: Any = "strong", texts: dict[str, str] = TEXTS) -> Audit:
    def check(text: str) -> Audit:
        return AUDITOR.audit(
            text,
            passages=[plain_passage(label, each) for label, each in texts.items()],
            labels=set(texts),
            question="",
            tier=tier,
            tenant="t",
            tool_results={},
        )

    return with_proposals(check(answer), texts, check, "proposed: {label}")


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("第三季度营业收入为 2.38 亿元，同比下滑 5.2%。", "doc_7f3a_p2"),
        ("净利润为 0.31 亿元。", "doc_7f3a_p1"),
        ("Employees must submit receipts within 30 days.", "doc_7f3a_p3"),
        ("- 净利润为 0.31 亿元", "doc_7f3a_p1"),
    ],
)
def test_a_passage_that_supports_an_uncited_sentence_is_proposed(sentence: str, label: str) -> None:
    (verdict,) = audited(sentence).sentences
    assert (verdict.kind, verdict.labels) == ("uncited", ())
    (proposal,) = verdict.proposed
    assert (proposal.rule, proposal.passed, proposal.label) == ("proposal", False, label)
    assert proposal.detail == f"proposed: {label}"
    assert proposal.answer_span == (verdict.start, verdict.end)
    assert proposal.source_span is not None
    start, end = proposal.source_span
    assert TEXTS[label][start:end].strip()


@pytest.mark.parametrize(
    "sentence",
    [
        "第三季度营业收入为 3.38 亿元。",
        "The moon is made of green cheese.",
        "Taxi fares may be reimbursed.",
        "净利润为 0.31 亿元，出口订单增加。",
    ],
)
def test_nothing_is_proposed_that_does_not_fully_support(sentence: str) -> None:
    (verdict,) = audited(sentence).sentences
    assert (verdict.kind, verdict.proposed) == ("uncited", ())


def test_cited_and_general_sentences_get_no_proposal_and_risk_stays() -> None:
    answer = "净利润为 0.31 亿元。[SOURCE: doc_7f3a_p1]\n\n第三季度营业收入为 2.38 亿元。"
    result = audited(answer)
    assert [(each.kind, bool(each.proposed)) for each in result.sentences] == [("supported", False), ("uncited", True)]
    assert result.risk == "medium"
    assert not any(each.proposed for each in audited("净利润为 0.31 亿元。", tier="none").sentences)
    assert not any(each.proposed for each in audited("净利润为 0.31 亿元。", texts={}).sentences)


def test_many_sentences_and_passages_are_tried_in_one_audit() -> None:
    texts = {f"doc_7f3a_p{n}": f"Item {n} weighs {n + 100} kg and is stored in hall {n}." for n in range(1, 11)}
    answer = "\n\n".join(f"Item {n} weighs {n + 100} kg." for n in range(1, 11))
    result = audited(answer, texts=texts)
    assert [[each.label for each in verdict.proposed] for verdict in result.sentences] == [
        [f"doc_7f3a_p{n}"] for n in range(1, 11)
    ]


def test_proposals_are_reached_by_erasure_and_rewriting() -> None:
    (verdict,) = audited("净利润为 0.31 亿元。").sentences
    event = Emitter("r", "t", FakeClock())(SentenceAudited, verdict=verdict)
    gone = entomb(event, {"plain"}, {"doc_7f3a_p1"})
    assert isinstance(gone, SentenceAudited)
    assert gone.verdict.proposed[0].detail == "[deleted]"
    (hidden,) = rewrite([event], lambda text: text.replace("proposed", "PROPOSED"))
    assert isinstance(hidden, SentenceAudited)
    assert hidden.verdict.proposed[0].detail == "PROPOSED: doc_7f3a_p1"
