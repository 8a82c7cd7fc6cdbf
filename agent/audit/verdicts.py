"""Verdicts, evidence and risk: what an audit says."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from retrieval.types import Value

VerdictKind = Literal[
    "supported", "partly_supported", "contradicted", "unsupported", "uncited", "general", "not_a_claim"
]
Flag = Literal["off_question", "unhedged"]
Risk = Literal["low", "medium", "high"]
Action = Literal["none", "repaired", "repair_failed", "withheld"]
"""What followed from an audit: nothing; another answer that holds better; none that does; no answer."""


class Evidence(Value):
    """One check of one sentence: which rule looked at what, and what it found.

    Spans are half-open. The answer span is in the answer's text; the source span in the cited
    passage's `text`.
    """

    rule: str
    """`tag`, `figure`, `quote`, `support`, …"""
    passed: bool
    detail: str
    """For people, in the answer's language: what was compared with what."""
    label: str | None = None
    answer_span: tuple[int, int] | None = None
    source_span: tuple[int, int] | None = None
    answer_value: str | None = None
    source_value: str | None = None


class SentenceVerdict(Value):
    """The verdict on one sentence of the answer."""

    index: int = Field(ge=0)
    start: int
    """Half-open span in the answer's text, tags included."""
    end: int
    text: str
    """The sentence without its tags."""
    kind: VerdictKind
    labels: tuple[str, ...] = ()
    """Labels the sentence cites, in order, valid or not."""
    unknown_labels: tuple[str, ...] = ()
    """Cited labels that are no passage of this run: a violation."""
    flags: tuple[Flag, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    proposed: tuple[Evidence, ...] = ()
    """Passages of the run that would support an uncited sentence: the auditor's own proposal, no citation."""


class Audit(Value):
    """The audit of a whole answer."""

    risk: Risk
    sentences: tuple[SentenceVerdict, ...] = ()
    violations: tuple[str, ...] = ()
    """For people: every unknown or malformed tag, named."""
    action: Action = "none"
