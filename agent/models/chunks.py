"""A chunk of a streamed reply, read leniently: endpoints leave fields out, add some, and differ in types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from pydantic import BaseModel, ConfigDict

from agent.llm import ChatPiece
from agent.protocols.pieces import CallDelta


class _Lenient(BaseModel):
    """What is read of a reply. The SDK builds its own values without checking them."""

    model_config = ConfigDict(from_attributes=True)


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Function(_Lenient):
    name: str | None = None
    arguments: object = None


class _ToolCall(_Lenient):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(_Lenient):
    content: object = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None


class _Choice(_Lenient):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(_Lenient):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


def pieces_of(chunk: object) -> Iterator[ChatPiece]:
    """Yield what a chunk brings.

    Raises:
        ValueError: it is no chunk of a chat reply.
    """
    read = _Chunk.model_validate(chunk)
    if read.usage is not None:
        yield ChatPiece(prompt_tokens=read.usage.prompt_tokens, completion_tokens=read.usage.completion_tokens)
    for choice in read.choices or ():
        if choice.delta is not None:
            yield from _of_delta(choice.delta)
        if choice.finish_reason:
            yield ChatPiece(finish_reason=choice.finish_reason)


def _of_delta(delta: _Delta) -> Iterator[ChatPiece]:
    thinking = delta.reasoning_content or delta.reasoning
    if thinking:
        yield ChatPiece(thinking=thinking)
    text = _text(delta.content)
    if text:
        yield ChatPiece(text=text)
    calls = [_call(each.index, each.id, each.function) for each in delta.tool_calls or ()]
    if delta.function_call is not None:
        calls.append(_call(0, None, delta.function_call))
    if calls:
        yield ChatPiece(calls=tuple(calls))


def _call(index: int | None, id: str | None, function: _Function | None) -> CallDelta:
    """Make a piece of a call; arguments that come as an object instead of its text are written down."""
    if function is None:
        return CallDelta(index, id or None)
    given = function.arguments
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
    return CallDelta(index, id or None, function.name or None, text)


def _text(content: object) -> str:
    """Return the text of a delta: a string, or the texts of a list of parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [cast("dict[str, object]", part) for part in cast("list[object]", content) if isinstance(part, dict)]
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))
