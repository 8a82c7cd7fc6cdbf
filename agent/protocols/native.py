"""Native function calling: calls come as pieces beside the text, which is the Thought before them or the answer.

Endpoints differ in how they number the pieces of several calls, and many leave a call of a model they do
not know in the text. Both are read. Rules that keep it total:

- Text before calls is the Thought; text without any is the answer. It is held back until that is certain,
  but for text that begins with the label of a Thought.
- Text that ends in a JSON object which names a tool acts as in the JSON form, unless real calls came as well.
- Each call's arguments are read like those of the other forms; a reply that ran into its limit of length
  has neither a last call nor an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.protocols.actions import Tools, answer_of, call_of, clean_name, is_answer
from agent.protocols.arguments import ArgumentsSyntaxError
from agent.protocols.json_form import JsonProtocol
from agent.protocols.other_forms import is_unread_call, nothing_behind, read_other_form, without_tokens
from agent.protocols.pieces import (
    AnswerEnd,
    AnswerText,
    Call,
    CallDelta,
    Malformed,
    Piece,
    TextParser,
    ThoughtText,
)
from agent.protocols.plain import PlainProtocol
from agent.protocols.reasons import Form, malformed
from agent.protocols.scanners import MAX_ARGUMENT_CHARS
from agent.tools.base import ToolSpec

MAX_CALLS = 32

_UNPRINTABLE_RE = re.compile("[\x00\ud800-\udfff]")
_CUT_RE = re.compile(r"\s*(?:```)?(?:json)?\s*\{(?:.*[^}`\s])?[`\s]*", re.DOTALL)
"""An object that does not end in a brace was cut, whatever the endpoint says; mending it would make up its rest."""
_SPECIAL_RE = re.compile(r"<[|｜].*", re.DOTALL)


@dataclass(slots=True)
class _Open:
    """One call as far as its pieces have come."""

    index: int | None
    id: str | None
    name: str
    arguments: list[str] = field(default_factory=list[str])
    size: int = 0

    @property
    def whole(self) -> bool:
        """Tell whether the arguments may be complete: cheap, since it looks at the last character only."""
        return bool(self.arguments) and self.arguments[-1].rstrip().endswith("}")


class NativeCalls:
    """Puts the pieces of function calls together."""

    def __init__(self, tools: Tools, form: Form) -> None:
        self._tools = tools
        self._form: Form = form
        self._calls: list[_Open] = []
        self.too_long = False

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, delta: CallDelta) -> None:
        """Take a piece: of a new call if its id, its index or its name says so, else of the one it continues."""
        name = delta.name or ""
        call = self._continued(delta)
        if call is None:
            if len(self._calls) == MAX_CALLS:
                self.too_long = True
                return
            call = _Open(delta.index, delta.id or None, "")
            self._calls.append(call)
        if name != call.name and (not call.name or not call.arguments):
            call.name += name
        call.id = call.id or delta.id
        if delta.arguments:
            call.size += len(delta.arguments)
            self.too_long = self.too_long or call.size > MAX_ARGUMENT_CHARS
            if not self.too_long:
                call.arguments.append(delta.arguments)

    def pieces(self, *, cut: bool) -> list[Piece]:
        """Return the calls in the order they began, each one or what was wrong with it."""
        if self.too_long:
            return [malformed(self._form, "too_long")]
        out: list[Piece] = []
        for call in self._calls:
            if cut and call is self._calls[-1]:
                out.append(malformed(self._form, "unclosed_call"))
            else:
                out += self._read(call)
        return out

    def _continued(self, delta: CallDelta) -> _Open | None:
        """Return the call a piece belongs to, None when it begins one."""
        if not self._calls:
            return None
        last = self._calls[-1]
        same = [call for call in self._calls if call.index == delta.index] if delta.index is not None else [last]
        if not same:
            # A piece without name and id under a new number continues what was written last.
            return None if delta.name or delta.id else last
        call = same[-1]
        if delta.id and call.id and delta.id != call.id:
            return None
        other_name = bool(delta.name) and bool(call.name) and delta.name != call.name and bool(call.arguments)
        again = bool(delta.name) and call.whole and bool(delta.arguments) and not delta.id
        return None if other_name or again else call

    def _read(self, call: _Open) -> list[Piece]:
        name = _SPECIAL_RE.sub("", call.name)
        raw = _UNPRINTABLE_RE.sub("\ufffd", "".join(call.arguments))
        if _CUT_RE.fullmatch(raw):
            return [malformed(self._form, "unclosed_call")]
        try:
            made = call_of(_UNPRINTABLE_RE.sub("\ufffd", name), raw, self._tools)
        except ArgumentsSyntaxError as exc:
            return [malformed(self._form, "bad_arguments", str(exc))]
        if not is_answer(clean_name(name), self._tools):
            return [made]
        answer = answer_of(made.arguments)
        return [AnswerText(answer), AnswerEnd()] if answer else [malformed(self._form, "empty_answer")]


class NativeProtocol:
    """Parser of one reply of an endpoint that was offered functions; the module states the rules."""

    def __init__(self, tools: Sequence[ToolSpec] = ()) -> None:
        self._tools: Tools = {spec.name: spec for spec in tools}
        self._text = JsonProtocol(tools, form="native")
        self._calls = NativeCalls(self._tools, "native")
        self._written: list[str] = []
        self._held: list[Piece] = []

    @property
    def ended(self) -> bool:
        """True when the reply passed a limit; calls may always follow otherwise."""
        return self._calls.too_long

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream."""
        self._written.append(text)
        self._held += self._text.feed(text)
        if not self._text.labelled:
            return []
        shown = self._thoughts()
        rest: list[Piece] = [p for p in self._held if not isinstance(p, ThoughtText)]
        self._held = rest
        return shown

    def feed_call(self, delta: CallDelta) -> list[Piece]:
        """Take the next piece of a function call."""
        self._calls.feed(delta)
        return []

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """Tell that the stream is over, and whether it ran into its limit of length."""
        labelled = self._text.labelled
        self._held += self._text.finish()
        if self._calls:
            called = _one_kind(self._calls.pieces(cut=cut))
            return [*self._thoughts(), *called]
        if self._acts():
            return self._held
        return self._plain(cut=cut, thoughts=self._thoughts() if labelled else [])

    def _acts(self) -> bool:
        """Tell whether the text is a call after all: of tools there are, with nothing the reader could want behind it.

        An answer may well show such an object: it goes on after it, or names what is no tool.
        """
        calls = [p for p in self._held if isinstance(p, Call)]
        if calls:
            return all(call.name in self._tools for call in calls) and nothing_behind("".join(self._written))
        outcomes = [p for p in self._held if not isinstance(p, ThoughtText)]
        return not _only(outcomes, "no_action")

    def _plain(self, *, cut: bool, thoughts: list[Piece]) -> list[Piece]:
        """Read the text as the answer, unless it is a call in another form."""
        text = without_tokens("".join(self._written))
        other = [] if cut else read_other_form("native", text, self._tools)
        if any(isinstance(p, Call) for p in other):
            return [*thoughts, *other]
        if not other and is_unread_call(text, self._tools):
            return [*thoughts, malformed("native", "no_action")]
        parser = PlainProtocol()
        pieces = [*parser.feed(text), *parser.finish()]
        kept = [p for p in pieces if isinstance(p, AnswerText | AnswerEnd)]
        if any(isinstance(p, AnswerEnd) for p in kept):
            if cut:
                return [*thoughts, malformed("native", "unclosed_answer")]
            return [*thoughts, *kept]
        return [*thoughts, malformed("native", "no_action")]

    def _thoughts(self) -> list[Piece]:
        return [p for p in self._held if isinstance(p, ThoughtText)]


