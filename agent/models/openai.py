"""Chat model behind any OpenAI-compatible endpoint, through the official SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import openai
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionMessageParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionUserMessageParam,
)
from pydantic import BaseModel, ConfigDict

from agent.errors import ModelUnavailableError, ReplyCutError
from agent.llm import ChatPiece, ChatRequest, Message
from agent.settings import TierSettings

_CONNECT_S = 10.0
"""An endpoint that is there takes the connection at once."""


class OpenAIChatModel:
    """Streams from `TierSettings.base_url`; connection faults, 429 and 5xx are retried by the SDK."""

    def __init__(self, settings: TierSettings) -> None:
        self._settings = settings
        self._first_s = settings.first_token_timeout_s or settings.timeout_s
        self._between_s = settings.between_tokens_timeout_s or settings.timeout_s
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            # Reading a reply has limits of its own, which comment lines of the stream do not put off.
            timeout=openai.Timeout(max(self._first_s, self._between_s), connect=min(_CONNECT_S, self._first_s)),
            max_retries=settings.max_retries,
        )

    @property
    def name(self) -> str:
        """The endpoint's model name."""
        return self._settings.model

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Stream one reply.

        Raises:
            ReplyCutError: it broke off after some of it had come, or ended without a finish reason.
            ModelUnavailableError: none came.
        """
        finished = begun = False
        try:
            async with await self._client.chat.completions.create(
                model=self._settings.model,
                messages=[_message(m) for m in request.messages],
                max_tokens=min(request.max_tokens, self._settings.max_tokens),
                temperature=request.temperature,
                stop=list(request.stop) or None,
                stream=True,
                stream_options={"include_usage": True},
            ) as chunks:
                received = aiter(chunks)
                while (piece := await self._next(received, self._between_s if begun else self._first_s)) is not None:
                    chunk = _Chunk.model_validate(piece)
                    if chunk.usage is not None:
                        yield ChatPiece(
                            prompt_tokens=chunk.usage.prompt_tokens,
                            completion_tokens=chunk.usage.completion_tokens,
                        )
                    for choice in chunk.choices or ():
                        if choice.delta is not None and choice.delta.content:
                            begun = True
                            yield ChatPiece(text=choice.delta.content)
                        finished = finished or bool(choice.finish_reason)
        except (openai.APIError, TimeoutError, ValueError) as exc:
            # What was said is whole: only the counts that follow it are lost.
            if not finished:
                # Neither exception is chained: their texts quote the reply, and some endpoints' replies the prompt.
                fault = ReplyCutError if begun else ModelUnavailableError
                limit = self._between_s if begun else self._first_s
                raise fault(_explain(self._settings, exc, limit)) from None
        if not finished:
            raise ReplyCutError(f"the model at {self._settings.base_url} ended its reply half-way")

    async def _next(self, chunks: AsyncIterator[object], limit_s: float) -> object | None:
        """Return the next chunk; None at the end. Comment lines that keep a connection alive are no chunks."""
        async with asyncio.timeout(limit_s):
            return await anext(chunks, None)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


class _Lenient(BaseModel):
    """What is read of a reply. The SDK builds its own values without checking them."""

    model_config = ConfigDict(from_attributes=True)


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Delta(_Lenient):
    content: str | None = None


class _Choice(_Lenient):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(_Lenient):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


def _message(message: Message) -> ChatCompletionMessageParam:
    match message.role:
        case "system":
            return ChatCompletionSystemMessageParam(role="system", content=message.content)
        case "user":
            return ChatCompletionUserMessageParam(role="user", content=message.content)
        case "assistant":
            return ChatCompletionAssistantMessageParam(role="assistant", content=message.content)


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
