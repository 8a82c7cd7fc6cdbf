"""The main line over HTTP: upload, poll, ask; the three forms of an answer are one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import aconnect_sse

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

POLICY = """# 差旅报销制度

## 住宿标准

出差到北京的住宿费每晚最高报销 650 元，其他城市每晚最高 450 元。

## 联系人

如有疑问请致电 13800138000 或写信到 li.lei@example.com。
"""


async def _stream(client: httpx.AsyncClient, question: str, **body: Any) -> list[dict[str, Any]]:
    async with aconnect_sse(client, "POST", "/v1/chat", json={"question": question, **body}) as source:
        assert source.response.status_code == 200
        return [json.loads(event.data) async for event in source.aiter_sse() if event.data]


async def test_streamed_plain_and_stored_answers_are_identical(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "policy.md", POLICY.encode())
    assert (job["state"], job["outcome"]) == ("succeeded", "new")

    events = await _stream(client, "出差到北京住宿费每晚最多报销多少？")
    last = events[-1]
    assert last["kind"] == "run_completed"
    assert [e["seq"] for e in events] == list(range(len(events)))
    assert sum(e["kind"].startswith("run_") and e["kind"] != "run_started" for e in events) == 1
    assert "".join(e["text"] for e in events if e["kind"] == "text_delta") == last["answer"]
    assert "650" in last["answer"]
    assert "[SOURCE: doc_" in last["answer"]
    assert last["audit"]["risk"] == "low"

    stored = (await client.get(f"/v1/runs/{last['run_id']}")).json()
    assert stored["completed"] == last
    journal = (await client.get(f"/v1/runs/{last['run_id']}/events")).json()
    assert journal == events

    plain = (
        await client.post("/v1/chat", json={"question": "出差到北京住宿费每晚最多报销多少？", "stream": False})
    ).json()
    assert plain["answer"] == last["answer"]
    assert plain["audit"] == last["audit"]
    assert (await client.get(f"/v1/runs/{plain['run_id']}")).json()["completed"] == plain


async def test_secrets_of_a_document_and_of_a_question_leave_only_pseudonyms(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app()
    await upload_and_wait(client, "policy.md", POLICY.encode())
    events = await _stream(client, "有疑问时打 138-0013-8000 还是写信给谁？")
    text = json.dumps(events, ensure_ascii=False)
    assert "[PHONE_" in text
    assert "13800138000" not in text.replace("-", "")
    assert "li.lei" not in text
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"13800138000" not in content, path
            assert b"li.lei@example.com" not in content, path


async def test_no_page_is_cited_where_the_format_has_none(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    await upload_and_wait(client, "policy.md", POLICY.encode())
    found = (await client.post("/v1/search", json={"query": "北京住宿费"})).json()
    assert found["passages"]
    for passage in found["passages"]:
        assert passage["chunk"]["page_start"] is None
        assert "_p" not in passage["label"]


async def test_new_document_changes_the_answer_at_once(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    await upload_and_wait(client, "policy.md", POLICY.encode())
    before = (await _stream(client, "夜间打车费每次最多报销多少？"))[-1]
    assert "88" not in before["answer"]
    await upload_and_wait(client, "taxi.md", "# 夜间打车\n\n夜间打车费每次最多报销 88 元。\n".encode())
    after = (await _stream(client, "夜间打车费每次最多报销多少？"))[-1]
    assert "88 元" in after["answer"]


async def test_same_bytes_are_nothing_to_do_and_changed_bytes_replace(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app()
    first = await upload_and_wait(client, "policy.md", POLICY.encode())
    again = await upload_and_wait(client, "policy.md", POLICY.encode())
    assert again["outcome"] == "unchanged"
    assert again["document_id"] == first["document_id"]
    changed = await upload_and_wait(client, "policy.md", POLICY.replace("650", "700").encode())
    assert changed["outcome"] == "new_version"
    answer = (await _stream(client, "出差到北京住宿费每晚最多报销多少？"))[-1]["answer"]
    assert "700" in answer
    assert "650" not in answer


async def test_same_bytes_under_two_names_are_two_documents(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    one = await upload_and_wait(client, "a.md", POLICY.encode())
    two = await upload_and_wait(client, "b.md", POLICY.encode())
    assert (one["state"], two["state"]) == ("succeeded", "succeeded")
    assert one["document_id"] != two["document_id"]
    listed = (await client.get("/v1/documents")).json()["documents"]
    assert {d["source"]: d["state"] for d in listed} == {"a.md": "ready", "b.md": "ready"}


async def test_delete_leaves_nothing_and_upload_works_again(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "policy.md", POLICY.encode())
    receipt = (await client.delete(f"/v1/documents/{job['document_id']}")).json()
    assert receipt["deleted_chunks"] > 0
    assert set(receipt["left"].values()) == {0}
    assert (await client.get(f"/v1/documents/{job['document_id']}")).status_code == 404
    assert (await client.post("/v1/search", json={"query": "北京住宿费"})).json()["passages"] == []
    again = await upload_and_wait(client, "policy.md", POLICY.encode())
    assert again["outcome"] == "new"


async def test_failed_document_is_named_and_the_others_go_on(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    broken = await upload_and_wait(client, "broken.pdf", b"%PDF-1.7\n% nothing else\n")
    good = await upload_and_wait(client, "policy.md", POLICY.encode())
    assert broken["state"] == "failed"
    assert broken["error_code"] in {"corrupt_document", "no_text"}
    assert broken["error"]
    assert good["state"] == "succeeded"
    mended = await upload_and_wait(client, "broken.pdf", POLICY.encode())
    assert mended["state"] == "succeeded"


@pytest.mark.parametrize("question", ["讲个笑话吧", "What is the capital of France?", "tell me a joke"])
async def test_questions_beside_the_documents_are_not_retrieved_for(
    open_app: OpenApp, upload_and_wait: Upload, question: str
) -> None:
    client = await open_app()
    await upload_and_wait(client, "policy.md", POLICY.encode())
    events = await _stream(client, question)
    kinds = {e["kind"] for e in events}
    assert "passages_retrieved" not in kinds
    assert events[-1]["tier"] == "none"
    assert events[-1]["status"] == "general"


async def test_arithmetic_is_computed_without_retrieval(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    await upload_and_wait(client, "policy.md", POLICY.encode())
    events = await _stream(client, "1+1")
    assert "passages_retrieved" not in {e["kind"] for e in events}
    assert events[-1]["tier"] == "none"
    assert events[-1]["answer"] == "1+1 = 2 [SOURCE: tool_calculate#1]"
    assert [s["kind"] for s in events[-1]["audit"]["sentences"]] == ["supported"]
