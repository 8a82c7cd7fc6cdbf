"""What a run's answer amounts to: its status, and the sources it cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent.audit.verdicts import Audit
from agent.events import RunCompleted
from agent.models.wording import wording
from retrieval.decisions import Outcome
from retrieval.labels import find_tags
from retrieval.types import Passage, Tier

Status = Literal["answered", "not_in_documents", "general", "stopped_by_guard", "handed_over", "withheld"]

_RESTS_ON_SOURCES = frozenset({"supported", "partly_supported", "contradicted"})

_SAID_SO = (wording("zh").not_in_documents, wording("en").not_in_documents)


def status_of(answer: str, audit: Audit, tier: Tier, *, stopped: bool, handed_over: bool = False) -> Status:
    """Return the status of an answer.

    `not_in_documents`: the run was to answer from documents, and no sentence of the answer
    was found to rest on a source. A contradicted sentence does rest on one: its answer
    was given, and is wrong. An answer that opens by saying so may still name the nearest sources.
    """
    if audit.action == "withheld":
        return "withheld"
    if handed_over:
        return "handed_over"
    if stopped:
        return "stopped_by_guard"
    if tier != "none" and answer.startswith(_SAID_SO):
        return "not_in_documents"
    if any(sentence.kind in _RESTS_ON_SOURCES for sentence in audit.sentences):
        return "answered"
    return "general" if tier == "none" else "not_in_documents"


def outcome_of(done: RunCompleted) -> Outcome | None:
    """Return what the decision log keeps of a run's end; None where a guard cut it off without an answer."""
    if done.tier == "none":
        return "general"  # whatever tools it used: no document was asked for
    if done.status in ("general", "not_in_documents"):
        return done.status
    if done.status == "withheld":
        return "unsupported"
    if not any(sentence.kind in _RESTS_ON_SOURCES for sentence in done.audit.sentences):
        return None
    held = done.audit.risk != "high" and not done.audit.violations
    return "answered" if held else "unsupported"


def cited_passages(answer: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that the answer cites, in the order of their first citation."""
    by_label = {passage.label: passage for passage in passages}
    labels = dict.fromkeys(tag.label for tag in find_tags(answer))
    return [by_label[label] for label in labels if label in by_label]
