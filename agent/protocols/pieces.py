"""What a protocol parser makes of a streamed reply, and the Protocol every parser follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

MalformedCode = Literal[
    "no_action",
    "unclosed_call",
    "unclosed_answer",
    "unclosed_think",
    "empty_answer",
    "bad_arguments",
    "too_long",
]


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """A piece of the Thought, for the reader to watch."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A complete tool call. The name is as the model wrote it; the executor decides what it means."""

    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    repaired: bool = False
    """True when `raw_arguments` was no JSON and had to be mended, or the reply was in another form than asked for."""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the final answer. Final only once `AnswerEnd` has come."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The final answer was closed."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """The reply broke the protocol here; nothing of this part acts."""

    code: MalformedCode
    reason: str
    """For the model: what was wrong and what to write instead. Carries none of the reply's text."""


Piece = ThoughtText | Call | AnswerText | AnswerEnd | Malformed


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a function call as an endpoint streams it; what it does not say is None or empty."""

    index: int | None = None
    """Which of the reply's calls; some endpoints leave it out, or say 0 for all."""
    id: str | None = None
    name: str | None = None
    arguments: str = ""


class TextParser(Protocol):
    """Reads the text of one streamed reply. Incremental (any cut gives the same pieces) and total."""

    @property
    def ended(self) -> bool:
        """True when nothing that follows can change the outcome: the stream may be closed."""
        ...

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return what is certain so far."""
        ...

    def finish(self) -> list[Piece]:
        """Tell that the stream is over and return the rest. Called once."""
        ...


class ReplyParser(Protocol):
    """Reads one streamed reply, its text and its function calls. Incremental and total."""

    @property
    def ended(self) -> bool:
        """True when nothing that follows can change the outcome: the stream may be closed."""
        ...

    def feed(self, text: str) -> list[Piece]:
        """Take the next text of the stream and return what is certain so far."""
        ...

    def feed_call(self, delta: CallDelta) -> list[Piece]:
        """Take the next piece of a function call."""
        ...

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """Tell that the stream is over and return the rest. Called once. `cut`: it ran into a limit of length."""
        ...


def join_adjacent(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighbouring text pieces of one kind, so that two cuts of one stream compare equal."""
    out: list[Piece] = []
    for piece in pieces:
        match (out[-1] if out else None), piece:
            case ThoughtText(text=before), ThoughtText(text=more):
                out[-1] = ThoughtText(before + more)
            case AnswerText(text=before), AnswerText(text=more):
                out[-1] = AnswerText(before + more)
            case _:
                out.append(piece)
    return out


def first_action(pieces: Iterable[Piece]) -> list[Piece]:
    """Keep what may act of several actions that stand apart: the first answer, or all calls before an answer."""
    kept: list[Piece] = []
    for piece in pieces:
        answering = isinstance(piece, AnswerText | AnswerEnd)
        if answering and any(isinstance(p, Call | Malformed) for p in kept):
            break
        if not answering and any(isinstance(p, AnswerText) for p in kept) and not isinstance(piece, Malformed):
            break
        kept.append(piece)
        if isinstance(piece, AnswerEnd) or (isinstance(piece, Malformed) and piece.code == "empty_answer"):
            break
    return kept
