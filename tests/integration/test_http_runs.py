"""Runs over HTTP: they wait for people, are followed from any place on, replayed and exported; owners only."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.settings import LlmSettings
from api.settings import ServerSettings

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
ASK = 'Thought: which\n<tool_name>ask_user</tool_name><arguments>{"question": "Which year?"}</arguments>'
SUM = 'Thought: sum\n<tool_name>calculate</tool_name><arguments>{"expression": "40+2"}</arguments>'
END = "Thought: done\n<final_answer>It is 42 [SOURCE: tool_calculate#1].</final_answer>"
QUESTION = {"question": "Tell me a joke about numbers", "stream": False, "attended": True, "language": "en"}


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def check(events: list[dict[str, Any]]) -> None:
    assert [e["seq"] for e in events] == list(range(len(events)))
    ends = [e["kind"] for e in events if e["kind"] in ("run_completed", "run_failed", "run_cancelled")]
    assert len(ends) == 1
    assert events[-1]["kind"] == ends[0]


async def standing(client: httpx.AsyncClient, path: str, body: Any = None, **more: Any) -> Any:
    answer = await client.post(path, json=body, **more)
    assert answer.status_code == 202, answer.text
    return answer.json()


async def test_run_that_asks_goes_on_with_the_answer_and_is_followed_from_any_event_on(open_app: OpenApp) -> None:
    with FakeEndpoint([ASK, SUM, END]) as endpoint:
        client = await open_app(llm=LlmSettings(base_url=endpoint.base_url, model="m"))
        asked = await client.post("/v1/chat", json=QUESTION)
        assert asked.status_code == 202
        assert asked.json()["waiting"] == "answer"
        run = asked.headers["location"]
        await standing(client, f"{run}/answer", {"text": "2024, says tom@example.com"})
        stream = {"Accept": "text/event-stream"}
        told = (await client.get(f"{run}/events", headers=stream)).text
        events = events_of(told)
        check(events)
        assert events[-1]["answer"] == "It is 42 [SOURCE: tool_calculate#1]."
        answered = next(e for e in events if e["kind"] == "question_answered")
        assert "tom@example.com" not in answered["text"]
        later = await client.get(f"{run}/events", headers=stream | {"Last-Event-ID": str(answered["seq"])})
        assert events_of(later.text) == events[answered["seq"] + 1 :]

        replayed = (await client.post(f"{run}/replay")).json()
        assert replayed["differences"] == []
        assert replayed["events"] == len(events)
        exported = (await client.get(f"{run}/export")).json()
        assert [entry["kind"] for entry in exported["tape"]] == ["offer", "reply", "reply", "tool", "reply"]
        assert "tom@example.com" not in json.dumps(exported)
        for wish in ("pause", "resume", "approve", "deny", "cancel"):
            assert (await client.post(f"{run}/{wish}")).status_code == 409


async def test_run_is_paused_edited_resumed_and_cancelled(open_app: OpenApp) -> None:
    with FakeEndpoint([ASK, SUM, END]) as endpoint:
        client = await open_app(llm=LlmSettings(base_url=endpoint.base_url, model="m"))
        run = (await client.post("/v1/chat", json=QUESTION)).headers["location"]
        assert (await client.post(f"{run}/edit", json={"question": "x"})).status_code == 409
        assert (await client.post(f"{run}/edit", json={})).status_code == 422
        await standing(client, f"{run}/pause")
        await standing(client, f"{run}/answer", {"text": "2024"})
        for _ in range(500):
            if (await client.get(f"{run}/events")).json()[-1]["kind"] == "run_paused":
                break
            await asyncio.sleep(0.01)
        await standing(client, f"{run}/edit", {"question": "What is 40+2?"})
        await standing(client, f"{run}/cancel")
        events = (await client.get(f"{run}/events")).json()
        check(events)
        assert [e["kind"] for e in events][-3:] == ["run_paused", "run_edited", "run_cancelled"]


def keys(path: Path) -> dict[str, dict[str, str]]:
    people = {"ann": ["chat"], "bob": ["chat"], "boss": ["chat", "admin"]}
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n'
        f'principal = {{ tenant = "acme", user = "{name}", rights = {json.dumps(rights)} }}\n'
        for name, rights in people.items()
    ]
    path.write_text("\n".join(entries))
    return {name: {"Authorization": f"Bearer {name}"} for name in people}


async def test_run_is_controlled_by_its_owner_and_the_tenants_administrator_alone(
    open_app: OpenApp, tmp_path: Path
) -> None:
    who = keys(tmp_path / "keys.toml")
    with FakeEndpoint([ASK, END]) as endpoint:
        client = await open_app(
            llm=LlmSettings(base_url=endpoint.base_url, model="m"),
            server=ServerSettings(keys_file=tmp_path / "keys.toml"),
        )
        run = (await client.post("/v1/chat", json=QUESTION, headers=who["ann"])).headers["location"]
        answer = {"text": "2024"}
        assert (await client.post(f"{run}/answer", json=answer, headers=who["bob"])).status_code == 404
        assert (await client.get(f"{run}/events", headers=who["bob"])).status_code == 404
        await standing(client, f"{run}/answer", answer, headers=who["boss"])
        told = await client.get(f"{run}/events", headers=who["ann"] | {"Accept": "text/event-stream"})
        check(events_of(told.text))


# ---- kill -9


def settings(endpoint: FakeEndpoint) -> dict[str, object]:
    return {"ATTEST_LLM_BASE_URL": endpoint.base_url, "ATTEST_LLM_MODEL": "m", "ATTEST_LLM_TIMEOUT_S": 30}


def wait_for(http: httpx.Client, kind: str) -> str:
    """Return the id of the only run as soon as its journal ends with this kind of event, or one after it."""
    while True:
        runs = http.get("/v1/runs").json()
        if runs:
            events = http.get(f"/v1/runs/{runs[0]['run_id']}/events").json()
            if kind in {event["kind"] for event in events[-2:]}:
                return str(runs[0]["run_id"])


def begin(http: httpx.Client) -> None:
    with http.stream("POST", "/v1/chat", json=QUESTION | {"stream": True}) as stream:
        next(stream.iter_lines())  # a reader who leaves does not end the run


def ended(http: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    told = http.get(f"/v1/runs/{run_id}/events", headers={"Accept": "text/event-stream"})
    events = events_of(told.text)
    check(events)
    return events


def test_killed_server_goes_on_with_its_runs(attest: Any) -> None:
    """One run is killed twice: while the model writes, and while it is paused."""
    hang = EndpointReply("Thought: let me see what is asked here", ending="hang")
    replies: list[EndpointReply | str] = [hang]
    with FakeEndpoint(lambda _: replies.pop(0)) as endpoint:
        server = attest.serve(**settings(endpoint))
        with server.client() as http:
            begin(http)
            run_id = wait_for(http, "step_started")
        server.stop(signal.SIGKILL)

        replies.append(ASK)
        server = attest.serve(**settings(endpoint))
        with server.client() as http:
            assert wait_for(http, "question_asked") == run_id
            assert http.post(f"/v1/runs/{run_id}/pause").status_code == 202
            while http.post(f"/v1/runs/{run_id}/answer", json={"text": "2024"}).status_code != 202:
                pass
            wait_for(http, "run_paused")
        server.stop(signal.SIGKILL)

        server = attest.serve(**settings(endpoint))
        with server.client() as http:
            replies += [SUM, END]
            while http.post(f"/v1/runs/{run_id}/resume").status_code != 202:
                pass
            events = ended(http, run_id)
            address = server.url.replace("http", "ws", 1) + f"/v1/runs/{run_id}/ws?after=2"
            with connect(address, proxy=None) as socket:
                assert [json.loads(text) for text in socket] == events[3:]
            with pytest.raises(InvalidStatus), connect(address.replace(run_id, "nobody"), proxy=None):
                pass
            assert events[-1]["kind"] == "run_completed", events[-1]
            assert events[-1]["answer"].startswith("It is 42")
            assert sum(e["kind"] == "notice" and e["code"] == "resumed" for e in events) == 2
            assert http.post(f"/v1/runs/{run_id}/replay").json()["differences"] == []
        assert server.stop() == (0, "")
