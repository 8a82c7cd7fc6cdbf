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
    it would be no quotation any more: it is left out.
    """
    text = passage.chunk.text
    headings = {*passage.chunk.heading_path, passage.chunk.title}
    header: list[str] | None = None
    found: list[Extract] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end].strip()
        if not sentence or sentence in headings or neutralise(sentence) != sentence:
            continue
        cells = _cells(sentence)
        if cells is None:
            header = None
            found.append(Extract(passage, sentence))
        elif header is None:
            header = cells
        elif not all(set(cell) <= set("-: ") for cell in cells):
            pairs = tuple((h, c) for h, c in zip(header, cells, strict=False) if c)
            found.append(Extract(passage, " ".join(f"{h} {c}" for h, c in pairs), pairs))
    return found


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
_ITEM = re.compile(r"^\s*(?:\d+[.)、）]|[-*•])\s*")


def expected_content(question: str) -> re.Pattern[str] | None:
    """Return what an answer to the question must contain by its form: a date, a figure, or nothing certain."""
    if _ASKS_DATE.search(question):
        return _DATE
    return _FIGURE if _ASKS_FIGURE.search(question) else None


def bare(sentence: str) -> str:
    """Return a sentence without the number or mark of its list item."""
    return _ITEM.sub("", sentence)


class Relevance:
    """How much of a question a sentence holds; a term that few of the candidates hold counts more."""

    def __init__(self, question: str, candidates: Sequence[str]) -> None:
        held = Counter(term for text in candidates for term in set(terms(text)))
        asked = set(content_terms(question)) or set(terms(question))
        self._weights = {t: log(1 + len(candidates) / (held[t] + 0.5)) for t in asked if held[t]}
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
