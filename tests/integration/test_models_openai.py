"""The client of chat endpoints against a real socket: what it sends, what it streams, what it makes of every fault."""

from __future__ import annotations

import socket
import traceback
from typing import Any

import pytest

from agent.errors import ModelUnavailableError
from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.llm import ChatPiece, ChatRequest, Message, RunFacts
from agent.models.openai import OpenAIChatModel
from agent.settings import LlmSettings

KEY = "sk-very-secret-key"
PROMPT = "the prompt that nobody else may read"
REQUEST = ChatRequest(
    messages=(
        Message(role="system", content="be brief"),
        Message(role="user", content=PROMPT),
        Message(role="assistant", content="Thought: hm"),
        Message(role="user", content="go on"),
    ),
    facts=RunFacts(question="q", language="en", tier="strong"),
    max_tokens=300,
    stop=("<observation",),
)


def settings(endpoint: FakeEndpoint, **more: Any) -> LlmSettings:
    values: dict[str, Any] = {"base_url": endpoint.base_url, "model": "small-1", "api_key": KEY, "max_retries": 0}
    return LlmSettings(**(values | more))


async def ask(values: LlmSettings, request: ChatRequest = REQUEST) -> list[ChatPiece]:
    model = OpenAIChatModel(values)
    try:
        return [piece async for piece in model.stream(request)]
    finally:
        await model.close()


async def fault(values: LlmSettings) -> str:
    """Ask in vain; return the message after checking that nothing private stands in it or in its trace."""
    with pytest.raises(ModelUnavailableError) as caught:
        await ask(values)
    shown = "".join(traceback.format_exception(caught.value))
    assert PROMPT not in shown
    assert KEY not in shown
    return str(caught.value)


async def test_reply_streams_in_pieces_and_ends_with_the_usage() -> None:
    with FakeEndpoint([EndpointReply(["Thought: ", "你好", " [SOURCE"], usage=(120, 9))]) as endpoint:
        pieces = await ask(settings(endpoint))
    assert [p.text for p in pieces if p.text] == ["Thought: ", "你好", " [SOURCE"]
    assert (pieces[-1].prompt_tokens, pieces[-1].completion_tokens) == (120, 9)
    assert all(p.prompt_tokens is None for p in pieces[:-1])


async def test_request_carries_the_messages_the_key_and_the_limits() -> None:
    with FakeEndpoint(["ok"]) as endpoint:
        await ask(settings(endpoint, max_tokens=200))
        asked = endpoint.requests[0]
    assert (asked.path, asked.authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert [(m["role"], m["content"]) for m in asked.body["messages"]] == [
        (m.role, m.content) for m in REQUEST.messages
    ]
    assert asked.body["model"] == "small-1"
    assert asked.body["max_tokens"] == 200
    assert asked.body["stop"] == ["<observation"]
    assert asked.body["temperature"] == 0.0
    assert asked.body["stream_options"] == {"include_usage": True}


async def test_endpoint_that_counts_no_tokens_is_no_fault() -> None:
    with FakeEndpoint([EndpointReply("hello", usage=None)]) as endpoint:
        pieces = await ask(settings(endpoint))
    assert "".join(p.text for p in pieces) == "hello"
    assert all(p.completion_tokens is None for p in pieces)


@pytest.mark.parametrize("ending", ["no_finish", "dropped"])
async def test_stream_that_is_cut_raises_after_the_pieces_it_brought(ending: Any) -> None:
    got: list[str] = []
    with FakeEndpoint([EndpointReply("Revenue was 23", ending=ending)]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))

        async def read() -> None:
            async for piece in model.stream(REQUEST):
                got.append(piece.text)

        with pytest.raises(ModelUnavailableError):
            await read()
        await model.close()
    assert "".join(got) == "Revenue was 23"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (EndpointReply(status=401), "ATTEST_LLM_API_KEY"),
        (EndpointReply(status=403), "status 403"),
        (EndpointReply(status=404), "ATTEST_LLM_MODEL"),
        (EndpointReply(status=400, body=PROMPT.encode()), "status 400"),
        (EndpointReply(status=429), "status 429"),
        (EndpointReply(status=500, body=f'{{"error": {{"message": "{PROMPT} {KEY}"}}}}'.encode()), "status 500"),
        (EndpointReply(status=503), "status 503"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, EndpointReply) else "",
)
async def test_refusal_says_what_to_check_and_nothing_of_the_prompt(reply: EndpointReply, says: str) -> None:
    with FakeEndpoint([reply]) as endpoint:
        assert says in await fault(settings(endpoint))
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [429, 500])
async def test_passing_fault_is_tried_again(status: int) -> None:
    refused = EndpointReply(status=status, headers={"retry-after-ms": "1"})
    with FakeEndpoint([refused, refused, "at last"]) as endpoint:
        pieces = await ask(settings(endpoint, max_retries=2))
        assert len(endpoint.requests) == 3
    assert "".join(p.text for p in pieces) == "at last"


