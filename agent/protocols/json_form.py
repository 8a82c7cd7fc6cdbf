"""The JSON form: every reply is one object, or several calls one after the other.

    {"thought": "I need Q3.", "action": "search_knowledge", "action_input": {"question": "Q3 revenue"}}
    {"thought": "I have it.", "action": "final_answer", "action_input": {"answer": "238 million [SOURCE: …]."}}

Rules that keep it total:

- The thought and the answer are streamed while their strings are still open.
- An object acts when it names an action. Quoted objects, and objects that name none, are mentions and stay Thought.
- An object inside a code fence counts only if nothing outside one acts: it is the reply's wrapping, or an example.
- Calls must follow each other directly; what follows a call otherwise, or an observation that the model wrote
  itself, is left out. An answer that follows a call was written before its result was seen.
- Only the closing brace of the object itself may be missing; anything else that is open was cut and does not act.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

from agent.protocols.actions import (
    Reading,
    Tools,
    clean_name,
    is_action,
    is_answer,
    is_answer_key,
    is_input,
    is_thought,
    is_wrapper,
    read_action,
)
from agent.protocols.arguments import ArgumentsSyntaxError, read_arguments
from agent.protocols.leading import LEADING_BLANKS, label_end
from agent.protocols.objects import ObjectScanner
from agent.protocols.pieces import (
    AnswerEnd,
    AnswerText,
    Call,
    Malformed,
    MalformedCode,
    Piece,
    ThoughtText,
    first_action,
)
from agent.protocols.quoting import QuoteTracker
from agent.protocols.reasons import Form, malformed
from agent.protocols.tags import TAG_START, tag_at
from agent.protocols.trimming import TrimmedText
from agent.tools.base import ToolSpec

MAX_REPLY_CHARS = 200_000

_UNPRINTABLE_RE = re.compile("[\x00\ud800-\udfff]")
_PROSE_RE = re.compile(rf"[{{｛]|{TAG_START}", re.IGNORECASE | re.ASCII)
_OBJECT_RE = re.compile(r"""[{｛]\s{0,200}(?:["'“”＂}｝]|[A-Za-z_\u4e00-\u9fff][\w ]{0,40}[:：])""")
_MAY_OPEN_RE = re.compile(r"[{｛]\s{0,200}(?:[A-Za-z_\u4e00-\u9fff][\w ]{0,40})?\Z")
_BETWEEN_RE = re.compile(r"[\s,，;；\[\]`]+|</?[a-z_]{1,20}>|<[|｜][^<>\n]{1,40}[|｜]>", re.IGNORECASE)
_MAY_BE_BETWEEN_RE = re.compile(r"<(?:/?[a-z_]{0,20}|[|｜][^<>\n]{0,41})\Z", re.IGNORECASE)
_HEAD_RE = re.compile(
    r"(?:(?:^|\n)[ \t*]*(?:action|行动|动作)[ \t*]*[:：][ \t*]*`?([\w.\-]{1,64})`?[ \t*]*\n"
    r"[ \t*]*(?:action[ _]?input|行动输入|动作输入|参数)[ \t*]*[:：][ \t*]*"
    r"|tool[▁_ ]sep[|｜]>\s*([\w.\-]{1,64})\s*"
    r"|(?:<function=|\[TOOL_CALLS\]\s*|call:)([\w.\-]{1,64})(?:>|\[ARGS\])?\s*"
    r"|to=functions\.([\w\-]{1,64})[^{}]{0,80}<\|message\|>\s*"
    r"|([\w.\-]{1,64})(?::\d{1,3})?(?:<\|tool_call_argument_begin\|>|\[ARGS\])\s*"
    r"|(?:^|\n)[ \t]*([\w.\-]{1,64})[ \t]*)"
    r"(?:```(?:json)?\s*)?\Z",
    re.IGNORECASE,
)
"""A name that a model wrote before its arguments in the manner it was trained for."""
_HEAD_CHARS = 240
_RETRIES = 3
"""How often text after a brace that opened no action is looked through again."""
_MENTIONS = 100
"""Objects of one reply that ask for nothing, after which braces are prose: so many are noise, and slow."""
_LAST_RESORT_RE = re.compile(
    r'["\'“]?(?:action|tool|tool_name|动作|行动|工具)["\'”]?\s*[:：]\s*["\'“]?([\w.\-]{1,64})', re.I
)


class _State(Enum):
    START = auto()
    LEAD = auto()
    PROSE = auto()
    THINK = auto()
    OBJECT = auto()
    AFTER = auto()
    TAIL = auto()


class JsonProtocol:
    """Parser of one reply; the module states the rules. Buffers no more than one object and a fenced part."""

    def __init__(self, tools: Sequence[ToolSpec] = (), *, form: Form = "json") -> None:
        self._tools: Tools = {spec.name: spec for spec in tools}
        self._form: Form = form
        self._state = _State.START
        self._buffer = ""
        self._at: int = 0
        self._taken = 0
        self._out: list[Piece] = []
        self._fenced: list[Piece] = []
        self._in_fenced_action = False
        self._acted = False
        self._called = False
        self._quotes = QuoteTracker()
        self._head = ""
        self._retries = 0
        self._mentions = 0
        self.labelled = False
        """True when the reply began with the label of a Thought."""
        self._forget_object()

    @property
    def ended(self) -> bool:
        """True when an action stands and nothing that follows can add to it."""
        return self._state is _State.TAIL

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return the pieces that are certain."""
        room = MAX_REPLY_CHARS - self._taken
        self._taken += len(text)
        self._buffer = self._buffer[self._at :] + _UNPRINTABLE_RE.sub("\ufffd", text[: max(0, room)])
        self._at = 0
        self._advance(final=False)
        if len(text) > room and not self.ended:
            self._break("too_long")
        return self._drain()

    def finish(self) -> list[Piece]:
        """Tell that the stream is over; an object that is still open is malformed, unless only its brace is missing."""
        self._advance(final=True)
        while self._state is _State.OBJECT:
            self._end_of_stream()
            self._advance(final=True)
        if self._state is _State.THINK:
            self._break("unclosed_think")
        if not self._acted:
            self._out += first_action(self._fenced) or [malformed(self._form, "no_action")]
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
                if self._buffer[self._at] in " \t\r\n*":
                    self._at += 1
                else:
                    self._state = _State.PROSE
                return True
            case _State.PROSE:
                return self._prose(final=final)
            case _State.THINK:
                return self._think(final=final)
            case _State.OBJECT:
                return self._object(final=final)
            case _State.AFTER:
                return self._after(final=final)
            case _State.TAIL:
                self._at = len(self._buffer)
                return False

    def _start(self, *, final: bool) -> bool:
        if self._buffer[self._at] in LEADING_BLANKS:
            self._at += 1
            return True
        end = label_end(self._buffer, self._at, final=final)
        if end == "wait":
            return False
        if end is not None:
            self.labelled = True
            self._at, self._state = end, _State.LEAD
        else:
            self._state = _State.PROSE
        return True

    def _prose(self, *, final: bool) -> bool:
        if self._say_until_open():
            return True
        if self._buffer[self._at] in "{｛":
            opens = False if self._quotes.quoted else self._opens_object(final=final)
            if opens is None:
                return False
            if opens:
                self._forget_object()
                self._state = _State.OBJECT
            else:
                self._say(self._at + 1)
            return True
        tag = tag_at(self._buffer, self._at, final=final)
        if tag == "wait":
            return False
        if tag is not None and tag.name == "think" and not self._quotes.quoted:
            self._at = tag.end
            self._state = _State.START if tag.closing else _State.THINK
            return True
        self._say(self._at + 1)
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

    def _opens_object(self, *, final: bool) -> bool | None:
        """Tell whether the brace at hand begins an object; None while more text is needed to tell."""
        if self._mentions >= _MENTIONS:
            return False
        if _OBJECT_RE.match(self._buffer, self._at):
            return True
        if not final and _MAY_OPEN_RE.match(self._buffer, self._at):
            return None
        return False

    def _forget_object(self) -> None:
        self._scanner = ObjectScanner(self._watch)
        self._raw: list[str] = []
        self._answer = TrimmedText()
        self._watched_answer: tuple[str, ...] | None = None
        self._streamed = False
        self._in_fenced_action = self._quotes.in_fence

    def _watch(self, path: tuple[str, ...]) -> str | None:
        if len(path) == 1 and is_thought(path[0]):
            return "thought"
        is_text = (len(path) == 1 and is_input(path[0])) or (
            len(path) == 2 and is_input(path[0]) and is_answer_key(path[1])
        )
        if not is_text or self._watched_answer is not None or self._called or not self._answering():
            return None
        self._watched_answer = path
        return "answer"

    def _answering(self) -> bool:
        """Tell whether the object at hand already said that it is the final answer."""
        names = [text for path, text in self._scanner.values.items() if len(path) == 1 and is_action(path[0])]
        return bool(names) and is_answer(names[0], self._tools)

    def _object(self, *, final: bool) -> bool:
        before = self._at
        self._at = self._scanner.scan(self._buffer, self._at, final=final)
        self._raw.append(self._buffer[before : self._at])
        self._show()
        if self._scanner.broken:
            self._break("bad_arguments" if self._scanner.too_deep else "too_long")
        elif self._scanner.closed:
            self._end_object()
        return self._at > before

    def _show(self) -> None:
        for name, text in self._scanner.take_seen():
            if name == "thought":
                self._out.append(ThoughtText(text))
                self._streamed = True
                continue
            shown = self._answer.feed(text)
            if shown:
                (self._fenced if self._in_fenced_action else self._out).append(AnswerText(shown))

    def _end_object(self, missing: str = "") -> None:
        text = self._scanner.text + missing
        try:
            value, repaired = read_arguments(text)
            reading = read_action(value, self._tools, repaired=repaired or self._scanner.mended or bool(missing))
        except ArgumentsSyntaxError as exc:
            reading = self._last_resort(str(exc))
        else:
            if reading is None and (name := self._name_before()) is not None:
                reading = Reading(calls=[Call(name, value, text, repaired or self._scanner.mended)])
        if isinstance(reading, Malformed):
            self._act(reading)
            self._after_action(more=True)
        elif reading is None:
            self._mention()
        elif reading.answer is not None and not reading.calls:
            self._end_answer(reading.answer)
        else:
            for call in reading.calls:
                self._act(call)
            self._called = self._called or not self._in_fenced_action
            self._after_action(more=not reading.observed)

    def _end_answer(self, answer: str) -> None:
        if self._called:
            self._state = _State.TAIL
            return
        target = self._fenced if self._in_fenced_action else self._out
        if self._watched_answer is None and answer:
            target.append(AnswerText(answer))
        written = self._answer.begun if self._watched_answer is not None else bool(answer)
        self._act(AnswerEnd() if written else malformed(self._form, "empty_answer"))
        self._after_action(more=False)

    def _last_resort(self, reason: str) -> Malformed | None:
        """An object that nothing can mend: if it names an action, the model learns why it did not run."""
        if self._watched_answer is not None or _LAST_RESORT_RE.search(self._scanner.text):
            return malformed(self._form, "bad_arguments", reason)
        return None

    def _name_before(self) -> str | None:
        """Return the name that stands before arguments, if it is that of a tool."""
        found = _HEAD_RE.search(self._head)
        name = clean_name(next(filter(None, found.groups()), "")) if found is not None else ""
        return name if name in self._tools else None

    def _mention(self) -> None:
        """The object asks for nothing: what was not shown of it yet is Thought."""
        if self._called:
            self._state = _State.TAIL
            return
        self._state = _State.PROSE
        self._mentions += 1
        if not self._streamed:
            self._tell("".join(self._raw))

    def _after_action(self, *, more: bool) -> None:
        self._quotes.start_line()
        self._head = ""
        if self._in_fenced_action:
            self._state = _State.PROSE
        else:
            self._state = _State.AFTER if more else _State.TAIL

    def _end_of_stream(self) -> None:
        """The stream ended inside an object."""
        scanner = self._scanner
        if scanner.whole_but_for_its_brace and self._names_action():
            self._end_object(missing="}")
        elif self._names_action():
            self._break("unclosed_answer" if self._answering() else "unclosed_call")
        elif self._called:
            self._state = _State.TAIL
        else:
            self._look_again()

    def _names_action(self) -> bool:
        keys = [path[0] for path in (*self._scanner.values, *self._scanner.open_values) if path]
        return any(is_action(key) or is_input(key) or is_thought(key) or is_wrapper(key) for key in keys)

    def _look_again(self) -> None:
        """A brace of the prose was taken for an object's: read on behind it, a few times at most."""
        raw = "".join(self._raw) + self._buffer[self._at :]
        self._retries += 1
        behind = 1 if self._retries <= _RETRIES else len(raw)
        self._state = _State.PROSE
        self._tell(raw[:behind])
        self._buffer, self._at = raw[behind:], 0

    def _after(self, *, final: bool) -> bool:
        between = _BETWEEN_RE.match(self._buffer, self._at)
        if between is not None:
            self._at = between.end()
            return True
        if not final and _MAY_BE_BETWEEN_RE.match(self._buffer, self._at):
            return False
        opens = self._opens_object(final=final) if self._buffer[self._at] in "{｛" else False
        if opens is None:
            return False
        if opens:
            self._forget_object()
        self._state = _State.OBJECT if opens else _State.TAIL
        return True

    def _act(self, piece: Piece) -> None:
        if self._in_fenced_action:
            self._fenced.append(piece)
        else:
            self._out.append(piece)
            self._acted = True

    def _break(self, code: MalformedCode) -> None:
        """The reply cannot be read on: nothing of what is open acts, and nothing after it."""
        self._out.append(malformed(self._form, code))
        self._acted = True
        self._state = _State.TAIL

    def _say_until_open(self) -> bool:
        """Take the prose up to the next brace or `<`; False when it stands right here."""
        found = _PROSE_RE.search(self._buffer, self._at)
        stop = len(self._buffer) if found is None else found.start()
        if stop == self._at:
            return False
        self._say(stop)
        return True

    def _say(self, end: int) -> None:
        self._tell(self._buffer[self._at : end])
        self._at = end

    def _tell(self, text: str) -> None:
        self._quotes.feed(text)
        self._head = (self._head + text)[-_HEAD_CHARS:]
        self._out.append(ThoughtText(text))

    def _drain(self) -> list[Piece]:
        pieces, self._out = self._out, []
        return pieces
