"""The streamed text protocol (the default): a Thought, then a tool call or the final answer.

    Thought: I need the figure for Q3.
    <tool_name>search_knowledge</tool_name><arguments>{"question": "Q3 revenue"}</arguments>

    Thought: I have it.
    <final_answer>Revenue was 238 million [SOURCE: doc_7f3a_p5].</final_answer>

Rules that keep it total:

- A tag that is quoted (backticks, quotation marks), or that does not begin a call, is a mention and stays Thought.
- A call inside a code fence counts only if nothing outside one acts: it is the reply's wrapping, or an example.
- `</arguments>` inside a JSON string is data; the final answer ends at its own closing tag alone.
- Several calls must follow each other directly; whatever else follows a call (an invented observation, an
  answer written before the result was seen) is left out.
- Text without an action, an unclosed call and an unclosed answer are `Malformed`, never an answer.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from agent.protocols.arguments import ArgumentsSyntaxError, read_arguments
from agent.protocols.leading import LEADING_BLANKS, label_end
from agent.protocols.pieces import AnswerEnd, AnswerText, Call, MalformedCode, Piece, ThoughtText, first_action
from agent.protocols.quoting import QuoteTracker
from agent.protocols.reasons import malformed
from agent.protocols.scanners import AnswerScanner, ArgumentsScanner
from agent.protocols.tags import OPEN_RE, call_head_at, tag_at

MAX_REPLY_CHARS = 200_000

_UNPRINTABLE_RE = re.compile("[\x00\ud800-\udfff]")


class _State(Enum):
    START = auto()
    LEAD = auto()
    THOUGHT = auto()
    THINK = auto()
    ARGUMENTS = auto()
    AFTER_CALL = auto()
    ANSWER = auto()
    TAIL = auto()


class XmlProtocol:
    """Parser of one reply; the module states the rules. Buffers no more than one call and a fenced part."""

    def __init__(self) -> None:
        self._state = _State.START
        self._buffer = ""
        self._at: int = 0
        self._taken = 0
        self._out: list[Piece] = []
        self._fenced: list[Piece] = []
        self._in_fenced_action = False
        self._acted = False
        self._quotes = QuoteTracker()
        self._name = ""
        self._arguments = ArgumentsScanner()
        self._answer = AnswerScanner()

    @property
    def ended(self) -> bool:
        """True when an action stands and nothing that follows can add to it."""
        return self._state is _State.TAIL

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return the pieces that are certain."""
        room = MAX_REPLY_CHARS - self._taken
        self._taken += len(text)
        self._buffer = self._buffer[self._at :] + _UNPRINTABLE_RE.sub("\ufffd", text[:room])
        self._at = 0
        self._advance(final=False)
        if len(text) > room and not self.ended:
            self._break("too_long")
        return self._drain()

    def finish(self) -> list[Piece]:
        """Tell that the stream is over; an action that is still open is malformed."""
        self._advance(final=True)
        match self._state:
            case _State.ARGUMENTS:
                self._end_call_at_stream_end()
            case _State.ANSWER:
                self._break("unclosed_answer")
            case _State.THINK:
                self._break("unclosed_think")
            case _:
                pass
        if not self._acted:
            self._out += first_action(self._fenced) or [malformed("xml", "no_action")]
            self._acted = True
        self._state = _State.TAIL
        return self._drain()

    def _advance(self, *, final: bool) -> None:
        while self._at < len(self._buffer) and self._step(final=final):
            pass

    def _step(self, *, final: bool) -> bool:
        """Consume something of the buffer; False when more text is needed first."""
        match self._state:
            case _State.START:
                return self._start(final=final)
            case _State.LEAD:
                return self._skip(" \t\r\n*", then=_State.THOUGHT)
            case _State.THOUGHT:
                return self._thought(final=final)
            case _State.THINK:
                return self._think(final=final)
            case _State.ARGUMENTS:
                return self._read_arguments(final=final)
            case _State.AFTER_CALL:
                return self._after_call(final=final)
            case _State.ANSWER:
                return self._read_answer(final=final)
            case _State.TAIL:
                self._at = len(self._buffer)
                return False

    def _start(self, *, final: bool) -> bool:
        """Leave out leading white space, a byte-order mark and the label `Thought:`."""
        if self._buffer[self._at] in LEADING_BLANKS:
            self._at += 1
            return True
        end = label_end(self._buffer, self._at, final=final)
        if end == "wait":
            return False
        if end is None:
            self._state = _State.THOUGHT
        else:
            self._at, self._state = end, _State.LEAD
        return True

    def _skip(self, characters: str, *, then: _State) -> bool:
        if self._buffer[self._at] in characters:
            self._at += 1
        else:
            self._state = then
        return True

    def _thought(self, *, final: bool) -> bool:
        if self._say_until_open():
            return True
        tag = tag_at(self._buffer, self._at, final=final)
        if tag == "wait":
            return False
        if tag is None:
            self._say(self._at + 1)
        elif self._quotes.quoted:
            self._say(tag.end)
        elif tag.name == "wrapper":
            self._at = tag.end
        elif (tag.closing and tag.name != "think") or tag.name == "arguments":
            self._say(tag.end)
        elif tag.name == "think":
            self._at = tag.end
            self._state = _State.START if tag.closing else _State.THINK
        elif tag.name == "final_answer":
            self._at, self._state = tag.end, _State.ANSWER
            self._answer = AnswerScanner()
            self._in_fenced_action = self._quotes.in_fence
        else:
            return self._begin_call(mention_end=tag.end, final=final)
        return True

    def _think(self, *, final: bool) -> bool:
        """Private thinking of reasoning models: shown as Thought; nothing in it acts."""
        if self._say_until_open():
            return True
        tag = tag_at(self._buffer, self._at, final=final)
        if tag == "wait":
            return False
        if tag is not None and tag.name == "think" and tag.closing:
            self._at, self._state = tag.end, _State.START
            self._quotes = QuoteTracker()
            return True
        self._say(self._at + 1)
        return True

    def _begin_call(self, *, mention_end: int | None, final: bool) -> bool:
        """Begin a call whose `<tool_name>` stands here; `mention_end` is where a mere mention of it ends."""
        head = call_head_at(self._buffer, self._at)
        if head == "wait":
            if final:
                self._break("unclosed_call")
            return False
        if head is not None:
            self._name, self._at, self._state = head.name, head.end, _State.ARGUMENTS
            self._arguments = ArgumentsScanner()
            self._in_fenced_action = self._quotes.in_fence
        elif mention_end is not None:
            self._say(mention_end)
        else:
            self._state = _State.TAIL
        return True

    def _read_arguments(self, *, final: bool) -> bool:
        before = self._at
        self._at = self._arguments.scan(self._buffer, self._at, final=final)
        if self._arguments.too_long:
            self._break("too_long")
        elif self._arguments.closed:
            self._end_call(self._arguments.text)
        return self._at > before

    def _end_call(self, raw: str) -> None:
        try:
            arguments, repaired = read_arguments(raw)
            self._act(Call(self._name, arguments, raw, repaired))
        except ArgumentsSyntaxError as exc:
            self._act(malformed("xml", "bad_arguments", str(exc)))
        self._quotes.start_line()
        self._state = _State.THOUGHT if self._in_fenced_action else _State.AFTER_CALL

    def _end_call_at_stream_end(self) -> None:
        raw = self._arguments.unclosed_text()
        if raw is None:
            self._break("unclosed_call")
        else:
            self._end_call(raw)

    def _after_call(self, *, final: bool) -> bool:
        if self._buffer[self._at] in " \t\r\n":
            self._at += 1
            return True
        tag = tag_at(self._buffer, self._at, final=final) if OPEN_RE.match(self._buffer, self._at) else None
        if tag == "wait":
            return False
        if tag is not None and tag.name == "wrapper":
            self._at = tag.end
            return True
        if tag is not None and tag.name == "tool_name" and not tag.closing:
            return self._begin_call(mention_end=None, final=final)
        self._state = _State.TAIL
        return True

    def _read_answer(self, *, final: bool) -> bool:
        before = self._at
        self._at, text = self._answer.scan(self._buffer, self._at, final=final)
        target = self._fenced if self._in_fenced_action else self._out
        if text:
            target.append(AnswerText(text))
        if self._answer.closed:
            self._act(AnswerEnd() if self._answer.begun else malformed("xml", "empty_answer"))
            self._quotes.start_line()
            self._state = _State.THOUGHT if self._in_fenced_action else _State.TAIL
        return self._at > before

    def _act(self, piece: Piece) -> None:
        if self._in_fenced_action:
            self._fenced.append(piece)
        else:
            self._out.append(piece)
            self._acted = True

    def _break(self, code: MalformedCode) -> None:
        """The reply cannot be read on: nothing of what is open acts, and nothing after it."""
        self._out.append(malformed("xml", code))
        self._acted = True
        self._state = _State.TAIL

    def _say_until_open(self) -> bool:
        """Take the Thought up to the next `<`; False when it stands right here."""
        found = OPEN_RE.search(self._buffer, self._at)
        stop = len(self._buffer) if found is None else found.start()
        if stop == self._at:
            return False
        self._say(stop)
        return True

    def _say(self, end: int) -> None:
        text = self._buffer[self._at : end]
        self._quotes.feed(text)
        self._out.append(ThoughtText(text))
        self._at = end

    def _drain(self) -> list[Piece]:
        pieces, self._out = self._out, []
        return pieces
