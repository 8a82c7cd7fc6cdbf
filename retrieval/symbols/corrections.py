"""What owners said of symbols that the rules got wrong or missed, applied to a folded text.

A corrected text is found in every writing that folds to it, in capitals or not, over a line's end
where it is Chinese, and as a word of its own where it is Latin or a number. Linear in the text's
length.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from ahocorasick_rs import AhoCorasick

from retrieval.symbols.fold import fold
from retrieval.symbols.rules import Correction
from retrieval.symbols.secrets.found import SecretFound

_SPACE = re.compile(r"\s")
_GAP = re.compile(r"[\s\u200b]")
_OUTER_GAPS = re.compile(r"\A[\s\u200b]+|[\s\u200b]+\Z")
_BREAK = re.compile(r"\n")
_WRITING = re.compile(r"[\W_]+")
_WORD = re.compile(r"[0-9A-Za-z\u00c0-\u024f]")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


def plain(text: str) -> str:
    """Return a text without all in which writings of one value differ: width, case, spaces, punctuation."""
    return _WRITING.sub("", fold(text).lower())


class CorrectionReader:
    """Applies the corrections of one tenant. Immutable and safe to share between threads."""

    def __init__(self, corrections: Collection[Correction]) -> None:
        self._secrets = _Texts([each for each in corrections if each.verdict == "secret"])
        self._unread = _Texts([each for each in corrections if each.verdict == "not_symbol"])
        self._allowed: dict[str, set[str]] = {}
        for each in corrections:
            if each.verdict == "not_secret":
                self._allowed.setdefault(plain(each.text), set()).add(_line_of(each.near))
        self._nears = _Nears(near for nears in self._allowed.values() for near in nears)

    def secrets(self, folded: str) -> list[SecretFound]:
        """Return what is to be hidden in a folded text, ordered by start, not overlapping."""
        return [
            SecretFound(correction.kind, _value(correction.text), start, end)
            for correction, start, end in self._secrets.find(folded)
        ]

    def secrets_left(self, folded: str, found: Iterable[SecretFound]) -> list[SecretFound]:
        """Return the findings without those that were said to be no secret, in their line or everywhere."""
        if not self._allowed:
            return list(found)
        lines = _Lines(_lowered(folded), self._nears)
        return [each for each in found if not self._is_allowed(folded, each, lines)]

    def _is_allowed(self, folded: str, found: SecretFound, lines: _Lines) -> bool:
        for key in {plain(found.value), plain(folded[found.start : found.end])}:
            nears = self._allowed.get(key)
            if nears and ("" in nears or not nears.isdisjoint(lines.nears(found.start, found.end))):
                return True
        return False

    def unread(self, folded: str) -> list[tuple[int, int]]:
        """Return the stretches of a folded text where no code or value stands, ordered, not overlapping."""
        return [(start, end) for _, start, end in self._unread.find(folded)]


class _Texts:
    """Finds the texts of corrections, the longer before the shorter.

    One automaton (Aho-Corasick) reads the text once, without the gaps that a writing may have; what else stands
    between the characters is checked in the text itself.
    """

    def __init__(self, corrections: Iterable[Correction]) -> None:
        # By what is searched for, the pattern of the writing, and the line beside which it holds.
        by_packed: dict[str, dict[str, dict[str, Correction]]] = {}
        for each in sorted(corrections, key=_rank):
            if packed := _GAP.sub("", fold(each.text)).lower():
                by_packed.setdefault(packed, {}).setdefault(_pattern(each.text), {}).setdefault(
                    _line_of(each.near), each
                )
        self._writings = [list(patterns.items()) for patterns in by_packed.values()]
        self._automaton = AhoCorasick(list(by_packed)) if by_packed else None
        self._nears = _Nears(near for writings in self._writings for _, same in writings for near in same)

    def find(self, folded: str) -> Iterator[tuple[Correction, int, int]]:
        """Yield correction, start and end."""
        if self._automaton is None:
            return
        lowered = _lowered(folded)
        raw = self._automaton.find_matches_as_indexes(_GAP.sub("", lowered), overlapping=True)
        if not raw:
            return
        # What stands in the packed text before gap i: the place of the gap less the gaps before it.
        places = [m.start() - i for i, m in enumerate(_GAP.finditer(lowered))]
        hits = sorted(
            (start + bisect_right(places, start), -end - bisect_right(places, end - 1), index)
            for index, start, end in raw
        )
        lines = _Lines(lowered, self._nears)
        done = 0
        for start, negative_end, index in hits:
            if start >= done and _is_whole(lowered, start, -negative_end):
                correction = self._said(lines, start, -negative_end, index)
                if correction is not None:
                    done = -negative_end
                    yield correction, start, done

    def _said(self, lines: _Lines, start: int, end: int, index: int) -> Correction | None:
        for pattern, same in self._writings[index]:
            if _compiled(pattern).fullmatch(lines.text, start, end):
                said = [same[near] for near in ("", *lines.nears(start, end)) if near in same]
                if said:
                    return min(said, key=_rank)
        return None


class _Nears:
    """The lines beside which corrections hold, looked for all at once."""

    def __init__(self, nears: Iterable[str]) -> None:
        self._nears = tuple({near for near in nears if near})
        self._automaton = AhoCorasick(list(self._nears)) if self._nears else None

    def within(self, line: str) -> frozenset[str]:
        if self._automaton is None:
            return frozenset()
        return frozenset(self._nears[i] for i, _, _ in self._automaton.find_matches_as_indexes(line, overlapping=True))


class _Lines:
    """The lines of one text in small letters; each is searched once, however many findings stand in it."""

    def __init__(self, text: str, nears: _Nears) -> None:
        self.text = text
        self._nears = nears
        self._known: dict[tuple[int, int], frozenset[str]] = {}
        self._breaks = [m.start() for m in _BREAK.finditer(text)]

    def nears(self, start: int, end: int) -> frozenset[str]:
        """Return what of the nears stands in the lines of a finding."""
        first, last = bisect_left(self._breaks, start), bisect_left(self._breaks, end)
        if (first, last) not in self._known:
            begins = self._breaks[first - 1] + 1 if first else 0
            ends = self._breaks[last] if last < len(self._breaks) else len(self.text)
            self._known[first, last] = self._nears.within(self.text[begins:ends])
        return self._known[first, last]


@lru_cache(maxsize=4096)  # compiled when a text is met: there may be very many
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether no Latin word or number goes on beyond either end."""
    return not (start and _WORD.match(text[start]) and _WORD.match(text[start - 1])) and not (
        end < len(text) and _WORD.match(text[end - 1]) and _WORD.match(text[end])
    )


def _rank(correction: Correction) -> tuple[int, str, str, str]:
    """Order corrections of one place: the longer before the shorter."""
    return -len(correction.text), correction.text, correction.near, correction.kind


def _lowered(folded: str) -> str:
    lowered = folded.lower()
    return lowered if len(lowered) == len(folded) else folded


def _pattern(text: str) -> str:
    """Return the pattern of a text in folded, lower-case texts."""
    folded = _OUTER_GAPS.sub("", fold(text)).lower()
    parts: list[str] = []
    former = ""
    for char in folded:
        if _SPACE.match(char):
            if not _SPACE.match(former):
                parts.append(r"[\s\u200b]{1,8}")
        elif char != "\u200b":
            if former and not _SPACE.match(former):
                both = _CHINESE.match(former) and _CHINESE.match(char)
                parts.append(r"[\s\u200b]?" if both else r"\u200b?")
            parts.append(re.escape(char))
        else:
            continue
        former = char
    return "".join(parts)


def _line_of(near: str) -> str:
    return fold(near).strip().lower()


def _value(text: str) -> str:
    """Return the value that is kept: the text as it was given, on one line and half-width."""
    return " ".join(fold(text).replace("\u200b", "").split())
