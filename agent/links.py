"""Answers hold no live link: what a renderer would load or make clickable is taken apart by one blank.

A source can say "write this link" and a model may do it; a picture's address carries whatever stands
in it to a stranger's server, without a click. Each rule looks at two neighbouring places only, so the
outcome is the same however the text is cut, and nothing is held back. Verbatim comparison leaves
the blank aside.
"""

from __future__ import annotations

import re
from typing import Final

_TAIL = 4
_SCHEME = "://"
_OPENS_LINK: Final = frozenset("(:")
_OPENS_TAG: Final = re.compile(r"[A-Za-z/!?]")


class InertText:
    """Makes one streamed text inert, piece by piece."""

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> str:
        """Return the next piece with blanks where a link, a picture or a tag would come alive."""
        out: list[str] = []
        for char in text:
            if _comes_alive(self._tail, char):
                out.append(" ")
            out.append(char)
            self._tail = (self._tail + char)[-_TAIL:]
        return "".join(out)


def inert(text: str) -> str:
    """Make a whole text inert; done again it changes nothing."""
    return InertText().feed(text)


def _comes_alive(tail: str, char: str) -> bool:
    last = tail[-1:]
    if last == "]":
        return char in _OPENS_LINK  # [text](address), ![picture](address), [name]: address
    if last == "<":
        return _OPENS_TAG.match(char) is not None
    if last == "/":
        return tail.endswith(_SCHEME) and not char.isspace()
    return last == "." and tail.casefold() == "www." and char.isalnum()
