"""Passages that would support the sentences of an answer that name no source: proposed, never added.

Each uncited sentence is audited once more as if it cited a passage. Only what is then fully supported,
without any doubt or flag, is proposed; the verdict stays `uncited` and the answer stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from agent.audit.content import content_terms, share
from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from retrieval.labels import find_tags, format_tag

_MOST_SENTENCES: Final = 20
_CLOSEST: Final = 2
"""Passages that are tried for a sentence: an audit of each costs as much as that of a cited sentence."""
_SHARED: Final = 0.3
"""Least share of a sentence's terms in a passage that is tried; with less none is ever fully supported."""
_NUMBER = re.compile(r"\d+")
_NO_MARK = str.maketrans({"\n": " ", "|": " "})
"""A sentence that is tried stands in a paragraph of its own."""


def with_proposals(audit: Audit, texts: Mapping[str, str], again: Callable[[str], Audit], detail: str) -> Audit:
    """Return the audit with proposals for its uncited sentences, at most one each.

    Args:
        audit: of the answer.
        texts: of the run's passages by label, best first.
        again: audits a text against the same passages.
        detail: what a proposal says to people; `{label}` is the passage's.
    """
    uncited = [each for each in audit.sentences if each.kind == "uncited"][:_MOST_SENTENCES]
    if not uncited or not texts:
        return audit
    read = {label: (content_terms(text), _digits(text)) for label, text in texts.items()}
    tried = [(verdict, label) for verdict in uncited for label in _closest(verdict, read)]
    if not tried:
        return audit
    paragraphs = [f"{_line(verdict)} {format_tag(label)}" for verdict, label in tried]
    starts = [0]
    for paragraph in paragraphs:
        starts.append(starts[-1] + len(paragraph) + 2)
    found: dict[int, Evidence] = {}
    judged = _by_paragraph(again("\n\n".join(paragraphs)), starts)
    for (verdict, label), verdicts in zip(tried, judged, strict=True):
        if verdict.index not in found and _supports(verdicts, label):
            found[verdict.index] = _proposal(verdict, verdicts[0], label, detail)
    if not found:
        return audit
    sentences = tuple(
        each.model_copy(update={"proposed": (found[each.index],)}) if each.index in found else each
        for each in audit.sentences
    )
    return audit.model_copy(update={"sentences": sentences})


def _closest(verdict: SentenceVerdict, read: Mapping[str, tuple[frozenset[str], frozenset[str]]]) -> list[str]:
    """Return the passages that share most terms with a sentence; of equal ones those that share its numbers."""
    wanted, numbers = content_terms(verdict.text), _digits(verdict.text)
    ranks = {label: (share(wanted, terms), len(numbers & digits)) for label, (terms, digits) in read.items()}
    near = [label for label, rank in ranks.items() if not wanted or rank[0] >= _SHARED]
    return sorted(near, key=lambda label: ranks[label], reverse=True)[:_CLOSEST]


def _digits(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _line(verdict: SentenceVerdict) -> str:
    text = verdict.text.translate(_NO_MARK).strip()
    return text if not any(True for _ in find_tags(text)) else ""


def _by_paragraph(audit: Audit, starts: Sequence[int]) -> list[list[SentenceVerdict]]:
    return [[each for each in audit.sentences if start <= each.start < end] for start, end in pairwise(starts)]


def _supports(verdicts: Sequence[SentenceVerdict], label: str) -> bool:
    return bool(verdicts) and all(
        each.kind == "supported" and each.labels == (label,) and "off_question" not in each.flags for each in verdicts
    )


def _proposal(uncited: SentenceVerdict, tried: SentenceVerdict, label: str, detail: str) -> Evidence:
    place = next((each.source_span for each in tried.evidence if each.passed and each.source_span is not None), None)
    return Evidence(
        rule="proposal",
        passed=False,
        detail=detail.format(label=label),
        label=label,
        answer_span=(uncited.start, uncited.end),
        source_span=place,
    )
