"""Content terms and clauses: what two texts are compared by when no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from retrieval.lexical import terms
from retrieval.types import Symbol


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP_EN = _words(
    "a an the and or but of to in on at by for from with as is are was were be been being it its this that these "
    "those their his her our your they he she we you i there which who whom whose what when where how than then so "
    "such into over under per via not no do does did has have had will would can could may might shall should must "
    "also more most each any all some both other about according following respectively"
)
_STOP_ZH = frozenset("的了是在和与及或为其该此而也都就并且被把于从以之者这那")
_GENERIC = re.compile(
    r"(?<![母子分总])公司|本?集团|我司|我们|其中|实现|达到?|约为?|共计|合计|\b(?:company|group|amounted|reported|came|reached|approximately|about)\b",
    re.IGNORECASE,
)
_SYMBOL_TERM = re.compile(r"\[[A-Z]")
_CLAUSE = re.compile(
    r"[。！？；｡!?;，、：\n|()（）\t]|[,:](?!\d)|(?<!\d)[,:](?=\d)|\.(?=\s|$)"
    r"|\s(?:and(?!\s+(?:above|below|over|under|up|more|less|older|younger)\b)|while|whereas|but|compared\s+(?:with|to)|versus|against|up\s+from|down\s+from)\s",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """Strip one English ending; coarse on purpose (both texts go through it) and without shared state."""
    for ending in ("ing", "ied", "ies", "ed", "es", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        return word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


def content_terms(text: str) -> frozenset[str]:
    """Return the terms that carry meaning: stemmed words and CJK bigrams, without figures and function words."""
    found: set[str] = set()
    for term in terms(text):
        if _SYMBOL_TERM.match(term):
            found.add(term)
        elif term[0].isdigit():
            continue
        elif term.isascii():
            if term not in _STOP_EN and len(term) > 1:
                found.add(_stem(term))
        elif len(term) > 1 and _STOP_ZH.isdisjoint(term):
            found.add(term)
    return frozenset(found)


def subject_terms(text: str) -> frozenset[str]:
    """Return what a clause is about: its content terms without those that every clause of a report could open with."""
    return content_terms(_GENERIC.sub(" ", text))


def blank_out(text: str, symbols: Iterable[Symbol]) -> str:
    """Return `text` with its figures blanked, so that 亿元 or million never counts as what a clause is about."""
    for symbol in symbols:
        if symbol.cls == "value":
            text = text[: symbol.start] + " " * (symbol.end - symbol.start) + text[symbol.end :]
    return text


def clause_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the clauses of `text`: between punctuation, brackets, table bars and conjunctions."""
    spans: list[tuple[int, int]] = []
    start = 0
    for mark in _CLAUSE.finditer(text):
        if text[start : mark.start()].strip():
            spans.append((start, mark.start()))
        start = mark.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def share(wanted: frozenset[str], there: frozenset[str]) -> float:
    """Return the share of `wanted` that is `there`, 0 to 1; 0 when nothing is wanted."""
    return len(wanted & there) / len(wanted) if wanted else 0.0


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return all terms of `sets`."""
    return frozenset(chain.from_iterable(sets))
