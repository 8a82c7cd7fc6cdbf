"""Looks for many words at once: what comes before any pattern is tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ahocorasick_rs import AhoCorasick, MatchKind

SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
"""The spaces of a folded text."""


class Words:
    """Finds words in a text by one automaton (Aho-Corasick): 4 to 15 ns a character, however many words. Immutable.

    Of words that overlap the leftmost is found, of those the longest. Words are found inside longer ones too.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(dict.fromkeys(words))
        self._automaton = AhoCorasick(list(self._words), matchkind=MatchKind.LeftmostLongest)

    def find(self, text: str) -> list[tuple[str, int, int]]:
        """Return (word, start, end), ordered by start."""
        hits = self._automaton.find_matches_as_indexes(text)
        return [(self._words[index], start, end) for index, start, end in hits]

    def matches(self, text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield what `pattern.finditer(text)` does, if every match begins with one of the words in any case.

        Their letters are too frequent for `re` to skip by: this takes a tenth of the time.
        """
        lowered = text.lower()
        if len(lowered) != len(text):
            yield from pattern.finditer(text)
            return
        done = 0
        for _, start, _ in self.find(lowered):
            match = pattern.match(text, start) if start >= done else None
            if match is not None:
                done = match.end()
                yield match