async def test_retries_are_as_many_as_set() -> None:
    with FakeEndpoint([EndpointReply(status=429, headers={"retry-after-ms": "1"})]) as endpoint:
        assert "status 429" in await fault(settings(endpoint, max_retries=1))
        assert len(endpoint.requests) == 2


async def test_refused_key_is_not_tried_again() -> None:
    with FakeEndpoint([EndpointReply(status=401)]) as endpoint:
        await fault(settings(endpoint, max_retries=3))
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("text", ["", "Thought: I"])
async def test_endpoint_that_falls_silent_is_given_up_in_time(text: str) -> None:
    with FakeEndpoint([EndpointReply(text, ending="hang")]) as endpoint:
        assert "within 0.2 s" in await fault(settings(endpoint, timeout_s=0.2))


@pytest.mark.parametrize(
    "body",
    [
        b"data: not JSON\n\n",
        b'data: "a string"\n\n',
        b"data: [1, 2]\n\n",
        b'data: {"choices": 3}\n\n',
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "x"}}], "usage": "many"}\n\n',
        b'data: {"error": {"message": "the prompt that nobody else may read"}}\n\n',
        b"<html><body>Welcome to nginx</body></html>",
        b"",
        bytes(range(128, 256)),
    ],
)
async def test_body_that_is_no_reply_is_a_clear_failure(body: bytes) -> None:
    reply = EndpointReply(body=body, headers={"content-type": "text/event-stream"})
    with FakeEndpoint([reply]) as endpoint:
        assert endpoint.base_url in await fault(settings(endpoint))


async def test_chunks_of_other_makes_are_read() -> None:
    body = (
        b": a comment\n\n"
        b'data: {"choices": [{"delta": {"role": "assistant"}, "finish_reason": ""}]}\n\n'
        b'data: {"choices": null, "usage": null}\n\n'
        b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": ""}], "extra": {"x": 1}}\n\n'
        b'data: {"choices": [{"delta": null, "finish_reason": "length"}], "usage": {"total_tokens": 3}}\n\n'
    )
    reply = EndpointReply(body=body, headers={"content-type": "text/event-stream"})
    with FakeEndpoint([reply]) as endpoint:
        pieces = await ask(settings(endpoint))
    assert "".join(p.text for p in pieces) == "Hi"


async def test_no_listener_is_said_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        message = await fault(LlmSettings(base_url=url, model="m", api_key=KEY, max_retries=0))
    assert "cannot be reached" in message
    assert url in message


async def test_closing_the_stream_half_way_leaves_the_client_usable() -> None:
    with FakeEndpoint([EndpointReply(["a"] * 50, ending="hang"), "next"]) as endpoint:
        model = OpenAIChatModel(settings(endpoint))
        stream = model.stream(REQUEST)
        assert (await anext(stream)).text == "a"
        await stream.aclose()
        assert "".join([p.text async for p in model.stream(REQUEST)]) == "next"
        await model.close()
