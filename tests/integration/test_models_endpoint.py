"""Whole runs over HTTP with a chat endpoint on loopback: it answers, it is down, it breaks the form, it breaks off."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from agent.fake_endpoint import EndpointReply, EndpointRequest, FakeEndpoint
from agent.settings import LlmSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

POLICY = "# 差旅报销制度\n\n## 住宿标准\n\n出差到北京的住宿费每晚最高报销 650 元，其他城市每晚最高 450 元。\n"
FIRST = 4
"""Messages of a first request: the system's, an example turn, the question."""
QUESTION = "出差到北京住宿费每晚最多报销多少？"


def llm(base_url: str, **more: Any) -> LlmSettings:
    return LlmSettings(**({"base_url": base_url, "model": "small-1", "max_retries": 0} | more))


async def ask(client: httpx.AsyncClient, question: str = QUESTION) -> list[dict[str, Any]]:
    async with client.stream("POST", "/v1/chat", json={"question": question}) as answer:
        assert answer.status_code == 200
        return [json.loads(line[5:]) async for line in answer.aiter_lines() if line.startswith("data:")]


async def run(open_app: OpenApp, upload: Upload, settings: LlmSettings, question: str = QUESTION) -> list[Any]:
    client = await open_app(llm=settings)
    assert (await upload(client, "policy.md", POLICY.encode()))["state"] == "succeeded"
    return await ask(client, question)


def of(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["kind"] == kind]


def first_tag(request: EndpointRequest) -> str:
    """Return the tag of the first passage in the last message: what a model that reads its prompt would cite."""
    found = re.search(r"\[SOURCE: doc_[0-9a-f]{4,}_s\d+\]", request.body["messages"][-1]["content"])
    assert found is not None, request.body["messages"][-1]["content"]
    return found.group()


def well_behaved(request: EndpointRequest) -> str:
    tag = first_tag(request)
    return f"Thought: 段落已说明。\n<final_answer>出差到北京的住宿费每晚最高报销 650 元 {tag}。</final_answer>"


async def test_answer_of_an_endpoint_is_tagged_and_audited(open_app: OpenApp, upload_and_wait: Upload) -> None:
    with FakeEndpoint(well_behaved) as endpoint:
        events = await run(open_app, upload_and_wait, llm(endpoint.base_url, api_key="sk-1"))
        asked = endpoint.requests
    last = events[-1]
    assert (last["kind"], last["status"], last["model"]) == ("run_completed", "answered", "small-1")
    assert [s["kind"] for s in last["audit"]["sentences"]] == ["supported"]
    assert (last["prompt_tokens"], last["completion_tokens"]) == (11, 7)
    assert last["answer"] == "".join(e["text"] for e in of(events, "text_delta"))
    assert len(asked) == 1
    assert asked[0].authorization == "Bearer sk-1"
    assert [m["role"] for m in asked[0].body["messages"]] == ["system", "user", "assistant", "user"]


async def test_wrong_figure_of_an_endpoint_is_found_out(open_app: OpenApp, upload_and_wait: Upload) -> None:
    with FakeEndpoint(lambda request: well_behaved(request).replace("650", "750")) as endpoint:
        last = (await run(open_app, upload_and_wait, llm(endpoint.base_url)))[-1]
    assert [s["kind"] for s in last["audit"]["sentences"]] == ["contradicted"]
    assert last["audit"]["risk"] == "high"


async def test_endpoint_that_is_down_is_replaced_and_the_answer_says_by_what(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    with FakeEndpoint([EndpointReply(status=503)]) as endpoint:
        events = await run(open_app, upload_and_wait, llm(endpoint.base_url))
    assert events[0]["model"] == "small-1"
    notice = of(events, "notice")
    assert [n["code"] for n in notice] == ["model_fallback"]
    assert "small-1" in notice[0]["message"]
    assert "extractive" in notice[0]["message"]
    last = events[-1]
    assert (last["status"], last["model"]) == ("answered", "extractive")
    assert "650" in last["answer"]


@pytest.mark.parametrize("reply", [EndpointReply(status=401), EndpointReply("Thought: 650", ending="dropped")])
async def test_endpoint_fails_the_run_where_no_fallback_is_wanted(
    open_app: OpenApp, upload_and_wait: Upload, reply: EndpointReply
) -> None:
    with FakeEndpoint([reply]) as endpoint:
        events = await run(open_app, upload_and_wait, llm(endpoint.base_url, fallback="fail", api_key="sk-1"))
        assert str(endpoint.base_url) not in json.dumps(events)
    last = events[-1]
    assert (last["kind"], last["code"]) == ("run_failed", "model_unavailable")
    assert of(events, "text_delta") == []
    assert "sk-1" not in json.dumps(events)


async def test_call_of_an_endpoint_is_run_and_its_result_sent_back(open_app: OpenApp, upload_and_wait: Upload) -> None:
    def search_then_answer(request: EndpointRequest) -> str:
        if len(request.body["messages"]) == FIRST:
            return (
                'Thought: 再查。\n<tool_name>search_knowledge</tool_name><arguments>{"query": "北京住宿费"}</arguments>'
            )
        return well_behaved(request)

    with FakeEndpoint(search_then_answer) as endpoint:
        events = await run(open_app, upload_and_wait, llm(endpoint.base_url))
        second = endpoint.requests[1].body["messages"]
    assert [m["role"] for m in second[FIRST:]] == ["assistant", "user"]
    assert '<observation tool="search_knowledge">' in second[-1]["content"]
    assert [e["tool"] for e in of(events, "tool_returned")] == ["search_knowledge"]
    assert events[-1]["status"] == "answered"


async def test_model_that_cannot_keep_the_form_ends_in_a_quotation(open_app: OpenApp, upload_and_wait: Upload) -> None:
    babbles = [
        *("650 元。", "<final_answer>650", "<tool_name>search_knowledge</tool_name>", ""),
        *("</final_answer></arguments>{]", '```json\n{"action": "search"}\n```'),
    ]
    says = ""
    with FakeEndpoint(lambda _: says) as endpoint:
        client = await open_app(llm=llm(endpoint.base_url))
        await upload_and_wait(client, "policy.md", POLICY.encode())
        for says in babbles:
            events = await ask(client)
            last = events[-1]
            assert (last["kind"], last["status"], last["model"]) == ("run_completed", "answered", "extractive"), says
            assert [e["guard"] for e in of(events, "guard_fired")] == ["format_retries"]
            assert "没有遵守格式" in of(events, "notice")[0]["message"]
            assert re.search(r"</?(?:tool_name|arguments|final_answer)", last["answer"]) is None


async def test_model_that_cannot_keep_the_form_may_still_tell_a_joke(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    with FakeEndpoint(["为什么债券脸红？因为它看见了收益率。"]) as endpoint:
        last = (await run(open_app, upload_and_wait, llm(endpoint.base_url), "给我讲个笑话吧"))[-1]
    assert (last["status"], last["model"]) == ("general", "small-1")
    assert last["answer"] == "为什么债券脸红？因为它看见了收益率。"


async def test_endpoint_that_falls_silent_does_not_hold_the_run(open_app: OpenApp, upload_and_wait: Upload) -> None:
    with FakeEndpoint([EndpointReply("Thought: 让我想", ending="hang")]) as endpoint:
        events = await run(open_app, upload_and_wait, llm(endpoint.base_url, timeout_s=0.3))
    assert (events[-1]["status"], events[-1]["model"]) == ("answered", "extractive")
