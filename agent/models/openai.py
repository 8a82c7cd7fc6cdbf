"""Chat model behind any OpenAI-compatible endpoint, through the official SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam, ChatCompletionToolUnionParam

from agent.errors import ModelUnavailableError, ReplyCutError
from agent.llm import ChatPiece, ChatRequest
from agent.models.chunks import pieces_of
from agent.models.messages import message_param, tool_param, without_functions
from agent.protocols.reasons import Form
from agent.settings import TierSettings
from agent.tokens import token_counter
from agent.windows import Window

_CONNECT_S = 10.0
"""An endpoint that is there takes the connection at once."""
_REFUSES_TOOLS = frozenset({400, 404, 422, 500, 501})
"""How endpoints answer to functions they cannot offer their model."""


class OpenAIChatModel:
    """Streams from `TierSettings.base_url`; connection faults, 429 and 5xx are retried by the SDK."""

    def __init__(self, settings: TierSettings, *, local: bool = False) -> None:
        """Take the endpoint; what is sent to a `local` one passes no proxy and follows no redirection."""
        self._settings = settings
        self._takes_tools = True
        reply = min(settings.max_tokens, settings.window_tokens // 4)
        self._window = Window(settings.window_tokens, reply, token_counter(settings.tokenizer))
        self._first_s = settings.first_token_timeout_s or settings.timeout_s
        self._between_s = settings.between_tokens_timeout_s or settings.timeout_s
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            # Reading a reply has limits of its own, which comment lines of the stream do not put off.
            timeout=openai.Timeout(max(self._first_s, self._between_s), connect=min(_CONNECT_S, self._first_s)),
            max_retries=settings.max_retries,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False) if local else None,
        )

    @property
    def name(self) -> str:
        """The endpoint's model name."""
        return self._settings.model

    @property
    def form(self) -> Form:
        """As set: how the model is asked to write calls."""
        return self._settings.form

    @property
    def window(self) -> Window:
        """As set: at most a quarter of it is kept for the reply."""
        return self._window

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Stream one reply.

        Raises:
            ReplyCutError: it broke off after some of it had come, or ended without a finish reason.
            ModelUnavailableError: none came.
        """
        finished = begun = False
        try:
            async with await self._open(request) as chunks:
                received = aiter(chunks)
                while (chunk := await self._next(received, self._between_s if begun else self._first_s)) is not None:
                    for piece in pieces_of(chunk):
                        begun = begun or bool(piece.text or piece.thinking or piece.calls)
                        finished = finished or piece.finish_reason is not None
                        yield piece
        except (openai.APIError, TimeoutError, ValueError) as exc:
            # What was said is whole: only the counts that follow it are lost.
            if not finished:
                # Neither exception is chained: their texts quote the reply, and some endpoints' replies the prompt.
                fault = ReplyCutError if begun else ModelUnavailableError
                limit = self._between_s if begun else self._first_s
                raise fault(_explain(self._settings, exc, limit)) from None
        if not finished:
            raise ReplyCutError(f"the model at {self._settings.base_url} ended its reply half-way")

    async def _open(self, request: ChatRequest) -> openai.AsyncStream[ChatCompletionChunk]:
        """Open the stream; an endpoint that refuses functions is asked again with them written as text."""
        if not request.tools or not self._takes_tools:
            return await self._create(without_functions(request) if request.tools else request)
        try:
            return await self._create(request)
        except openai.APIStatusError as exc:
            if exc.status_code not in _REFUSES_TOOLS:
                raise
            stream = await self._create(without_functions(request))
            # Only now is it certain that the functions were what it refused.
            self._takes_tools = False
            return stream

    async def _create(self, request: ChatRequest) -> openai.AsyncStream[ChatCompletionChunk]:
        messages = cast("list[ChatCompletionMessageParam]", [message_param(m) for m in request.messages])
        tools = cast("list[ChatCompletionToolUnionParam]", [tool_param(offer) for offer in request.tools])
        return await self._client.chat.completions.create(
            model=self._settings.model,
            messages=messages,
            tools=tools or openai.omit,
            max_tokens=min(request.max_tokens, self._window.reply_tokens),
            temperature=request.temperature,
            stop=list(request.stop) or None,
            stream=True,
            stream_options={"include_usage": True},
        )

    async def _next(self, chunks: AsyncIterator[object], limit_s: float) -> object | None:
        """Return the next chunk; None at the end. Comment lines that keep a connection alive are no chunks."""
        async with asyncio.timeout(limit_s):
            return await anext(chunks, None)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _explain(settings: TierSettings, exc: openai.APIError | TimeoutError | ValueError, limit_s: float) -> str:
    # The vendor's message may quote the prompt, so only its kind is passed on.
    where = f"the model {settings.model!r} at {settings.base_url}"
    match exc:
        case openai.APITimeoutError() | TimeoutError():
            return f"{where} gave no answer within {limit_s:g} s"
        case openai.APIConnectionError():
            return f"{where} cannot be reached; check ATTEST_LLM_BASE_URL"
        case openai.AuthenticationError():
            return f"{where} refused the key; check ATTEST_LLM_API_KEY"
        case openai.NotFoundError():
            return f"{where} is not there; check ATTEST_LLM_MODEL"
        case openai.APIStatusError():
            return f"{where} answered with status {exc.status_code}"
        case _:
            return f"{where} sent a reply that is not understood"
