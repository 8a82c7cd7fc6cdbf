"""One audit as a report: the answer's sentences beside what their sources say, with the hashes of the evidence.

Only who asked sees texts. For others of the tenant who may see audits at all, a report has verdicts,
references and hashes.
"""

from __future__ import annotations

from agent.audit.verdicts import Action, Evidence, Flag, Risk, VerdictKind
from agent.audits import AuditRow, AuditSource, text_sha256
from agent.events import RunCompleted
from agent.tombstones import TOMBSTONE
from retrieval.types import Passage, Value


class ReportedSource(Value):
    """A cited passage."""

    label: str
    document_id: str
    text_sha256: str
    """When the answer was audited."""
    standing: str
    """`unchanged`, `rewritten` (pseudonyms or rules of symbols changed), `replaced`, `deleted`."""
    title: str = ""
    page: int | None = None
    text: str = ""
    """As stored; empty where the reader must not see it."""


class ReportedSentence(Value):
    """A sentence and its verdict."""

    index: int
    kind: VerdictKind
    labels: tuple[str, ...]
    unknown_labels: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    text: str = ""
    text_sha256: str
    checks: tuple[Evidence, ...] = ()
    proposed: tuple[Evidence, ...] = ()


class AuditReport(Value):
    """One audit."""

    run_id: str
    trace_id: str
    user: str
    at: str
    risk: Risk
    action: Action
    status: str
    question: str = ""
    answer: str = ""
    answer_sha256: str
    sentences: tuple[ReportedSentence, ...]
    violations: tuple[str, ...] = ()
    sources: tuple[ReportedSource, ...]
    model: str
    encoder: str


def report_of(row: AuditRow, done: RunCompleted, question: str, *, texts: bool) -> AuditReport:
    """Return the report of a stored answer.

    Args:
        row: what is kept of its audit.
        done: the stored end of its run.
        question: of the run.
        texts: whether the reader may see texts.
    """
    passages = {passage.label: passage for passage in done.passages}
    return AuditReport(
        run_id=row.run_id,
        trace_id=done.trace_id,
        user=row.user,
        at=row.at.isoformat(),
        risk=row.risk,
        action=row.action,
        status=row.status,
        question=question if texts else "",
        answer=done.answer if texts else "",
        answer_sha256=text_sha256(done.answer),
        sentences=tuple(
            ReportedSentence(
                index=each.index,
                kind=each.kind,
                labels=each.labels if texts else tuple(label for label in each.labels if label in passages),
                unknown_labels=each.unknown_labels if texts else (),
                flags=each.flags,
                text=each.text if texts else "",
                text_sha256=text_sha256(each.text) if texts else "",
                checks=each.evidence if texts else (),
                proposed=each.proposed if texts else (),
            )
            for each in done.audit.sentences
        ),
        violations=done.audit.violations if texts else (),
        sources=tuple(_source(each, passages[each.label], texts=texts) for each in row.sources),
        model=done.model,
        encoder=done.encoder,
    )


def _source(source: AuditSource, passage: Passage, *, texts: bool) -> ReportedSource:
    chunk = passage.chunk
    if source.stale is not None:
        standing = str(source.stale)
    elif chunk.text.startswith(TOMBSTONE):
        standing = "deleted"
    else:
        standing = "unchanged" if text_sha256(chunk.text) == source.text_sha256 else "rewritten"
    return ReportedSource(
        label=source.label,
        document_id=source.document_id,
        text_sha256=source.text_sha256,
        standing=standing,
        title=chunk.title if texts else "",
        page=chunk.page_start,
        text=passage.evidence_text if texts else "",
    )
