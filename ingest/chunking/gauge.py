"""Measures texts in encoder tokens, each text once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingest.chunking.draft import index_prefix, index_source


class Gauge:
    """The token budget of one document's chunks.

    `measure` may be slow (it symbolises and tokenises), so every text is measured once.
    """

    def __init__(self, measure: Callable[[str], int], max_tokens: int, title: str) -> None:
        self._measure, self._title = measure, title
        self._known: dict[str, int] = {}
        self.max_tokens = max_tokens
        self._frame = measure("")
        """Special tokens around any text."""

    def cost(self, text: str) -> int:
        """Tokens that `text` adds to a chunk."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = max(0, self._measure(text) - self._frame)
        return known

    def whole(self, path: Sequence[str], text: str) -> int:
        """Tokens of a chunk with that text under that heading path, as it will be encoded."""
        return self.cost(index_source(self._title, path, text)) + self._frame

    def room(self, path: Sequence[str]) -> int:
        """Tokens left for text under a heading path."""
        return max(8, self.max_tokens - self.cost(index_prefix(self._title, path, "")) - self._frame)

    def trim(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Drop outer headings while title and headings eat more than half of the budget."""
        while path and self.room(path) * 2 < self.max_tokens:
            path = path[1:]
        return path
