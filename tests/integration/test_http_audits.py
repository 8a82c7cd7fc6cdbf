"""Audits over HTTP: lists, reports, pages, exports, recall, audits made again, alerts."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from agent.fake_endpoint import FakeEndpoint
from agent.settings import AlertSettings, AuditSettings, LlmSettings
from api.settings import ServerSettings
from api.webhook import Letter, key_of, sign
from patience import turns

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
Upload = Callable[..., Awaitable[dict[str, Any]]]
SECRET = "a secret of sixteen or more"
POLICY = b"# Travel\n\nThe allowance for Berlin is 300 dollars a day. <script>alert(1)</script>\n"
QUESTION = {"question": "What is the allowance for Berlin according to our travel policy?", "stream": False}


@contextmanager
def receiver() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A webhook's receiver on loopback, and what it got."""
    got: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_audits_are_listed_shown_and_exported_with_hashes(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "travel policy.md", POLICY)
    done = (await client.post("/v1/chat", json=QUESTION)).json()
    assert done["status"] == "answered", done["answer"]
    (row,) = (await client.get("/v1/audits")).json()["audits"]
    assert (row["run_id"], row["risk"], row["stale_at"]) == (done["run_id"], done["audit"]["risk"], None)
    report = (await client.get(f"/v1/audits/{row['run_id']}")).json()
    assert report["answer"] == done["answer"]
    assert [each["kind"] for each in report["sentences"]] == [each["kind"] for each in done["audit"]["sentences"]]
    cited = {each["label"]: each["chunk"]["text"] for each in done["passages"]}
    for source in report["sources"]:
        assert source["standing"] == "unchanged"
        assert source["text_sha256"] == hashlib.sha256(cited[source["label"]].encode()).hexdigest()
    exported = (await client.get("/v1/audits/export", params={"days": 2})).json()
    assert exported["reports"] == [report]
    page = await client.get(f"/v1/audits/{row['run_id']}/page")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "300 dollars" in page.text
    for live in ("<script", "<a ", "href=", "src=", "<img"):
        assert live not in page.text
    (day,) = (await client.get("/v1/audits/risk")).json()["days"]
    assert day["answers"] == 1
    assert (await client.get("/v1/audits/nothing")).status_code == 404


async def test_a_replaced_document_recalls_its_answers_and_they_are_audited_again(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "travel policy.md", POLICY)
    done = (await client.post("/v1/chat", json=QUESTION)).json()
    assert (await client.get("/v1/audits/stale")).json()["audits"] == []
    assert (await client.post("/v1/audits/reaudits", json={})).json() == {"job_id": None, "answers": 0}
    await upload_and_wait(client, "travel policy.md", POLICY.replace(b"300 dollars", b"450 dollars"))
    (row,) = (await client.get("/v1/audits/stale")).json()["audits"]
    assert row["run_id"] == done["run_id"]
    assert {each["stale"] for each in row["sources"]} == {"replaced"}
    stored = (await client.get(f"/v1/runs/{done['run_id']}")).json()
    assert [each["stale"] for each in stored["stale"]] == ["replaced"]
    taken = await client.post("/v1/audits/reaudits", json={})
    assert taken.status_code == 202
    for _ in turns("the answer is audited again"):
        job = (await client.get(f"/v1/audits/reaudits/{taken.json()['job_id']}")).json()
        if job["state"] == "done":
            break
        await asyncio.sleep(0.01)
    (answer,) = job["answers"]
    assert answer["error_code"] is None
    assert {(each["before"], each["after"] != "supported") for each in answer["changes"]} == {("supported", True)}


async def test_a_deleted_document_leaves_verdicts_and_hashes_and_no_text(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    job = await upload_and_wait(client, "travel policy.md", POLICY)
    done = (await client.post("/v1/chat", json=QUESTION)).json()
    before = (await client.get(f"/v1/audits/{done['run_id']}")).json()
    assert (await client.delete(f"/v1/documents/{job['document_id']}")).status_code == 200
    (row,) = (await client.get("/v1/audits/stale")).json()["audits"]
    assert row["sources"][0]["stale"] == "deleted"
    after = (await client.get(f"/v1/audits/{done['run_id']}")).json()
    assert [each["text_sha256"] for each in after["sources"]] == [each["text_sha256"] for each in before["sources"]]
    assert "300 dollars" not in json.dumps(after["sources"])
    assert after["sources"][0]["text_sha256"] in after["sources"][0]["text"]


async def test_others_see_no_audit_and_an_administrator_no_text(open_app: OpenApp, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    people = {"ann": ["chat", "search", "ingest"], "bob": ["chat"], "boss": ["admin"]}
    keys.write_text(
        "".join(
            f'[[keys]]\nsha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n'
            f'principal = {{ tenant = "acme", user = "{name}", rights = {json.dumps(rights)} }}\n'
            for name, rights in people.items()
        )
    )
    client = await open_app(server=ServerSettings(keys_file=keys))
    ann, bob, boss = ({"authorization": f"Bearer {name}"} for name in people)
    done = (await client.post("/v1/chat", json={"question": "Tell me a joke", "stream": False}, headers=ann)).json()
    path = f"/v1/audits/{done['run_id']}"
    assert (await client.get(path, headers=bob)).status_code == 404
    assert (await client.get("/v1/audits", headers=bob)).json()["audits"] == []
    assert (await client.get("/v1/audits", params={"of": "tenant"}, headers=bob)).status_code == 403
    assert (await client.get("/v1/audits/export", params={"of": "tenant"}, headers=bob)).status_code == 403
    assert (await client.get(path, headers=ann)).json()["answer"] == done["answer"]
    for text in (
        (await client.get(path, headers=boss)).text,
        (await client.get("/v1/audits/export", params={"of": "tenant"}, headers=boss)).text,
        (await client.get(f"{path}/page", headers=boss)).text,
    ):
        assert done["run_id"] in text
        assert "joke" not in text
        assert done["answer"][:20] not in text
    asked = await client.post("/v1/audits/reaudits", json={"run_ids": [done["run_id"]]}, headers=bob)
    assert asked.status_code == 404


async def test_a_withheld_answer_raises_a_signed_alert(open_app: OpenApp, upload_and_wait: Upload) -> None:
    lie = "<final_answer>The allowance is 900 dollars [SOURCE: doc_9999_p1].</final_answer>"
    with FakeEndpoint([lie]) as endpoint, receiver() as (url, got):
        client = await open_app(
            local_owner=True,
            llm=LlmSettings(base_url=endpoint.base_url, model="m-1", max_retries=0),
            audit=AuditSettings(policy="withhold"),
            alerts=AlertSettings(webhook_url=url, webhook_secret=SECRET),
        )
        await upload_and_wait(client, "travel policy.md", POLICY)
        done = (await client.post("/v1/chat", json=QUESTION)).json()
        assert (done["status"], done["audit"]["action"]) == ("withheld", "withheld")
        assert "900" not in done["answer"]
        for _ in turns("the alert arrives"):
            if got:
                break
            await asyncio.sleep(0.01)
    headers, body = got[0]
    letter = Letter(headers["webhook-id"], body)
    assert headers["webhook-signature"] == sign(key_of(SECRET), letter, int(headers["webhook-timestamp"]))
    alert = json.loads(body)
    assert (alert["kind"], alert["run_ids"], alert["risk"]) == ("risky_answer", [done["run_id"]], "high")
    assert b"allowance" not in body
    assert b"dollars" not in body