class WithNativeCalls:
    """Parser of a text form. If no text acts in it, calls the endpoint made functions of count, else other forms."""

    def __init__(self, text: TextParser, tools: Sequence[ToolSpec], form: Form) -> None:
        self._text = text
        self._form: Form = form
        self._tools: Tools = {spec.name: spec for spec in tools}
        self._calls = NativeCalls(self._tools, form)
        self._written: list[str] = []

    @property
    def ended(self) -> bool:
        """True when an action stands in the text and nothing that follows can add to it."""
        return self._text.ended

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return what is certain so far."""
        if not self._text.ended:
            self._written.append(text)
        return self._text.feed(text)

    def feed_call(self, delta: CallDelta) -> list[Piece]:
        """Take the next piece of a function call."""
        self._calls.feed(delta)
        return []

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """Tell that the stream is over and return the rest."""
        pieces = self._text.finish()
        if not _only(pieces, "no_action"):
            return pieces
        if self._calls:
            acted = _one_kind(self._calls.pieces(cut=cut))
        else:
            acted = [] if cut else read_other_form(self._form, "".join(self._written), self._tools)
        return [*(p for p in pieces if isinstance(p, ThoughtText)), *acted] if acted else pieces


def _only(pieces: Sequence[Piece], code: str) -> bool:
    """Tell whether the outcome is this fault and nothing else."""
    outcomes = [p for p in pieces if not isinstance(p, ThoughtText)]
    return len(outcomes) == 1 and isinstance(outcomes[0], Malformed) and outcomes[0].code == code


def _one_kind(pieces: list[Piece]) -> list[Piece]:
    """Leave an answer out that came with calls: it was written before their results were seen; keep one otherwise."""
    if any(isinstance(p, Call | Malformed) for p in pieces):
        return [p for p in pieces if isinstance(p, Call | Malformed)]
    return pieces[:2]
