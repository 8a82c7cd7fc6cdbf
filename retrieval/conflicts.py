"""Passages of different documents that state different values for the same thing. Pure functions on chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from retrieval.content_terms import content_terms
from retrieval.period_match import periods
from retrieval.symbols.compare import Comparison, compare
from retrieval.types import Chunk, Symbol

_KINDS = frozenset({"amount", "percent", "percent_points", "quantity", "duration", "ratio"})
_MOST_STATEMENTS = 40
"""Of one chunk: a table of figures is no list of rules, and comparing all of them costs milliseconds."""
_LONGEST = 240
"""Characters on either side of a figure in which its sentence is looked for."""
_SENTENCE_END = re.compile(r"[。！？；\n!?;]|\.(?=\s|\Z)")
_QUALIFYING_WORDS = """
    at least most maximum minimum limit limits cap capped exceed exceeds up than around total totals amount
    amounted amounts rate level currently now new shall per each every entitled receive receives"""
_QUALIFYING = frozenset(_QUALIFYING_WORDS.split())
"""Words that say how a figure is meant, not what it is a figure of."""
_QUALIFYING_CHARACTERS = frozenset("最高低多少上下限超过不得至约达共计为是的元享有每可应按内以由将已了人民币总额")
_NAME_LETTER = re.compile(r"(?<![A-Za-z0-9])[A-Z](?![A-Za-z0-9'])(?!\s+[a-z])")
_FREE_WORDS = 2
"""How many words the one sentence may say more than the other, however short it is; twice as many characters."""
_STEM = 6
"""Letters by which English words are the same word: `reimbursed`, `reimbursement`."""


@dataclass(frozen=True)
class Statement:
    """A sentence with figures: its words, and the periods it is about."""

    words: str
    """Without its symbols."""
    figures: tuple[Symbol, ...]
    spans: frozenset[str]

    @cached_property
    def subject(self) -> frozenset[str]:
        """What the figures are of; read when it is first compared, for that is what costs time."""
        return _subject(self.words)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two chunks, by place in the list that was looked at, and a figure of each that cannot both hold."""

    first: int
    second: int
    first_value: str
    second_value: str


def find_conflicts(
    chunks: Sequence[Chunk], overlap: float = 0.75, *, first: int | None = None, question: str | None = None
) -> list[Conflict]:
    """Return the pairs of chunks that state different values for one thing; the first such figure of each pair.

    Figures conflict when they are of one kind and unit and neither equal, rounded nor within a bound; when
    their sentences are about the same periods; and when their words say the same: all words of the one are
    in the other (so not both name something of their own: two cities, two products), which says at most two
    words more or, where it is long, `1 - overlap` of its words. Chunks of one document never conflict, nor
    do chunks in different languages, whose words cannot be compared. With `first`, one of every pair is
    among the first so many chunks; with `question`, only sentences that share a word with it are read.
    """
    asked = None if question is None else _subject(question)
    read = [statements(chunk, asked) for chunk in chunks]
    found: list[Conflict] = []
    for one, other in combinations(range(len(chunks)), 2):
        if first is not None and one >= first:
            break
        left, right = chunks[one], chunks[other]
        if left.document_id == right.document_id or left.language != right.language:
            continue
        values = next(iter(_disagreements(read[one], read[other], overlap)), None)
        if values is not None:
            found.append(Conflict(one, other, values[0], values[1]))
    return found


def _disagreements(left: Sequence[Statement], right: Sequence[Statement], overlap: float) -> Iterable[tuple[str, str]]:
    for a in left:
        for b in right:
            if a.spans != b.spans:
                continue
            for x, y in product(a.figures, b.figures):
                if x.kind == y.kind and _compared(x, y) == _compared(y, x) == "different":
                    # "From 10 to 12 days" against "12 days": what one sentence also says is no contradiction.
                    if _same_subject(a, b, overlap) and not _agree(a, b):
                        yield x.surface, y.surface
                    break


