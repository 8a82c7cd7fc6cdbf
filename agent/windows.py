"""How much a model reads in one call, and what part of it belongs to which part of the prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from agent.llm import Message
from agent.tokens import EstimatedTokens, TokenCounter

_OF_MESSAGE = 8
"""What chat templates put round a message: role and separators."""
_COUNTED, _ESTIMATED = 0.97, 0.88
"""Shares of the window that are used: templates differ a little from what is counted here, estimates more."""
EVIDENCE_SHARE, OBSERVATION_SHARE, EARLIER_SHARE = 0.45, 0.22, 0.12
"""Most that passages at hand, one observation, and the digest of earlier steps take of a prompt."""


@dataclass(frozen=True, slots=True)
class Window:
    """The window of one model."""

    tokens: int
    """What it reads and writes in one call."""
    reply_tokens: int
    """What is kept free for the reply."""
    counter: TokenCounter = field(default_factory=EstimatedTokens)

    @property
    def prompt_tokens(self) -> int:
        """Most tokens of a prompt."""
        margin = _ESTIMATED if isinstance(self.counter, EstimatedTokens) else _COUNTED
        return max(256, int((self.tokens - self.reply_tokens) * margin))

    def part(self, share: float) -> int:
        """Return the tokens of a part of the prompt."""
        return int(self.prompt_tokens * share)

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        return self.counter.count(text)

    def size(self, messages: Iterable[Message]) -> int:
        """Return the tokens of messages as they are sent."""
        return sum(self.of_message(message) for message in messages)

    def of_message(self, message: Message) -> int:
        """Return the tokens of one message as it is sent."""
        calls = sum(self.count(call.name) + self.count(call.arguments) + _OF_MESSAGE for call in message.calls)
        return self.count(message.content) + calls + _OF_MESSAGE


@runtime_checkable
class Windowed(Protocol):
    """A model that reads so much and no more."""

    @property
    def window(self) -> Window | None:
        """Its window; None: no bound is known."""
        ...


def window_of(model: object) -> Window | None:
    """Return the window of a model; None for models that read no prompt, or of which nothing is known."""
    return model.window if isinstance(model, Windowed) else None


def smallest_window(models: Iterable[object]) -> Window | None:
    """Return the window that fits all of these models; None where none has one."""
    known = [window for model in models if (window := window_of(model)) is not None]
    return min(known, key=lambda window: window.prompt_tokens, default=None)


def page_chars(window: Window | None, observation_chars: int) -> int:
    """Return how many characters of a text certainly fit into one observation, whatever its language."""
    if window is None:
        return observation_chars - 200
    return max(200, min(observation_chars - 200, int(window.part(OBSERVATION_SHARE) * 0.9) - 60))
