"""Native function calls against a real socket: what is offered, what comes back, and endpoints that refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.errors import ModelUnavailableError
from agent.fake_endpoint import EndpointReply, EndpointRequest, FakeEndpoint
from agent.llm import ChatPiece, ChatRequest, Message, Offer, RunFacts, WrittenCall
from agent.models.openai import OpenAIChatModel
from agent.protocols.pieces import CallDelta
from agent.settings import TierSettings

OFFER = Offer("calculate", "Computes.", {"type": "object", "properties": {"expression": {"type": "string"}}})
CALL = WrittenCall(id="call00001", name="calculate", arguments='{"expression": "17 * 3"}')
REQUEST = ChatRequest(
    messages=(
        Message(role="system", content="be brief"),
        Message(role="user", content="17 times 3?"),
        Message(role="assistant", content="I compute.", calls=(CALL,)),
        Message(role="tool", content="51", call_id="call00001"),
    ),
    facts=RunFacts(question="q", language="en", tier="none"),
    tools=(OFFER,),
)


def settings(endpoint: FakeEndpoint, **more: Any) -> TierSettings:
    values: dict[str, Any] = {"base_url": endpoint.base_url, "model": "small-1", "max_retries": 0, "form": "native"}
    return TierSettings(**(values | more))


async def ask(model: OpenAIChatModel, request: ChatRequest = REQUEST) -> list[ChatPiece]:
    return [piece async for piece in model.stream(request)]


async def test_tools_are_offered_and_the_history_keeps_its_calls() -> None:
    with FakeEndpoint(["51"]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        await ask(model)
        await model.close()
    body = endpoint.requests[0].body
    assert model.form == "native"
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "calculate", "description": "Computes.", "parameters": OFFER.parameters},
        }
    ]
    assert body["messages"][2]["tool_calls"] == [
        {"id": "call00001", "type": "function", "function": {"name": "calculate", "arguments": CALL.arguments}}
    ]
    assert body["messages"][3] == {"role": "tool", "content": "51", "tool_call_id": "call00001"}


async def test_a_request_without_tools_says_nothing_of_them() -> None:
    with FakeEndpoint(["51"]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        await ask(model, ChatRequest(messages=REQUEST.messages[:2], facts=REQUEST.facts))
        await model.close()
    assert "tools" not in endpoint.requests[0].body


async def test_pieces_of_calls_thinking_and_the_reason_of_the_end_come_through() -> None:
    deltas = (
        CallDelta(0, "c9", "calculate", ""),
        CallDelta(0, None, None, '{"expr'),
        CallDelta(0, None, None, '": 1}'),
    )
    reply = EndpointReply("Thought: so", calls=deltas, thinking="hm", finish_reason="tool_calls")
    with FakeEndpoint([reply]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        pieces = await ask(model)
        await model.close()
    assert [delta for piece in pieces for delta in piece.calls] == list(deltas)
    assert pieces[0].thinking == "hm"
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["tool_calls"]


def refusing(status: int) -> Any:
    def script(request: EndpointRequest) -> EndpointReply:
        return EndpointReply(status=status) if "tools" in request.body else EndpointReply("fine")

    return script


@pytest.mark.parametrize("status", [400, 404, 422, 500])
async def test_an_endpoint_that_refuses_tools_gets_them_as_text_from_then_on(status: int) -> None:
    with FakeEndpoint(refusing(status)) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        assert "".join(piece.text for piece in await ask(model)) == "fine"
        await ask(model)
        await model.close()
    asked = [request.body for request in endpoint.requests]
    assert ["tools" in body for body in asked] == [True, False, False]
    system, _, called, result = asked[1]["messages"]
    assert '- calculate: Computes. Arguments: {"expression": string (optional)}' in system["content"]
    assert (
        called["content"]
        == '{"thought": "I compute.", "action": "calculate", "action_input": {"expression": "17 * 3"}}'
    )
    assert result == {"role": "user", "content": "51"}


async def test_another_fault_than_a_refusal_of_tools_does_not_turn_them_off() -> None:
    replies = [EndpointReply(status=400), EndpointReply(status=400), EndpointReply("fine")]
    with FakeEndpoint(replies) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        with pytest.raises(ModelUnavailableError):
            await ask(model)
        await ask(model)
        await model.close()
    assert "tools" in endpoint.requests[2].body


async def test_content_in_parts_and_arguments_as_an_object_are_read() -> None:
    delta = {"content": [{"type": "text", "text": "So "}, {"type": "text", "text": "it is"}]}
    call = {"tool_calls": [{"index": 0, "function": {"name": "calculate", "arguments": {"expression": "1"}}}]}
    chunks = [{"choices": [{"delta": delta}]}, {"choices": [{"delta": call, "finish_reason": "stop"}]}]
    with FakeEndpoint([EndpointReply(body=_stream(chunks), headers={"content-type": "text/event-stream"})]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        pieces = await ask(model)
        await model.close()
    assert "".join(piece.text for piece in pieces) == "So it is"
    assert pieces[1].calls == (CallDelta(0, None, "calculate", '{"expression": "1"}'),)


def _stream(chunks: list[dict[str, Any]]) -> bytes:
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
