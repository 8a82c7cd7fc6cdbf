"""The chat model Protocol: what the loop needs of any model, local, remote or rule-based."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agent.protocols.pieces import CallDelta
from retrieval.types import Passage, Tier, Value

Role = Literal["system", "user", "assistant", "tool"]


class WrittenCall(Value):
    """A function call that the model made earlier in the conversation."""

    id: str
    name: str
    arguments: str
    """JSON text of an object."""


class Message(Value):
    """One message of a prompt."""

    role: Role
    content: str
    calls: tuple[WrittenCall, ...] = ()
    """Of an assistant's message, where calls are native."""
    call_id: str | None = None
    """Of a tool's message: the call it answers."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it is offered to an endpoint that calls functions natively."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of the arguments object."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The run as values, for models that are rules: the extractive model reads this, not the prompt."""

    question: str
    language: Literal["zh", "en"]
    tier: Tier
    passages: tuple[Passage, ...] = ()
    """All passages of the run so far, in the order they were retrieved."""
    searched: tuple[str, ...] = ()
    """The questions searched so far."""
    candidate_documents: tuple[str, ...] = ()
    observations: tuple[tuple[str, str], ...] = ()
    """(tool, observation) of the steps so far."""
    tools: tuple[str, ...] = ()
    """The run's whitelist."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call."""

    messages: tuple[Message, ...]
    facts: RunFacts
    purpose: Literal["step", "finish"] = "step"
    """`step`: speak the protocol. `finish`: write the answer for the reader as plain text with tags."""
    max_tokens: int = 1024
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    tools: tuple[Offer, ...] = ()
    """What may be called natively; empty where calls are written as text."""
    labels: frozenset[str] | None = None
    """Of the documents that text in the messages comes from (`agent.egress`); None: not known."""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """A piece of a streamed reply; usage stands on the last piece only."""

    text: str = ""
    thinking: str = ""
    """Private thinking that the endpoint keeps apart from the text; shown like a Thought, never acts."""
    calls: tuple[CallDelta, ...] = ()
    """Pieces of native function calls."""
    finish_reason: str | None = None
    """Why the reply ended, as the endpoint says it; `length`: it ran into its limit."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    meta: dict[str, str] = field(default_factory=dict[str, str])


class ChatModel(Protocol):
    """Streams replies. Stateless between calls; several calls may run at once."""

    @property
    def name(self) -> str:
        """Model name for events and surfaces, e.g. `extractive` or `qwen2.5-7b-instruct`."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Stream the reply to one request.

        Closing the iterator cancels the call.

        Raises:
            ModelUnavailableError: no connection, time-out, 429 or 5xx after the retries.
        """
        ...
