"""Chat model behind any OpenAI-compatible endpoint, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator

import openai
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionMessageParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionUserMessageParam,
)
from pydantic import BaseModel, ConfigDict

from agent.errors import ModelUnavailableError
from agent.llm import ChatPiece, ChatRequest, Message
from agent.settings import LlmSettings


class OpenAIChatModel:
    """Streams from `LlmSettings.base_url`; connection faults, 429 and 5xx are retried by the SDK."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            timeout=settings.timeout_s,
            max_retries=settings.max_retries,
        )

    @property
    def name(self) -> str:
        """The endpoint's model name."""
        return self._settings.model

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Stream one reply; a stream that ends without a finish reason was cut and raises."""
        finished = False
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
                async for received in chunks:
                    chunk = _Chunk.model_validate(received)
                    if chunk.usage is not None:
                        yield ChatPiece(
                            prompt_tokens=chunk.usage.prompt_tokens,
                            completion_tokens=chunk.usage.completion_tokens,
                        )
                    for choice in chunk.choices or ():
                        if choice.delta is not None and choice.delta.content:
                            yield ChatPiece(text=choice.delta.content)
                        finished = finished or bool(choice.finish_reason)
        except (openai.APIError, ValueError) as exc:
            # Neither exception is chained: their texts quote the reply, and some endpoints' replies the prompt.
            raise ModelUnavailableError(_explain(self._settings, exc)) from None
        if not finished:
            raise ModelUnavailableError(f"the model at {self._settings.base_url} ended its reply half-way")

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


def _explain(settings: LlmSettings, exc: openai.APIError | ValueError) -> str:
    # The vendor's message may quote the prompt, so only its kind is passed on.
    where = f"the model {settings.model!r} at {settings.base_url}"
    match exc:
        case openai.APITimeoutError():
            return f"{where} gave no answer within {settings.timeout_s:g} s"
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
