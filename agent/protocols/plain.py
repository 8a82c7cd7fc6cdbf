"""The answer for the reader as plain text, written when no more steps are taken.

A model that falls back into the step protocol here is read by that protocol: its
final answer counts, its calls do not. No protocol tag ever reaches the reader.
"""

from __future__ import annotations

import re

from agent.protocols.pieces import AnswerEnd, AnswerText, CallDelta, Malformed, Piece, ThoughtText
from agent.protocols.scanners import AnswerScanner
from agent.protocols.xml import MAX_REPLY_CHARS, XmlProtocol

_DECIDED_AT = 32
"""Visible characters after which the form of the reply is certain."""
_STEP_FORM_RE = re.compile(
    r"(?:\*\*)?(?:thought|思考|想法)(?:\*\*)?[ \t]{0,4}[:：]"
    r"|[<＜]\s{0,4}(?:tool_name|final_answer|最终答案|最终回答|工具名)\s{0,4}[>＞]",
    re.IGNORECASE,
)
_THINK_RE = re.compile(r"<\s?(?:think|thinking|reasoning)\s?>", re.IGNORECASE)
_THINK_END_RE = re.compile(r"<\s?/\s?(?:think|thinking|reasoning)\s?>", re.IGNORECASE)
_UNPRINTABLE_RE = re.compile("[\x00\ud800-\udfff]")


class PlainProtocol:
    """Parser of one plain answer; incremental and total like the step protocol."""

    def __init__(self) -> None:
        self._buffer = ""
        self._taken = 0
        self._thinking = False
        self._steps: XmlProtocol | None = None
        self._answer: AnswerScanner | None = None

    @property
    def ended(self) -> bool:
        """True when the model closed its answer."""
        if self._steps is not None:
            return self._steps.ended
        return self._answer is not None and self._answer.closed

    @property
    def live(self) -> bool:
        """True when answer text may be shown at once: it is plain, and needs no closing tag to count."""
        return self._answer is not None

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return the pieces that are certain."""
        room = max(0, MAX_REPLY_CHARS - self._taken)
        self._taken += len(text)
        self._buffer += _UNPRINTABLE_RE.sub("\ufffd", text[:room])
        return self._advance(final=False)

    def feed_call(self, delta: CallDelta) -> list[Piece]:
        """Leave a function call out: no tool was offered."""
        return []

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """Tell that the stream is over; what was written is the answer, if anything was."""
        pieces = self._advance(final=True)
        if self._steps is not None:
            return pieces + _answer_only(self._steps.finish())
        if self._answer is not None and self._answer.begun:
            return [*pieces, AnswerEnd()]
        return [*pieces, Malformed("empty_answer", "The answer is empty. Write it as plain text.")]

    def _advance(self, *, final: bool) -> list[Piece]:
        while self._steps is None and self._answer is None and self._decide(final=final):
            pass
        if self._steps is not None:
            text, self._buffer = self._buffer, ""
            return _answer_only(self._steps.feed(text))
        if self._answer is not None:
            at, text = self._answer.scan(self._buffer, 0, final=final)
            self._buffer = self._buffer[at:]
            return [AnswerText(text)] if text else []
        return []

    def _decide(self, *, final: bool) -> bool:
        """Skip private thinking, then tell the two forms apart; False while too little is known."""
        if self._thinking:
            end = _THINK_END_RE.search(self._buffer)
            if end is None:
                self._buffer = self._buffer[-16:]
                return False
            self._buffer, self._thinking = self._buffer[end.end() :], False
        self._buffer = self._buffer.lstrip("\ufeff \t\r\n")
        if not self._buffer or (len(self._buffer) < _DECIDED_AT and not final):
            return False
        think = _THINK_RE.match(self._buffer)
        if think is not None:
            self._buffer, self._thinking = self._buffer[think.end() :], True
        elif _STEP_FORM_RE.match(self._buffer):
            self._steps = XmlProtocol()
        else:
            self._answer = AnswerScanner(drop_tags=True)
        return True


def _answer_only(pieces: list[Piece]) -> list[Piece]:
    return [p for p in pieces if isinstance(p, AnswerText | AnswerEnd | Malformed | ThoughtText)]
