"""Read one streamed reply of a model through a protocol parser, within a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import TypeVar

from agent.errors import BudgetExceededError
from agent.links import InertText
from agent.llm import ChatModel, ChatPiece, ChatRequest
from agent.protocols.pieces import AnswerText, Piece, ReplyParser, ThoughtText
from agent.tokens import estimate_tokens

T = TypeVar("T")

_SURPLUS_PIECES = 64
_SURPLUS_S = 2.0


class RunTimeoutError(BudgetExceededError):
    """The time of the run is spent."""

    code = "run_timeout"


async def within(deadline: float, awaitable: Awaitable[T]) -> T:
    """Await something until `deadline` (time of the event loop).

    Raises:
        RunTimeoutError: the deadline has passed; what was awaited is cancelled.
    """
    limit = asyncio.timeout_at(deadline)
    try:
        async with limit:
            return await awaitable
    except TimeoutError as exc:
        if limit.expired():
            raise RunTimeoutError("the run took longer than it may") from exc
        raise


class ReplyReader:
    """One model call. After `pieces` is exhausted the token counts stand."""

    def __init__(self, model: ChatModel, request: ChatRequest, deadline: float) -> None:
        self._model = model
        self._request = request
        self._deadline = deadline
        self._text: list[str] = []
        self._cut = False
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._answer, self._thought = InertText(), InertText()

    @property
    def text(self) -> str:
        """The raw reply so far."""
        return "".join(self._text)

    @property
    def prompt_tokens(self) -> int:
        """As counted by the model, else estimated."""
        if self._prompt_tokens is not None:
            return self._prompt_tokens
        return sum(estimate_tokens(message.content) for message in self._request.messages)

    @property
    def completion_tokens(self) -> int:
        """As counted by the model, else estimated."""
        return self._completion_tokens if self._completion_tokens is not None else estimate_tokens(self.text)

    async def pieces(self, parser: ReplyParser) -> AsyncGenerator[Piece, None]:
        """Yield what the parser makes of the reply, without live links in what readers are shown.

        A reply whose outcome is certain is read on only for the token counts on its last
        piece, and not for long: weak models go on inventing observations.

        Raises:
            ModelUnavailableError: from the model.
            RunTimeoutError: the deadline has passed.
        """
        async with aclosing(self._parsed(parser)) as pieces:
            async for piece in pieces:
                match piece:
                    case AnswerText(text=text):
                        yield AnswerText(self._answer.feed(text))
                    case ThoughtText(text=text):
                        yield ThoughtText(self._thought.feed(text))
                    case _:
                        yield piece

    async def _parsed(self, parser: ReplyParser) -> AsyncGenerator[Piece, None]:
        stream = self._model.stream(self._request)
        try:
            while not parser.ended:
                piece = await within(self._deadline, anext(stream, None))
                if piece is None:
                    break
                self._note(piece)
                self._text.append(piece.text)
                if piece.thinking:
                    yield ThoughtText(piece.thinking)
                for parsed in parser.feed(piece.text):
                    yield parsed
                for delta in piece.calls:
                    self._text += [delta.name or "", delta.arguments]
                    for parsed in parser.feed_call(delta):
                        yield parsed
            else:
                await self._read_counts(stream)
            for parsed in parser.finish(cut=self._cut):
                yield parsed
        finally:
            aclose = getattr(stream, "aclose", None)
            if aclose is not None:
                await aclose()

    async def _read_counts(self, stream: AsyncIterator[ChatPiece]) -> None:
        try:
            async with asyncio.timeout(_SURPLUS_S):
                for _ in range(_SURPLUS_PIECES):
                    piece = await anext(stream, None)
                    if piece is None:
                        return
                    self._note(piece)
        except TimeoutError:
            return

    def _note(self, piece: ChatPiece) -> None:
        self._cut = self._cut or piece.finish_reason == "length"
        if piece.prompt_tokens is not None:
            self._prompt_tokens = piece.prompt_tokens
        if piece.completion_tokens is not None:
            self._completion_tokens = piece.completion_tokens
