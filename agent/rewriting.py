"""A stored run under other symbol rules: every text of it changed, spans moved with the text they point into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.events import (
    AnswerSuperseded,
    ApprovalRequested,
    CitationAdded,
    Event,
    FormatError,
    GuardFired,
    HandedOver,
    Notice,
    PassagesRetrieved,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    RunCompleted,
    RunEdited,
    RunFailed,
    RunStarted,
    SentenceAudited,
    TextDelta,
    ThoughtDelta,
    ToolCalled,
    ToolReturned,
    TriggerDecided,
)
from agent.plan_items import PlanItem
from retrieval.types import Chunk, Passage

Change = Callable[[str], str]
_Moved = Callable[[int], int]


def rewrite(events: Sequence[Event], change: Change) -> list[Event]:
    """Return the events of one run with `change(text)` in the place of every text; equal ones stay the same objects.

    Pieces of one text (the answer as it was streamed) are changed together, for a secret may be torn
    between them: the first piece then holds all of it, the others nothing.
    """
    answer, draft = _answer(events), _draft(events)
    passages = {
        passage.label: passage.evidence_text
        for event in events
        if isinstance(event, PassagesRetrieved | RunCompleted)
        for passage in event.passages
    }
    rewriter = _Rewriter(change, answer, draft, passages)
    joined = _joined(events, change)
    result: list[Event] = []
    for event in events:
        changed = event.model_copy(update={"text": joined[event.seq]}) if event.seq in joined else rewriter.event(event)
        result.append(event if changed == event else changed)
    return result


def _answer(events: Sequence[Event]) -> str:
    completed = next((event.answer for event in events if isinstance(event, RunCompleted)), None)
    if completed is not None:
        return completed
    after = next((at for at, event in enumerate(events) if isinstance(event, AnswerSuperseded)), -1)
    return "".join(event.text for event in events[after + 1 :] if isinstance(event, TextDelta))


def _draft(events: Sequence[Event]) -> str:
    """Return what was streamed before the answer took its place."""
    end = next((at for at, event in enumerate(events) if isinstance(event, AnswerSuperseded)), 0)
    return "".join(event.text for event in events[:end] if isinstance(event, TextDelta))


def _joined(events: Sequence[Event], change: Change) -> dict[int, str]:
    """Return seq → text of the streamed pieces that must change: of draft and answer, and of each step's thought."""
    pieces: dict[int, list[TextDelta | ThoughtDelta]] = {}
    answers = 0
    for event in events:
        if isinstance(event, AnswerSuperseded):
            answers -= 1
        if isinstance(event, TextDelta | ThoughtDelta):
            pieces.setdefault(event.step if isinstance(event, ThoughtDelta) else answers, []).append(event)
    changed: dict[int, str] = {}
    for parts in pieces.values():
        text = "".join(part.text for part in parts)
        new = change(text)
        if new != text:
            changed |= {part.seq: "" for part in parts}
            changed[parts[0].seq] = new
    return changed


