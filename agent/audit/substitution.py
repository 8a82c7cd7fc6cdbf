"""Finds a clause that repeats its source with one thing put in another's place, or with two things changed over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent.audit.content import clause_spans, content_terms, share
from agent.audit.flips import is_approval, strip_stance
from agent.audit.sources import Clause, Source
from retrieval.types import Symbol

_TOKEN = re.compile(r"[A-Za-z][A-Za-z'’-]*|[\u4e00-\u9fff]")
_FUNCTION = frozenset("的了是在和与及或为其该此而也都就并且被把于从以之者这那应当须要会将已能可均")
_COPIED, _MOSTLY = 0.5, 0.4
"""Shares of the shorter and the longer clause that must be the same before the rest counts as put in its place."""
_FAMILIAR = 0.5
"""With more of its terms in the source a word is no stranger to it."""
_REORDERED = 0.9
_SHORTEST = 3
_VOICE = re.compile(
    r"\b(?:was|were|is|are|been|be|being)\s+(?:\w+ly\s+)?\w+(?:ed|en|ght|lt|de|ld|un)\b|\bby\b|[被由把遭]|为.{1,12}所",
    re.IGNORECASE,
)
"""The passive puts subject and object in each other's place and says the same."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """What stands in the claim in the place of something else in the source; spans in their texts."""

    claim_span: tuple[int, int]
    source: Source
    source_span: tuple[int, int]
    moved: bool
    """It stands elsewhere in the source: two things were confused."""


@dataclass(frozen=True, slots=True)
class _Token:
    norm: str
    start: int
    end: int


def find_substitution(text: str, figures: Sequence[Symbol], sources: Sequence[Source]) -> Substitution | None:
    """Return the first substitution in the sentence `text`; None where its clauses are not near copies of a source's.

    Args:
        text: The sentence.
        figures: Its figures, which are checked elsewhere.
        sources: What it cites.
    """
    for start, end in clause_spans(text):
        claim = _tokens(text, start, end, figures)
        if len(claim) < _SHORTEST:
            continue
        found = _against_nearest(text, claim, sources)
        if found is not None:
            return found
    return None


def _against_nearest(text: str, claim: list[_Token], sources: Sequence[Source]) -> Substitution | None:
    terms = content_terms(text[claim[0].start : claim[-1].end])
    nearest: tuple[float, Source, Clause, list[_Token], SequenceMatcher[str]] | None = None
    for source in sources:
        for clause in source.clauses:
            if not terms & clause.own_terms or source.in_table(clause.start):
                continue
            tokens = _tokens(source.text, clause.start, clause.end, source.symbols)
            matcher = SequenceMatcher(None, [t.norm for t in tokens], [t.norm for t in claim], autojunk=False)
            ratio = matcher.ratio()
            if nearest is None or ratio > nearest[0]:
                nearest = (ratio, source, clause, tokens, matcher)
    if nearest is None or nearest[0] == 1.0:
        return None
    _, source, clause, tokens, matcher = nearest
    return _replaced(text, claim, source, tokens, matcher) or _reordered(text, claim, source, clause, tokens, matcher)


def _replaced(
    text: str, claim: list[_Token], source: Source, tokens: list[_Token], matcher: SequenceMatcher[str]
) -> Substitution | None:
    same = sum(block.size for block in matcher.get_matching_blocks())
    if same < 2 or same < _COPIED * min(len(claim), len(tokens)) or same < _MOSTLY * max(len(claim), len(tokens)):
        return None
    told, there = _joined(claim), _joined(tokens)
    everywhere = _joined(_tokens(source.text, 0, len(source.text), ()))
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "replace":
            continue
        theirs, ours = tokens[first:last], claim[start:end]
        if not (_is_thing(theirs) and _is_thing(ours)) or told.count(_joined(theirs)) >= there.count(_joined(theirs)):
            continue
        if is_approval(text[ours[0].start : ours[-1].end]):
            continue  # whether it was approved or rejected is told by its stance
        around = len(ours) == 1 and not ours[0].norm.isascii()  # 燃气 where the source has 燃煤
        whole = claim[max(0, start - around) : end + around]
        moved = _joined(whole) in everywhere
        parts = content_terms(text[whole[0].start : whole[-1].end])
        if not moved and (not parts or share(parts, source.terms) > _FAMILIAR):
            continue
        spans = (ours[0].start, ours[-1].end), (theirs[0].start, theirs[-1].end)
        return Substitution(spans[0], source, spans[1], moved)
    return None


def _reordered(
    text: str,
    claim: list[_Token],
    source: Source,
    clause: Clause,
    tokens: list[_Token],
    matcher: SequenceMatcher[str],
) -> Substitution | None:
    ours, theirs = [t.norm for t in claim], [t.norm for t in tokens]
    common = sum(min(ours.count(norm), theirs.count(norm)) for norm in set(ours))
    if common < _REORDERED * max(len(ours), len(theirs)):
        return None
    if (_VOICE.search(text) is None) != (_VOICE.search(source.text[clause.start : clause.end]) is None):
        return None
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    gone = ["".join(theirs[first:last]) for _, first, last, _, _ in changed if last > first]
    come = ["".join(ours[start:end]) for _, _, _, start, end in changed if end > start]
    exchanged = len(gone) == 2 and gone == come[::-1]
    turned = len(gone) == len(come) == 1 and ours[0].isascii()  # Chinese puts a topic first without a passive
    if gone == come or not (exchanged or turned):
        return None
    return Substitution((claim[0].start, claim[-1].end), source, (clause.start, clause.end), moved=True)


def _tokens(text: str, start: int, end: int, figures: Sequence[Symbol]) -> list[_Token]:
    """Words without stop words, and single CJK characters without function words; stance and figures left out."""
    bare = strip_stance(text[start:end])
    taken = [(f.start - start, f.end - start) for f in figures if start <= f.start and f.end <= end]
    found: list[_Token] = []
    for match in _TOKEN.finditer(bare):
        if any(first <= match.start() < last for first, last in taken):
            continue
        word = match.group()
        if word.isascii():
            for norm in content_terms(word):
                found.append(_Token(norm, start + match.start(), start + match.end()))
        elif word not in _FUNCTION:
            found.append(_Token(word, start + match.start(), start + match.end()))
    return found


def _joined(tokens: Sequence[_Token]) -> str:
    return "".join(token.norm if token.norm >= "\u2e80" else f" {token.norm} " for token in tokens)


def _is_thing(tokens: Sequence[_Token]) -> bool:
    """Chinese characters or a word of more than two letters."""
    return any(not token.norm.isascii() or len(token.norm) > 2 for token in tokens)
