"""The two places where the protocol reads foreign text to a closing tag: a call's arguments and the answer."""

from __future__ import annotations

import re

from agent.protocols.tags import OPEN_RE, OPENING, FoundTag, tag_at
from agent.protocols.trimming import TrimmedText

MAX_ARGUMENT_CHARS = 64_000

_OUTSIDE_RE = re.compile(rf'["{OPENING}]')
_IN_STRING_RE = re.compile(rf'["\\{OPENING}]')


class ArgumentsScanner:
    """Finds the `</arguments>` that stands outside every JSON string."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._in_string = False
        self._last_close: tuple[int, int] | None = None
        self.closed = False

    @property
    def too_long(self) -> bool:
        """Tell whether the arguments passed the size limit."""
        return self._size > MAX_ARGUMENT_CHARS

    @property
    def text(self) -> str:
        """What was read so far, without the closing tag."""
        return "".join(self._parts)

    def scan(self, buffer: str, at: int, *, final: bool) -> int:
        """Read on from `at`; return where reading stopped (at the end, a possible tag, or past the closing one)."""
        while at < len(buffer) and not self.closed and not self.too_long:
            found = (_IN_STRING_RE if self._in_string else _OUTSIDE_RE).search(buffer, at)
            stop = len(buffer) if found is None else found.start()
            self._keep(buffer[at:stop])
            at = stop
            if found is None:
                break
            moved = self._special(buffer, at, final=final)
            if moved == at:
                break
            at = moved
        return at

    def unclosed_text(self) -> str | None:
        """Return the arguments of a stream that ended with a quote left open, None when they were cut.

        `{"q": "abc}</arguments>` swallows its own closing tag. It is taken at its word
        only when nothing follows that tag and an object ends right before it.
        """
        if self._last_close is None:
            return None
        start, end = self._last_close
        text = self.text
        whole = not text[end:].strip() and text[:start].rstrip().endswith("}")
        return text[:start] if whole else None

    def _special(self, buffer: str, at: int, *, final: bool) -> int:
        char = buffer[at]
        if char == '"':
            self._in_string = not self._in_string
            return self._take(buffer, at, 1)
        if char == "\\":
            whole = at + 1 < len(buffer) or final
            return self._take(buffer, at, 2) if whole else at
        tag = tag_at(buffer, at, final=final)
        if tag == "wait":
            return at
        if tag is None or tag.name != "arguments" or not tag.closing:
            return self._take(buffer, at, 1)
        if not self._in_string:
            self.closed = True
            return tag.end
        self._last_close = (self._size, self._size + tag.end - at)
        return self._take(buffer, at, tag.end - at)

    def _take(self, buffer: str, at: int, count: int) -> int:
        self._keep(buffer[at : at + count])
        return min(len(buffer), at + count)

    def _keep(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)


class AnswerScanner:
    """Reads the final answer to its closing tag; white space around it is left out.

    With `drop_tags` the text is a plain answer: protocol tags in it are slips and are left
    out, unless they stand in backticks.
    """

    def __init__(self, *, drop_tags: bool = False) -> None:
        self._drop_tags = drop_tags
        self.closed = False
        self._shown = TrimmedText()
        self._last = ""
        self._out: list[str] = []

    @property
    def begun(self) -> bool:
        """True once the answer has a visible character."""
        return self._shown.begun

    def scan(self, buffer: str, at: int, *, final: bool) -> tuple[int, str]:
        """Read on from `at`; return where reading stopped and the answer text that is certain."""
        while at < len(buffer) and not self.closed:
            found = OPEN_RE.search(buffer, at)
            stop = len(buffer) if found is None else found.start()
            self._keep(buffer[at:stop])
            at = stop
            if found is None:
                break
            moved = self._tag(buffer, at, final=final)
            if moved == at:
                break
            at = moved
        text, self._out = "".join(self._out), []
        return at, text

    def _tag(self, buffer: str, at: int, *, final: bool) -> int:
        tag = tag_at(buffer, at, final=final)
        if tag == "wait":
            return at
        if tag is None:
            self._keep(buffer[at])
            return at + 1
        if tag.name == "final_answer":
            if not tag.closing and not self.begun:
                return tag.end
            if tag.closing:
                return self._close(buffer, at, tag, final=final)
        if self._drop_tags and self._last != "`":
            return tag.end
        self._keep(buffer[at : tag.end])
        return tag.end

    def _close(self, buffer: str, at: int, tag: FoundTag, *, final: bool) -> int:
        """Close, unless the tag stands between two backticks: then the answer talks about it."""
        if self._last == "`":
            if tag.end == len(buffer) and not final:
                return at
            if buffer[tag.end : tag.end + 1] == "`":
                self._keep(buffer[at : tag.end])
                return tag.end
        self.closed = True
        return tag.end

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._last = text[-1]
        self._out.append(self._shown.feed(text))