class _Rewriter:
    def __init__(self, change: Change, answer: str, draft: str, passages: dict[str, str]) -> None:
        self._change = change
        self._in_answer = _moved(answer, change(answer))
        self._in_draft = _moved(draft, change(draft))
        self._superseded = bool(draft)
        self._in_passage = {label: _moved(text, change(text)) for label, text in passages.items()}

    def event(self, event: Event) -> Event:
        """Return an event that is no piece of a streamed text as it must be."""
        change = self._change
        match event:
            case RunStarted():
                return event.model_copy(update={"question": change(event.question), "asked": change(event.asked)})
            case PassagesRetrieved():
                labels = frozenset(change(label) for label in event.filter.labels)
                return event.model_copy(
                    update={
                        "question": change(event.question),
                        "filter": event.filter.model_copy(update={"labels": labels}),
                        "passages": tuple(change_passage(each, self._change) for each in event.passages),
                    }
                )
            case TriggerDecided():
                return event.model_copy(update={"reasons": tuple(change(each) for each in event.reasons)})
            case ToolCalled():
                return event.model_copy(update={"arguments": change_within(event.arguments, change)})
            case RunEdited() | ApprovalRequested():
                arguments = change_within(event.arguments, change)
                return event.model_copy(update={"text": change(event.text), "arguments": arguments})
            case QuestionAsked() | HandedOver():
                update: dict[str, Any] = {"question": change(event.question)}
                if isinstance(event, HandedOver):
                    update |= {"reason": change(event.reason), "plan": _plan(event.plan, change)}
                return event.model_copy(update=update)
            case QuestionAnswered():
                return event.model_copy(update={"text": change(event.text)})
            case PlanChanged():
                return event.model_copy(update={"items": _plan(event.items, change)})
            case ToolReturned():
                return event.model_copy(update={"observation": change(event.observation)})
            case FormatError() | GuardFired():
                return event.model_copy(update={"reason": change(event.reason)})
            case Notice() | RunFailed():
                return event.model_copy(update={"message": change(event.message)})
            case CitationAdded():
                return event.model_copy(update={"title": change(event.title)})
            case SentenceAudited():
                in_text = self._in_draft if event.provisional and self._superseded else self._in_answer
                return event.model_copy(update={"verdict": self._verdict(event.verdict, in_text)})
            case AnswerSuperseded():
                failed = tuple(self._verdict(each, self._in_draft) for each in event.failed)
                return event.model_copy(update={"failed": failed})
            case RunCompleted():
                return event.model_copy(
                    update={
                        "answer": change(event.answer),
                        "audit": self._audit(event.audit),
                        "passages": tuple(change_passage(each, self._change) for each in event.passages),
                        "labels": tuple(change(each) for each in event.labels),
                    }
                )
            case _:
                return event

    def _audit(self, audit: Audit) -> Audit:
        return audit.model_copy(
            update={
                "sentences": tuple(self._verdict(each, self._in_answer) for each in audit.sentences),
                "violations": tuple(self._change(each) for each in audit.violations),
            }
        )

    def _verdict(self, verdict: SentenceVerdict, in_text: _Moved) -> SentenceVerdict:
        return verdict.model_copy(
            update={
                "start": in_text(verdict.start),
                "end": in_text(verdict.end),
                "text": self._change(verdict.text),
                "evidence": tuple(self._evidence(each, in_text) for each in verdict.evidence),
                "proposed": tuple(self._evidence(each, in_text) for each in verdict.proposed),
            }
        )

    def _evidence(self, evidence: Evidence, in_text: _Moved) -> Evidence:
        change, source = self._change, self._in_passage.get(evidence.label or "")
        return evidence.model_copy(
            update={
                "detail": change(evidence.detail),
                "answer_span": _span(evidence.answer_span, in_text),
                "source_span": _span(evidence.source_span, source) if source is not None else evidence.source_span,
                "answer_value": None if evidence.answer_value is None else change(evidence.answer_value),
                "source_value": None if evidence.source_value is None else change(evidence.source_value),
            }
        )


def _plan(items: Sequence[PlanItem], change: Change) -> tuple[PlanItem, ...]:
    return tuple(i.model_copy(update={"text": change(i.text), "reason": change(i.reason)}) for i in items)


def change_passage(passage: Passage, change: Change) -> Passage:
    """Return a passage with `change(text)` in the place of every text."""
    changed = passage.model_copy(
        update={
            "chunk": _chunk(passage.chunk, change),
            "context_before": change(passage.context_before),
            "context_after": change(passage.context_after),
        }
    )
    return passage if changed == passage else changed


def _chunk(chunk: Chunk, change: Change) -> Chunk:
    update: dict[str, Any] = {
        "text": change(chunk.text),
        "heading_path": tuple(change(each) for each in chunk.heading_path),
        "speaker": None if chunk.speaker is None else change(chunk.speaker),
        "title": change(chunk.title),
        "issuer": change(chunk.issuer),
        "labels": frozenset(change(label) for label in chunk.labels),
    }
    index_text = change(chunk.index_text)
    if index_text != chunk.index_text or any(update[name] != getattr(chunk, name) for name in update):
        # What was read in the former text holds no more; the document's own chunk has it anew.
        return chunk.model_copy(update={**update, "index_text": "", "symbols": ()})
    return chunk


def change_within(value: Any, change: Change) -> Any:
    """Change every text of a JSON value, names of fields too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): change_within(each, change) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [change_within(each, change) for each in cast("list[Any]", value)]
    return value


def _span(span: tuple[int, int] | None, moved: _Moved) -> tuple[int, int] | None:
    return None if span is None else (moved(span[0]), moved(span[1]))


def _moved(before: str, after: str) -> _Moved:
    """Return where a place of a text is after its change; a place inside a changed stretch moves to its end."""
    if before == after:
        return lambda place: place
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()

    def moved(place: int) -> int:
        for tag, start, end, new_start, new_end in steps:
            if place < end or (place == end and tag != "equal"):
                return new_start + (place - start) if tag == "equal" or place == start else new_end
        return len(after)

    return moved
