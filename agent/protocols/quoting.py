"""Where in a Thought we are: inside quotes, inside a code fence, or in plain prose.

A tag that is quoted is talked about, not used. Quotes and inline backticks are
judged per line, so that one stray apostrophe or backtick cannot mute the rest
of the reply.
"""

from __future__ import annotations

import re

_OPENERS = "“「『"
_CLOSERS = "”」』"
_TOUCHING = "`'‘"
_SPECIAL_RE = re.compile(f'[\n`"{_OPENERS}{_CLOSERS}]')


class QuoteTracker:
    """Follows the text of a Thought; linear, keeps no text."""

    def __init__(self) -> None:
        self.in_fence = False
        """Inside a ``` block that began at a line's start."""
        self.start_line()

    def start_line(self) -> None:
        """Forget the quotes of the line so far."""
        self._ticks = 0
        self._double = 0
        self._depth = 0
        self._previous = "\n"
        self._leading = True

    @property
    def quoted(self) -> bool:
        """Tell whether text that stands here, on this line, is quoted."""
        odd = self._ticks % 2 == 1 or self._double % 2 == 1
        return odd or self._depth > 0 or self._previous in _TOUCHING

    def feed(self, text: str) -> None:
        """Go on over `text`; looks at the characters that mean something alone."""
        at = 0
        for found in _SPECIAL_RE.finditer(text):
            self._skip(text[at : found.start()])
            at = found.end()
            if found.group() == "\n":
                self.start_line()
            else:
                self._step(found.group())
                self._previous = found.group()
        self._skip(text[at:])

    def _skip(self, plain: str) -> None:
        if plain:
            self._leading = self._leading and plain.isspace()
            self._previous = plain[-1]

    def _step(self, char: str) -> None:
        if char == "`":
            self._ticks += 1
            if self._leading and self._ticks == 3:
                self.in_fence = not self.in_fence
                self._ticks, self._leading = 0, False
                return
        elif char == '"':
            self._double += 1
        elif char in _OPENERS:
            self._depth += 1
        elif char in _CLOSERS:
            self._depth = max(0, self._depth - 1)
        if char != "`" and not char.isspace():
            self._leading = False