def statements(chunk: Chunk, asked: frozenset[str] | None = None) -> list[Statement]:
    """Return what a chunk states in figures, outside of its tables, in order; with `asked`, what shares a word."""
    if chunk.kind in ("table", "schema"):
        return []
    around: tuple[str, ...] | None = None
    by_sentence: dict[tuple[int, int], list[Symbol]] = {}
    start, end, is_read = 0, -1, False
    for figure in chunk.symbols:
        if figure.kind not in _KINDS or figure.cls != "value":
            continue
        if figure.start >= end:
            start, end = _sentence(chunk.text, figure)
            is_read = "|" not in (sentence := chunk.text[start:end]) and _shares(sentence, asked)
        if is_read:
            by_sentence.setdefault((start, end), []).append(figure)
            if len(by_sentence) > _MOST_STATEMENTS:
                break
    found: list[Statement] = []
    for (start, end), figures in by_sentence.items():
        sentence = chunk.text[start:end]
        inside = [s for s in chunk.symbols if start <= s.start and s.end <= end]
        own = periods(inside)
        if not own:
            if around is None:
                around = _heading_years(chunk)
            own = around
        found.append(Statement(_without(sentence, start, inside), tuple(figures), frozenset(own)))
    return found


def _shares(sentence: str, asked: frozenset[str] | None) -> bool:
    """Tell whether a sentence may be about what was asked: a word of it, or two CJK characters."""
    if asked is None:
        return True
    lowered = sentence.lower()
    return sum(2 if word.isascii() else 1 for word in asked if word in lowered) >= 2


def _sentence(text: str, figure: Symbol) -> tuple[int, int]:
    low, high = max(figure.start - _LONGEST, 0), min(figure.end + _LONGEST, len(text))
    start = max((m.end() for m in _SENTENCE_END.finditer(text, low, figure.start)), default=low)
    end = _SENTENCE_END.search(text, figure.end, high)
    return start, end.start() if end else high


def _without(sentence: str, offset: int, symbols: Sequence[Symbol]) -> str:
    parts: list[str] = []
    at = 0
    for symbol in symbols:
        start = symbol.start - offset
        if start >= at:
            parts.append(sentence[at:start])
            at = symbol.end - offset
    return " ".join((*parts, sentence[at:]))


def _heading_years(chunk: Chunk) -> tuple[str, ...]:
    """Return years that title and headings name: figures of two years' reports are no contradiction."""
    around = " ".join((chunk.title, *chunk.heading_path))
    return tuple(dict.fromkeys(re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", around)))


def _subject(text: str) -> frozenset[str]:
    """Return the words that say what a figure is of: stems of words, characters of scripts without spaces."""
    found: set[str] = set()
    for term in content_terms(text):
        if term.isascii():
            if term not in _QUALIFYING and not term.isdigit() and len(term) > 1:
                found.add(term[:_STEM].rstrip("s"))
        else:
            found.update(c for c in term if c not in _QUALIFYING_CHARACTERS)
    # A capital by itself is a name (fund A), whatever it is in a sentence.
    return frozenset(found.union(_NAME_LETTER.findall(text)))


def _same_subject(a: Statement, b: Statement, overlap: float) -> bool:
    small, large = sorted((a.subject, b.subject), key=len)
    if not small or not small <= large:
        return False
    # One word is enough of a subject with the period it is about: revenue, in the third quarter of 2024.
    weight = sum(len(term) if term.isascii() else 3 for term in small)
    if weight < (4 if a.spans else 6):
        return False
    allowed = _FREE_WORDS if next(iter(small)).isascii() else 2 * _FREE_WORDS
    return len(large) - len(small) <= max(allowed, (1 - overlap) * len(large))


def _agree(a: Statement, b: Statement) -> bool:
    return any(_compared(x, y) in ("equal", "rounded", "contains") for x in a.figures for y in b.figures)


def _compared(a: Symbol, b: Symbol) -> Comparison:
    """Compare two figures; of two upper limits the higher one is another value, though it holds the lower."""
    if a.qualifier and a.qualifier == b.qualifier:
        a, b = (each.model_copy(update={"qualifier": ""}) for each in (a, b))
    return compare(a, b)
