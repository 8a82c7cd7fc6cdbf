"""Sentences and table rows of a passage, as candidates for a quotation, and how well they fit a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from retrieval.content_terms import content_terms
from retrieval.lexical import terms
from retrieval.neutralise import neutralise
from retrieval.sentences import sentence_spans
from retrieval.types import Passage


@dataclass(frozen=True, slots=True)
class Extract:
    """One sentence, or one table row under its header, of a passage."""

    passage: Passage
    text: str
    """The sentence as it stands in the passage; of a row, its header and cells."""
    cells: tuple[tuple[str, str], ...] | None = None
    """(header, cell) of a table row; None for a sentence."""
    support: float = 0.0


def candidate_sentences(passage: Passage) -> list[Extract]:
    """Return the sentences and table rows of a passage in order, without headings.

    A sentence that carries markup of ours would be inert only in changed form, and then
    it would be no quotation any more: it is left out. So is a row that would carry some once spelled out.
    """
    headings = {*passage.chunk.heading_path, passage.chunk.title}
    header: list[str] | None = None
    found: list[Extract] = []
    for line in passage.chunk.text.split("\n"):
        cells = _cells(line.strip())
        if cells is None:
            header = None
            sentences = [line[start:end] for start, end in sentence_spans(line)]
            found += [Extract(passage, s) for s in sentences if s not in headings and _inert(s)]
        elif header is None:
            header = cells
        elif not all(set(cell) <= set("-: ") for cell in cells):
            pairs = tuple((h, c) for h, c in zip(header, cells, strict=False) if c)
            if pairs and _inert(", ".join(f"{h}: {c}" for h, c in pairs)):
                found.append(Extract(passage, " ".join(f"{h} {c}" for h, c in pairs), pairs))
    return found


def _inert(text: str) -> bool:
    return neutralise(text) == text


_ASKS_DATE = re.compile(
    r"哪一?天|何时|什么时候|哪[年月]|几[月号]|\bwhen\b|\bwhat\s+(?:date|day|year|month)\b", re.IGNORECASE
)
_DATE = re.compile(
    r"\d{4}\s*[-/年]|\d{1,2}\s*月|\b(?:19|20)\d\d\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
)
_ASKS_FIGURE = re.compile(
    r"多少|多[长久大高]|几[天个年次人级]|\bhow\s+(?:many|much|long|often|old)\b|\b(?:rate|percentage|amount|limit|budget)\b"
    r"|比例|费率|上限|金额|额度",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"[0-9０-９]|[一二三四五六七八九十百千万亿两]+[天日年月周个次人元%％]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b",
    re.IGNORECASE,
)
_ASKS_REASON = re.compile(r"为什么|为何|原因|\bwhy\b", re.IGNORECASE)
_REASON = re.compile(r"因|由于|以便|导致|\b(?:because|since|due\s+to|so\s+that|in\s+order\s+to)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:\d+[.)、）]|[-*•])\s*")


def expected_content(question: str) -> re.Pattern[str] | None:
    """Return what an answer to the question must contain by its form: a date, a figure, a reason, or None."""
    for asks, holds in ((_ASKS_DATE, _DATE), (_ASKS_FIGURE, _FIGURE), (_ASKS_REASON, _REASON)):
        if asks.search(question):
            return holds
    return None


def bare(sentence: str) -> str:
    """Return a sentence without the number or mark of its list item."""
    return _ITEM.sub("", sentence)


_SUBJECT_WEIGHT = 0.2
"""On 1,002 questions of CMRC 2018 (trial) the first sentence held the answer in 81 %, against 75 % with full weight."""


class Relevance:
    """How much of a question a sentence holds; a term that few of the candidates hold counts more.

    What the titles name is the subject of all their sentences alike: the sentence that repeats it is no
    nearer to the answer than the one that goes on about it, so its terms count little.
    """

    def __init__(self, question: str, candidates: Sequence[str], titles: Sequence[str] = ()) -> None:
        held = Counter(term for text in candidates for term in set(terms(text)))
        asked = set(content_terms(question)) or set(terms(question))
        subject = {term for title in titles for term in terms(title)}
        self._weights = {
            t: log(1 + len(candidates) / (held[t] + 0.5)) * (_SUBJECT_WEIGHT if t in subject else 1.0)
            for t in asked
            if held[t]
        }
        # Terms that no candidate holds would lower all scores alike.
        self._total = sum(self._weights.values())

    def of(self, text: str) -> float:
        """Return the weighted share of the question's terms in `text`, 0 to 1."""
        if not self._total:
            return 0.0
        present = set(terms(text))
        return sum(w for term, w in self._weights.items() if term in present) / self._total


def _cells(line: str) -> list[str] | None:
    if not (line.startswith("|") and line.endswith("|") and line.count("|") > 2):
        return None
    return [cell.strip() for cell in line.strip("|").split("|")]
