"""What stands around a passage was shown under its label, so it is evidence; spans in the chunk stay."""

from __future__ import annotations

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.verdicts import Audit
from retrieval.symbols.language import load_language
from retrieval.types import Passage

LABEL = "doc_7f3a_p5"
OWN = "Hotels are reimbursed up to 500 yuan per night."


def audited(sentence: str, passage: Passage) -> Audit:
    return Auditor(load_language(bytes(32))).audit(
        f"{sentence} [SOURCE: {LABEL}]", passages=[passage], labels={LABEL}, question="", tier="strong", tenant="t"
    )


def test_audit_finds_a_figure_that_stands_beside_the_chunk() -> None:
    alone = plain_passage(LABEL, OWN, tenant="t")
    around = alone.model_copy(update={"context_after": "Travel expenses must be claimed within 30 days."})
    sentence = "Travel expenses must be claimed within 30 days."
    assert audited(sentence, alone).sentences[0].kind != "supported"
    assert audited(sentence, around).sentences[0].kind == "supported"
    wrong = audited("Travel expenses must be claimed within 60 days.", around).sentences[0]
    assert wrong.kind != "supported"


def test_audit_points_into_the_chunk_whatever_stands_before_it() -> None:
    passage = plain_passage(LABEL, OWN, tenant="t").model_copy(update={"context_before": "All staff travel by train."})
    verdict = audited(OWN, passage).sentences[0]
    assert verdict.kind == "supported"
    spans = [each.source_span for each in verdict.evidence if each.source_span is not None]
    assert spans
    assert all(end <= len(OWN) for _, end in spans)
