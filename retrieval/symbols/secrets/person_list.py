"""The persons a tenant names: found in every writing, each under the first form of its name.

One automaton (Aho-Corasick) reads the text once, whatever the number of names. It reads the text in small letters and
without spaces and middle dots; where a hit begins and ends, and that nothing but the gaps of the name were left out, is
checked in the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ahocorasick_rs import AhoCorasick

from retrieval.symbols.fold import fold
from retrieval.symbols.rules import Person
from retrieval.symbols.secrets.found import SecretFound

_GAP_CHARS = " \n\u00b7\u2022\u30fb\u2027\u200b"
_GAPS = f"[{_GAP_CHARS}]"
_GAP = re.compile(_GAPS)
_PIECES = re.compile(rf"[\u4e00-\u9fff]|[^\u4e00-\u9fff{_GAP_CHARS}]+")
_LEAST_CHARS = 2


class PersonList:
    """Finds the names of a tenant's list. Immutable."""

    def __init__(self, persons: Iterable[Person]) -> None:
        """Take the persons; of two that share a writing the first has it. Names of one character are left out."""
        first_forms: dict[str, str] = {}
        forms: dict[str, list[str]] = {}
        for person in persons:
            for name in person.names:
                plain = _plain(name)
                if len(plain) >= _LEAST_CHARS:
                    first_forms.setdefault(plain, person.names[0])
                    forms.setdefault(plain, []).append(name)
        self._first_forms = first_forms
        self._names = tuple(first_forms)
        self._forms = [forms[name] for name in self._names]
        self._automaton = AhoCorasick(list(self._names)) if self._names else None

    def first_form(self, name: str) -> str:
        """Return the first form of a listed name in any writing; a name that is not listed as it is."""
        return self._first_forms.get(_plain(name), name)

    def find(self, text: str) -> Iterator[SecretFound]:
        """Yield the listed names of a folded text, ordered by start."""
        if self._automaton is None:
            return
        packed = text.lower()
        for gap in _GAP_CHARS:
            packed = packed.replace(gap, "")
        raw = self._automaton.find_matches_as_indexes(packed, overlapping=True)
        if not raw:
            return
        # What stands in the packed text before gap i: the place of the gap less the gaps before it.
        places = [m.start() - i for i, m in enumerate(_GAP.finditer(text))]
        hits: list[tuple[int, int, int]] = []
        for index, packed_start, packed_end in raw:
            start = packed_start + bisect_right(places, packed_start)
            end = packed_end + bisect_right(places, packed_end - 1)
            if self._is_whole(text, start, end, self._forms[index]):
                hits.append((start, -end, index))
        done = 0
        for start, negative_end, index in sorted(hits):  # of those that begin at one place the longest comes first
            if start >= done:
                done = -negative_end
                yield SecretFound("person", self._first_forms[self._names[index]], start, done)

    @staticmethod
    def _is_whole(text: str, start: int, end: int, forms: Sequence[str]) -> bool:
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if (_is_letter(text[start]) and _is_letter(before)) or (_is_letter(text[end - 1]) and _is_letter(after)):
            return False
        surface = text[start:end]
        return any(_writing(form).fullmatch(surface) for form in forms)


NO_PERSONS = PersonList(())
"""The list of a tenant that names nobody."""


def _plain(name: str) -> str:
    return _GAP.sub("", fold(name)).lower()


@lru_cache(maxsize=4096)  # compiled when a name is met: a list may hold every employee
def _writing(name: str) -> re.Pattern[str]:
    """Return the pattern of a name: between its words a gap or none."""
    return re.compile(rf"{_GAPS}{{0,2}}".join(re.escape(piece) for piece in _PIECES.findall(fold(name))), re.I)


def _is_letter(char: str) -> bool:
    """Tell whether a character goes on a word of letters; Chinese is written without ends of words."""
    return char.isalnum() and not "\u2e80" <= char <= "\u9fff"
