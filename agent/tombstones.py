"""What stays of a deleted document in the runs that used it: where it stood and the hash of its text.

The answer stays, for it is the run's own; what it was based on does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.events import (
    AnswerSuperseded,
    CitationAdded,
    Event,
    PassagesRetrieved,
    RunCompleted,
    SentenceAudited,
    ToolReturned,
)
from retrieval.types import Chunk, Passage

TOMBSTONE = "[deleted"
"""How the text of a tombstone begins; the rest names the hash of what was there."""
_TITLE = "[deleted]"


def entomb(event: Event, document_ids: Collection[str], labels: Collection[str]) -> Event:
    """Return the event without the text of these documents; the same event where it has none.

    Args:
        event: an event of a run.
        document_ids: the documents that are gone.
        labels: the labels that their passages have in this run.
    """
    match event:
        case PassagesRetrieved() | RunCompleted():
            passages = tuple(_passage(each, document_ids) for each in event.passages)
            changes: dict[str, object] = {"passages": passages}
            if isinstance(event, RunCompleted):
                changes["audit"] = _audit(event.audit, labels)
            changed = event.model_copy(update=changes)
        case ToolReturned() if any(label in event.observation for label in labels):
            changed = event.model_copy(update={"observation": _stone(event.observation)})
        case CitationAdded() if event.document_id in document_ids:
            changed = event.model_copy(update={"title": _TITLE})
        case SentenceAudited():
            changed = event.model_copy(update={"verdict": _verdict(event.verdict, labels)})
        case AnswerSuperseded():
            changed = event.model_copy(update={"failed": tuple(_verdict(each, labels) for each in event.failed)})
        case _:
            return event
    return event if changed == event else changed


def _passage(passage: Passage, document_ids: Collection[str]) -> Passage:
    if passage.chunk.document_id not in document_ids:
        return passage
    return passage.model_copy(
        update={"chunk": _chunk(passage.chunk), "stated_periods": (), "context_before": "", "context_after": ""}
    )


def _chunk(chunk: Chunk) -> Chunk:
    return chunk.model_copy(
        update={
            "text": _stone(chunk.text),
            "index_text": "",
            "heading_path": (),
            "symbols": (),
            "speaker": None,
            "title": _TITLE,
            "issuer": "",
        }
    )


def _audit(audit: Audit, labels: Collection[str]) -> Audit:
    return audit.model_copy(update={"sentences": tuple(_verdict(each, labels) for each in audit.sentences)})


def _verdict(verdict: SentenceVerdict, labels: Collection[str]) -> SentenceVerdict:
    proposed = tuple(_evidence(each, labels) for each in verdict.proposed)
    evidence = tuple(_evidence(each, labels) for each in verdict.evidence)
    return verdict.model_copy(update={"evidence": evidence, "proposed": proposed})


def _evidence(evidence: Evidence, labels: Collection[str]) -> Evidence:
    if evidence.label not in labels:
        return evidence
    return evidence.model_copy(update={"detail": _TITLE, "source_value": None})


def _stone(text: str) -> str:
    if text.startswith(TOMBSTONE):
        return text
    return f"{TOMBSTONE}; SHA-256 of the text {hashlib.sha256(text.encode()).hexdigest()}]"
