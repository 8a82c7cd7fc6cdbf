"""The turns of one run as its prompts hold them: late ones as they were, early ones as a line each.

Turns are folded in bulk, not one by one, so that the beginning of the prompt stays the same for several
steps and an endpoint that caches prefixes can use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.compression import shorten
from agent.llm import Message
from agent.windows import EARLIER_SHARE, Window
from prompts.render import render_earlier
from retrieval.labels import find_tags, format_tag, strip_tags

_KEEP_SHARE = 0.6
"""Of the room for turns, what the turns that stay take after early ones were folded."""
_LINE_TOKENS = 36
_MOST_TAGS = 6
_CALL_CHARS = 120
_FRAME = ("<observation", "</observation")


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply and what came of it."""

    messages: tuple[Message, ...]
    calls: tuple[tuple[str, str], ...] = ()
    """(the call on one line, its observation): what the turn is folded to."""


class History:
    """Turns in order."""

    def __init__(self, question: str, language: Literal["zh", "en"], window: Window | None) -> None:
        self._question, self._window = question, window
        self._language: Literal["zh", "en"] = language
        self._turns: list[Turn] = []
        self._sizes: list[int] = []
        self._first = 0
        """The first turn that stands as it was."""
        self._lines: list[str] = []

    def add(self, turn: Turn) -> None:
        """Add the newest turn."""
        self._turns.append(turn)
        self._sizes.append(self._window.size(turn.messages) if self._window is not None else 0)

    def messages(self, head: Sequence[Message]) -> tuple[Message, ...]:
        """Return head and turns as they fit into the window; the head's last message is the question's."""
        window = self._window
        if window is None:
            return (*head, *(message for turn in self._turns for message in turn.messages))
        room = window.prompt_tokens - window.size(head)
        folded = window.part(EARLIER_SHARE)
        if self._size() > room - (folded if self._first else 0):
            self._fold(int((room - folded) * _KEEP_SHARE))
        stays = [message for turn in self._turns[self._first :] for message in turn.messages]
        if not self._first:
            return (*head, *stays)
        last = head[-1]
        told = self._earlier(min(folded, room - self._size()))
        return (*head[:-1], last.model_copy(update={"content": f"{told}\n\n{last.content}"}), *stays)

    def _size(self) -> int:
        return sum(self._sizes[self._first :])

    def _fold(self, room: int) -> None:
        """Fold early turns until the others take no more than `room`; the newest stays."""
        assert self._window is not None, "only a window makes turns be folded"
        size = self._size()
        while size > room and self._first < len(self._turns) - 1:
            size -= self._sizes[self._first]
            calls = self._turns[self._first].calls
            self._lines += [_line(call, text, self._question, self._window) for call, text in calls]
            self._first += 1

    def _earlier(self, room: int) -> str:
        """Return the lines of folded turns, the newest first to get room, in their order."""
        window = self._window
        assert window is not None, "only a window makes turns be folded"
        frame = window.count(render_earlier(self._language, steps=(), left_out=1000)) + 8
        left, shown = room - frame, list[str]()
        for line in reversed(self._lines):
            left -= window.count(line) + 1
            if left < 0:
                break
            shown.append(line)
        shown.reverse()
        return render_earlier(self._language, steps=shown, left_out=len(self._lines) - len(shown))


def _line(call: str, observation: str, question: str, window: Window) -> str:
    tags = list(dict.fromkeys(format_tag(tag.label) for tag in find_tags(observation)))[:_MOST_TAGS]
    bare = "\n".join(line for line in observation.split("\n") if not line.startswith(_FRAME))
    text = " ".join(strip_tags(bare).split())
    said = shorten(text, question, lambda part: float(window.count(part)), _LINE_TOKENS)
    return f"- {call[:_CALL_CHARS]} → {said} {' '.join(tags)}".rstrip()
