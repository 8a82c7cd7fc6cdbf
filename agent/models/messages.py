"""A request in the shapes of the OpenAI-compatible API, and without functions where an endpoint refuses them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from agent.llm import ChatRequest, Message, Offer
from agent.protocols.pieces import Call
from agent.protocols.writing import written_calls
from agent.tools.signature import arguments_line
from prompts.render import render_calls_as_text
from prompts.values import ToolCard


def message_param(message: Message) -> dict[str, Any]:
    """Return a message as the API takes it."""
    param: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        param["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.call_id is not None:
        param["tool_call_id"] = message.call_id
    return param


def tool_param(offer: Offer) -> dict[str, Any]:
    """Return an offered tool as the API takes it."""
    function = {"name": offer.name, "description": offer.description, "parameters": offer.parameters}
    return {"type": "function", "function": function}


def without_functions(request: ChatRequest) -> ChatRequest:
    """Return the same request for an endpoint that takes no functions: tools and calls are written as text."""
    language = request.facts.language
    cards = [ToolCard(offer.name, offer.description, arguments_line(offer.parameters)) for offer in request.tools]
    said = render_calls_as_text(language, tools=cards)
    messages = _flat(request.messages)
    if messages and messages[0].role == "system":
        messages[0] = Message(role="system", content=f"{messages[0].content}\n\n{said}")
    else:
        messages.insert(0, Message(role="system", content=said))
    return replace(request, messages=tuple(messages), tools=())


def _flat(messages: Sequence[Message]) -> list[Message]:
    """Write calls and their results as turns of the assistant and the user."""
    out: list[Message] = []
    for message in messages:
        if message.role == "tool" and out and out[-1].role == "user":
            out[-1] = Message(role="user", content=f"{out[-1].content}\n\n{message.content}")
        elif message.role == "tool":
            out.append(Message(role="user", content=message.content))
        elif message.calls:
            calls = [Call(call.name, _object(call.arguments), call.arguments) for call in message.calls]
            out.append(Message(role="assistant", content=written_calls("json", message.content, calls)))
        else:
            out.append(message)
    return out


def _object(text: str) -> dict[str, Any]:
    value: object = json.loads(text)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
