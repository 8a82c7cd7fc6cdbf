"""Checks that quoted text stands verbatim in the cited source, white space and punctuation width aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agent.audit.flips import has_flip_word
from agent.audit.folding import EDGE, Folded, find_verbatim, fold
from agent.audit.sources import Source
from retrieval.sentences import sentence_spans

_QUOTED = re.compile(
    r"「([^「」\n]{1,600})」|『([^『』\n]{1,600})』|“([^“”\n]{1,600})”|‘([^‘’\n]{2,600})’(?!\w)"
    r"|(?<![\w\"])\"([^\"\n]{1,600})\"(?!\w)|＂([^＂\n]{1,600})＂"
)
_ELLIPSIS = re.compile(r"[\[(（【]?\s*(?:…+|\.{3,}|。{3,}|⋯+)\s*[\])）】]?")
_TERM_CHARS = 5
"""A quotation up to so many CJK characters (or three words) may be a term in scare quotes."""


@dataclass(frozen=True, slots=True)
class QuoteFinding:
    """What became of one quotation; `start`/`end` span it in the sentence's text, marks included."""

    text: str
    start: int
    end: int
    outcome: Literal["verbatim", "question", "missing", "stitched", "gap", "term_missing"]
    source: Source | None = None
    source_span: tuple[int, int] | None = None
    pieces: int = 1


def check_quotes(text: str, sources: Sequence[Source], question: str) -> list[QuoteFinding]:
    """Check every quotation in the sentence `text` against the cited sources."""
    matches = list(_QUOTED.finditer(text))
    if not matches:
        return []
    folded = [(source, source.folded) for source in sources]
    asked = fold(question)
    return [_check(match, folded, asked) for match in matches]


def _check(match: re.Match[str], sources: list[tuple[Source, Folded]], asked: Folded) -> QuoteFinding:
    quoted = next(group for group in match.groups() if group is not None)
    place = (quoted, match.start(), match.end())
    parts = [part for part in _ELLIPSIS.split(quoted) if EDGE.sub("", part)]
    if not parts:
        return QuoteFinding(*place, "question")
    gap: QuoteFinding | None = None
    for source, folded in sources:
        spans = _in_order(parts, folded)
        if spans is None:
            continue
        span = (folded.offsets[spans[0][0]], folded.offsets[spans[-1][1] - 1] + 1)
        outcome = _gap_outcome(source, folded, spans)
        finding = QuoteFinding(*place, outcome, source, span, len(parts))
        if outcome == "verbatim":
            return finding
        gap = finding
    if gap is not None:
        return gap
    if find_verbatim(quoted, asked):
        return QuoteFinding(*place, "question")
    for source, folded in sources:
        pieces = _pieces(quoted, folded)
        if pieces:
            return QuoteFinding(*place, "stitched", source, None, pieces)
    return QuoteFinding(*place, "term_missing" if _is_term(quoted) else "missing")


def _in_order(parts: list[str], folded: Folded) -> list[tuple[int, int]] | None:
    spans: list[tuple[int, int]] = []
    for part in parts:
        span = find_verbatim(part, folded, spans[-1][1] if spans else 0)
        if span is None:
            return None
        spans.append(span)
    return spans


def _gap_outcome(
    source: Source, folded: Folded, spans: list[tuple[int, int]]
) -> Literal["verbatim", "gap", "stitched"]:
    """An ellipsis may shorten one sentence, not join two, and not drop the word the meaning hangs on."""
    for (_, end), (start, _) in pairwise(spans):
        dropped = source.text[folded.offsets[end - 1] + 1 : folded.offsets[start]]
        if len(sentence_spans(dropped.lstrip(".。！？!? "))) > 1 or re.search(r"[。！？!?]|\.\s", dropped):
            return "stitched"
        if has_flip_word(dropped):
            return "gap"
    return "verbatim"


def _pieces(quoted: str, folded: Folded) -> int:
    """Return the number of source pieces (2 to 4) a quotation is glued from; 0 when it is not."""
    rest = EDGE.sub("", fold(quoted).text)
    count = 0
    while rest and count < 4:
        low, high = 0, len(rest)
        while low < high:  # longest prefix that stands in the source
            middle = (low + high + 1) // 2
            low, high = (middle, high) if rest[:middle] in folded.text else (low, middle - 1)
        if low < 4:
            return 0
        rest = rest[low:].lstrip(" ,.;:-，")
        count += 1
    return count if not rest and count > 1 else 0


def _is_term(quoted: str) -> bool:
    cjk = sum(1 for char in quoted if char >= "\u2e80")
    return cjk <= _TERM_CHARS and len(quoted.split()) <= 3 and len(quoted) <= 24
