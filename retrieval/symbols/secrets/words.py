"""Looks for many words at once: what comes before any pattern is tried."""

from __future__ import annotations

from collections.abc import Iterable

from ahocorasick_rs import AhoCorasick, MatchKind


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
