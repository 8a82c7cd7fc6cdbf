"""The request to write an answer once more: its failed sentences, each with what the sources say instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agent.audit.policy import failed_sentences
from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.llm import Message
from prompts.render import render_repair
from prompts.values import FailedSentence, Language
from retrieval.labels import format_tag
from retrieval.neutralise import neutralise, neutralise_line
from retrieval.types import Passage

AROUND: Final = 160
"""Characters of a source shown on each side of the place that decided."""
_MOST: Final = 20
"""Sentences that one request lists; a longer answer is rather written anew."""


def repair_messages(
    asked: Sequence[Message],
    draft: str,
    audit: Audit,
    *,
    passages: Sequence[Passage],
    results: Mapping[str, str],
    language: Language,
    around: int = AROUND,
) -> tuple[Message, ...]:
    """Return the conversation that asks for the answer once more.

    Args:
        asked: the request for the answer itself, with everything that was found.
        draft: the answer that failed.
        audit: of the draft.
        passages: of the run.
        results: of tools, by label.
        language: of the answer.
        around: characters of a source shown on each side of a place.
    """
    texts = {passage.label: passage.evidence_text for passage in passages} | dict(results)
    failed = [_failed(each, texts, around) for each in failed_sentences(audit)[:_MOST]]
    listed = {line for each in failed for line in each.findings}
    violations = [line for each in audit.violations if (line := neutralise_line(each)) not in listed]
    request = render_repair(language, failed=failed, violations=violations, tags=[format_tag(each) for each in texts])
    return (*asked, Message(role="assistant", content=draft), Message(role="user", content=request))


def needed_passages(audit: Audit, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages that the answer cites or the auditor proposes: what a repair cannot do without."""
    named = {label for each in audit.sentences for label in each.labels}
    named |= {each.label or "" for verdict in audit.sentences for each in verdict.proposed}
    return tuple(passage for passage in passages if passage.label in named)


def _failed(verdict: SentenceVerdict, texts: Mapping[str, str], around: int) -> FailedSentence:
    against = [each for each in verdict.evidence if not each.passed]
    places = dict.fromkeys(
        line for each in (*against, *verdict.proposed) if (line := _place(each, texts, around)) is not None
    )
    return FailedSentence(
        sentence=neutralise_line(verdict.text),
        findings=tuple(dict.fromkeys(neutralise_line(each.detail) for each in against)),
        sources=tuple(places),
    )


def _place(evidence: Evidence, texts: Mapping[str, str], around: int) -> str | None:
    """Return the words of the source around the place that a check looked at, with the tag to cite it by."""
    text = texts.get(evidence.label or "")
    if text is None or evidence.source_span is None or evidence.label is None:
        return None
    start, end = evidence.source_span
    first, last = max(0, start - around), min(len(text), end + around)
    words = " ".join(neutralise(text[first:last]).split())
    cut = ("…" if first else "", "…" if last < len(text) else "")
    return f"{cut[0]}{words}{cut[1]} {format_tag(evidence.label)}"
