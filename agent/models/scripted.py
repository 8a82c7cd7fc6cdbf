"""A chat model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from agent.errors import AgentError
from agent.llm import ChatPiece, ChatRequest
from agent.protocols.reasons import Form
from agent.windows import Window

Reply = str | Sequence[str] | AgentError
"""A whole reply, the pieces it is streamed in (an error among them breaks it off), or the error it raises."""
ScriptItem = Reply | Sequence[str | ChatPiece | AgentError]
"""Among the pieces may stand whole `ChatPiece` values: native calls, thinking, a finish reason."""


class ScriptedChatModel:
    """Gives scripted replies in order, or those of a callable; remembers every request.

    Running out of replies is a fault of the test and raises `AssertionError`.
    """

    def __init__(
        self,
        replies: Sequence[ScriptItem] | Callable[[ChatRequest], ScriptItem],
        *,
        name: str = "scripted",
        count_tokens: bool = True,
        form: Form = "xml",
        window: Window | None = None,
    ) -> None:
        self._replies = replies
        self._name = name
        self._count_tokens = count_tokens
        self._form: Form = form
        self.window = window
        """As given."""
        self.requests: list[ChatRequest] = []
        self.closed = 0
        """Streams that were closed before their end."""

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    @property
    def form(self) -> Form:
        """As given."""
        return self._form

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Stream the next reply in its pieces; a plain string comes in pieces of seven characters."""
        reply = self._next(request)
        if isinstance(reply, AgentError):
            raise reply
        pieces = [reply[i : i + 7] for i in range(0, len(reply), 7)] if isinstance(reply, str) else reply
        ended = False
        try:
            for piece in pieces:
                if isinstance(piece, AgentError):
                    raise piece
                yield piece if isinstance(piece, ChatPiece) else ChatPiece(piece)
            if self._count_tokens:
                size = sum(len(m.content) for m in request.messages)
                yield ChatPiece(prompt_tokens=size // 4, completion_tokens=len(pieces))
            ended = True
        finally:
            self.closed += not ended

    def _next(self, request: ChatRequest) -> ScriptItem:
        self.requests.append(request)
        if callable(self._replies):
            return self._replies(request)
        index = len(self.requests) - 1
        assert index < len(self._replies), f"the script has {len(self._replies)} replies; one more was asked for"
        return self._replies[index]
