"""What stands before a reply and is no part of it: white space, a byte-order mark, the label `Thought:`."""

from __future__ import annotations

import re
from typing import Literal

LEADING_BLANKS = "\ufeff \t\r\n"

_LABEL_RE = re.compile(r"(?:\*\*)?(?:thought|思考|想法)(?:\*\*)?[ \t]{0,4}[:：]", re.IGNORECASE | re.ASCII)
_LABEL_START_RE = re.compile(r"\*{0,2}([a-z思考想法]*)\*{0,2}[ \t]{0,4}\Z", re.IGNORECASE | re.ASCII)
_LABEL_WORDS = ("thought", "思考", "想法")


def label_end(buffer: str, at: int, *, final: bool) -> int | Literal["wait"] | None:
    """Return where the label that stands at `at` ends, `wait` while it may still become one, None if there is none."""
    label = _LABEL_RE.match(buffer, at)
    if label is not None:
        return label.end()
    if not final:
        start = _LABEL_START_RE.match(buffer, at)
        if start is not None and any(word.startswith(start.group(1).lower()) for word in _LABEL_WORDS):
            return "wait"
    return None
