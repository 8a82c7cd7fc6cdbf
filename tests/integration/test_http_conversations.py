"""Conversations over HTTP: follow-ups, the owner's alone, and nothing left after a deletion."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.settings import LlmSettings
from api.settings import ServerSettings

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
Upload = Callable[..., Awaitable[dict[str, Any]]]
LINES = (
    "# Figures",
    "Revenue of Acme Bank in Q3 2024 was 238 million.",
    "Revenue of Acme Bank in Q4 2024 was 251 million.",
)
TEXT = "\n\n".join(LINES)
PHONE = "13812345678"


async def ask(client: httpx.AsyncClient, question: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/v1/chat", json={"question": question, "stream": False, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_follow_up_is_answered_as_the_question_it_means(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app()
    await upload_and_wait(client, "figures.md", TEXT.encode())
    talk = (await client.post("/v1/conversations")).json()["conversation_id"]
    await ask(client, f"What was revenue of Acme Bank in Q3 2024? My mobile is {PHONE}", conversation_id=talk)
    second = await ask(client, "and in Q4?", conversation_id=talk)
    events = (await client.get(f"/v1/runs/{second['run_id']}/events")).json()
    assert events[0]["asked"] == "and in Q4?"
    assert events[0]["question"].startswith("What was revenue of Acme Bank in Q4 2024?")
    assert events[0]["conversation_id"] == talk
    assert "251 million" in second["answer"]
    turns = (await client.get(f"/v1/conversations/{talk}")).json()
    assert [turn["asked"] == turn["question"] for turn in turns] == [True, False]
    assert "251 million" in turns[1]["answer"]
    listed = (await client.get("/v1/conversations")).json()
    assert [(each["conversation_id"], each["turns"]) for each in listed] == [(talk, 2)]
    kept = b"".join(file.read_bytes() for file in (tmp_path / "home").glob("attest.sqlite3*"))
    assert PHONE.encode() not in kept

    assert (await client.delete(f"/v1/conversations/{talk}")).json()["runs"] == 2
    assert (await client.get(f"/v1/conversations/{talk}")).status_code == 404
    assert (await client.get(f"/v1/runs/{second['run_id']}")).status_code == 404
    assert (await client.get("/v1/runs")).json() == []
    unknown = await client.post("/v1/chat", json={"question": "and?", "conversation_id": talk})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_conversation")


async def test_the_model_reads_what_was_said_before_without_its_labels(open_app: OpenApp) -> None:
    replies = [
        EndpointReply("<final_answer>Why did the bond blush? It saw the yield [SOURCE: doc_1].</final_answer>"),
        EndpointReply("<final_answer>Pourquoi?</final_answer>"),
    ]
    with FakeEndpoint(replies) as endpoint:
        client = await open_app(llm=LlmSettings(base_url=endpoint.base_url, model="m-1", max_retries=0))
        talk = (await client.post("/v1/conversations")).json()["conversation_id"]
        await ask(client, "Tell me a joke", conversation_id=talk)
        await ask(client, "Tell me another one", conversation_id=talk)
        prompts = [request.body["messages"][-1]["content"] for request in endpoint.requests]
    assert "<conversation>" not in prompts[0]
    said = prompts[1].split("</conversation>")[0]
    assert "User: Tell me a joke" in said
    assert "It saw the yield" in said
    assert "SOURCE" not in said


async def test_conversations_are_their_users_alone(open_app: OpenApp, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        "".join(
            f'[[keys]]\nsha256 = "{hashlib.sha256(user.encode() * 40).hexdigest()}"\n'
            f'principal = {{ tenant = "acme", user = "{user}", rights = ["chat"] }}\n'
            for user in "ab"
        ),
        encoding="utf-8",
    )
    keys.chmod(0o600)
    client = await open_app(server=ServerSettings(keys_file=keys))
    mine, other = ({"Authorization": f"Bearer {user * 40}"} for user in "ab")
    talk = (await client.post("/v1/conversations", headers=mine)).json()["conversation_id"]
    for method, path, body in (
        ("GET", f"/v1/conversations/{talk}", None),
        ("DELETE", f"/v1/conversations/{talk}", None),
        ("POST", "/v1/chat", {"question": "and?", "conversation_id": talk}),
    ):
        answer = await client.request(method, path, json=body, headers=other)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_conversation")
    assert (await client.get("/v1/conversations", headers=other)).json() == []
    assert len((await client.get("/v1/conversations", headers=mine)).json()) == 1
