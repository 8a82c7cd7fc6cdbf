"""What is remembered of searches and answers never outlives what it rests on, and tells why something was found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.main import main
from api.settings import MetricsSettings, ServerSettings
from patience import turns
from retrieval.settings import CacheSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
POLICY = b"# Travel policy\n\nThe meal allowance is 120 dollars a day.\n"
QUESTION = "How high is the meal allowance a day?"


async def ask(client: httpx.AsyncClient, question: str = QUESTION, **options: Any) -> dict[str, Any]:
    body = {"question": question, "stream": False, **options}
    answer = await client.post("/v1/chat", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def notices(client: httpx.AsyncClient, run: dict[str, Any]) -> list[str]:
    events = (await client.get(f"/v1/runs/{run['run_id']}/events")).json()
    return [event["code"] for event in events if event["kind"] == "notice"]


async def from_cache(client: httpx.AsyncClient, run: dict[str, Any]) -> bool:
    return "answer_from_cache" in await notices(client, run)


async def decisions(client: httpx.AsyncClient, **narrowed: Any) -> list[dict[str, Any]]:
    return (await client.get("/v1/decisions", params=narrowed)).json()["decisions"]


async def test_the_same_question_is_answered_again_and_audited_again(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "policy.md", POLICY)
    first, second = await ask(client), await ask(client)
    assert (await from_cache(client, first), await from_cache(client, second)) == (False, True)
    same = ("answer", "status", "audit", "passages", "tier")
    assert {name: first[name] for name in same} == {name: second[name] for name in same}
    assert (second["steps"], second["prompt_tokens"]) == (0, 0)
    events = (await client.get(f"/v1/runs/{second['run_id']}/events")).json()
    assert [e["seq"] for e in events] == list(range(len(events)))
    assert "".join(e["text"] for e in events if e["kind"] == "text_delta") == second["answer"]
    assert any(e["kind"] == "sentence_audited" for e in events)
    assert not await from_cache(client, await ask(client, filter={"labels": ["hr"]}))
    assert not await from_cache(client, await ask(client, language="zh"))


async def test_a_document_that_comes_in_between_is_in_the_next_answer(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "other.md", b"# Parking\n\nThe car park opens at seven.\n")
    before = await ask(client)
    assert "120" not in before["answer"]
    first = (await client.post("/v1/search", json={"query": QUESTION})).json()
    assert "120" not in json.dumps(first["passages"])
    await upload_and_wait(client, "policy.md", POLICY)
    after = await ask(client)
    assert "120" in after["answer"]
    assert not await from_cache(client, after)
    found = (await client.post("/v1/search", json={"query": QUESTION})).json()
    assert "120" in found["passages"][0]["chunk"]["text"]


async def test_a_deleted_document_is_in_no_cache_and_a_new_one_takes_its_place(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    job = await upload_and_wait(client, "policy.md", POLICY)
    for _ in range(2):
        assert "120" in (await ask(client))["answer"]
        assert (await client.post("/v1/search", json={"query": QUESTION})).json()["passages"]
    receipt = (await client.delete(f"/v1/documents/{job['document_id']}")).json()
    assert receipt["left"]["cached_results"] == 0
    gone = await ask(client)
    assert "120" not in gone["answer"]
    assert not await from_cache(client, gone)
    assert (await client.post("/v1/search", json={"query": QUESTION})).json()["passages"] == []
    await upload_and_wait(client, "policy.md", POLICY.replace(b"120", b"95"))
    anew = await ask(client)
    assert "95" in anew["answer"]
    assert "120" not in json.dumps(anew)


async def test_a_person_that_is_erased_is_in_no_cache_and_not_in_the_log(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "list.md", b"# List\n\nThe pilot can be called at 13812345678.\n")
    question = "Whose number is 13812345678?"
    for _ in range(2):
        await ask(client, question)
        found = (await client.post("/v1/search", json={"query": question})).json()
    assert found["cached"]
    pseudonym = found["query"].split()[-1].rstrip("?")
    assert pseudonym.startswith("[PHONE_")
    assert any(pseudonym in each["question"] for each in await decisions(client))
    body = {"values": ["13812345678"], "reason": "asked to be forgotten", "documents": "list"}
    answer = await client.post("/v1/vault/erase", json=body)
    assert answer.status_code == 200, answer.text
    after = json.dumps(await decisions(client))
    assert pseudonym not in after
    assert "13812345678" not in after
    assert not (await client.post("/v1/search", json={"query": question})).json()["cached"]


async def test_former_pseudonyms_leave_the_log_when_the_key_changes(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "list.md", b"# List\n\nThe pilot can be called at 13812345678.\n")
    found = (await client.post("/v1/search", json={"query": "Whose number is 13812345678?"})).json()
    old = found["query"].split()[-1].rstrip("?")
    assert any(old in each["question"] for each in await decisions(client))
    assert (await client.post("/v1/keys/pseudonym")).status_code == 202
    for _ in turns("the key is changed"):
        if (await client.get("/v1/keys")).json()["state"] == "settled":
            break
    again = (await client.post("/v1/search", json={"query": "Whose number is 13812345678?"})).json()
    assert not again["cached"]
    new = again["query"].split()[-1].rstrip("?")
    logged = [each["question"] for each in await decisions(client)]
    assert new != old
    assert not [question for question in logged if old in question]
    assert len([question for question in logged if new in question]) >= 2


async def test_a_run_tells_why_and_what_became_of_it(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "policy.md", POLICY)
    run = await ask(client)
    logged = (await client.get(f"/v1/runs/{run['run_id']}/decisions")).json()["decisions"]
    assert {each["kind"] for each in logged} == {"trigger", "search"}
    assert {each["outcome"] for each in logged} == {"answered"}
    trigger = next(each for each in logged if each["kind"] == "trigger")
    assert trigger["tier"] == run["tier"]
    search = next(each for each in logged if each["kind"] == "search")
    shown = [c for c in search["candidates"] if c["passage"] is not None]
    assert shown[0]["document_id"] == run["passages"][0]["chunk"]["document_id"]
    assert "allowance is" not in json.dumps(logged)
    one = (await client.get(f"/v1/decisions/{search['decision_id']}")).json()
    assert one == search
    assert await decisions(client, run_id=run["run_id"], kind="trigger") == [trigger]
    joke = await ask(client, "1 + 1 = ?")
    assert {d["outcome"] for d in await decisions(client, run_id=joke["run_id"])} == {"general"}


@pytest.fixture
async def tenants(open_app: OpenApp, tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    entries = ""
    for name, tenant, rights in (
        ("boss", "acme", "admin search chat ingest"),
        ("kim", "acme", "search chat"),
        ("spy", "rival", "admin search chat"),
    ):
        principal = f'{{tenant = "{tenant}", user = "{name}", rights = {json.dumps(rights.split())}}}'
        digest = hashlib.sha256(name.encode()).hexdigest()
        operator = "operator = true\n" if name == "boss" else ""
        entries += f'[[keys]]\nsha256 = "{digest}"\nprincipal = {principal}\n{operator}'
    path = tmp_path / "keys.toml"
    path.write_text(entries, encoding="utf-8")
    client = await open_app(server=ServerSettings(keys_file=path), metrics=MetricsSettings(enabled=True))
    return lambda name: {"client": client, "headers": {"Authorization": f"Bearer {name}"}}


async def test_the_log_is_read_by_right_within_a_tenant(tenants: Callable[[str], dict[str, Any]]) -> None:
    client: httpx.AsyncClient = tenants("boss")["client"]
    boss, kim, spy = (tenants(name)["headers"] for name in ("boss", "kim", "spy"))
    body = {"question": QUESTION, "stream": False}
    run = (await client.post("/v1/chat", json=body, headers=kim)).json()
    assert (await client.get("/v1/decisions", headers=kim)).status_code == 403
    listed = (await client.get("/v1/decisions", headers=boss)).json()["decisions"]
    assert {each["user"] for each in listed} == {"kim"}
    one = f"/v1/decisions/{listed[0]['decision_id']}"
    assert (await client.get(one, headers=boss)).status_code == 200
    assert (await client.get(one, headers=kim)).status_code == 403
    missing = await client.get(f"/v1/decisions/{'0' * 32}", headers=spy)
    theirs = await client.get(one, headers=spy)
    assert (missing.status_code, theirs.status_code, theirs.json()["code"]) == (404, 404, "unknown_decision")
    assert (await client.get("/v1/decisions", headers=spy)).json()["decisions"] == []
    of_run = f"/v1/runs/{run['run_id']}/decisions"
    assert len((await client.get(of_run, headers=kim)).json()["decisions"]) >= 1
    assert (await client.get(of_run, headers=spy)).status_code == 404
    assert (await client.get("/v1/decisions?rnu_id=x", headers=boss)).status_code == 422


async def test_metrics_are_for_the_operator_and_name_nobody(tenants: Callable[[str], dict[str, Any]]) -> None:
    client: httpx.AsyncClient = tenants("boss")["client"]
    for _ in range(2):
        await client.post("/v1/search", json={"query": QUESTION}, headers=tenants("kim")["headers"])
    assert (await client.get("/metrics")).status_code == 401
    assert (await client.get("/metrics", headers=tenants("spy")["headers"])).status_code == 403
    answer = await client.get("/metrics", headers=tenants("boss")["headers"])
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert 'attest_searches_total{outcome="searched"} 1.0' in lines
    assert 'attest_searches_total{outcome="cached"} 1.0' in lines
    assert 'attest_cache_lookups_total{cache="search",outcome="hit"} 1.0' in lines
    assert 'attest_search_stage_seconds_count{stage="encode"} 1.0' in lines
    assert "attest_decision_log_lost_total 0.0" in lines
    for told in ("acme", "kim", "allowance"):
        assert told not in answer.text


async def test_metrics_are_off_unless_switched_on(open_app: OpenApp) -> None:
    client = await open_app(local_owner=True)
    assert (await client.get("/metrics")).status_code == 404


async def test_caches_can_be_switched_off(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True, cache=CacheSettings(search=False, answers=False))
    await upload_and_wait(client, "policy.md", POLICY)
    for _ in range(2):
        assert not await from_cache(client, await ask(client))
        assert not (await client.post("/v1/search", json={"query": QUESTION})).json()["cached"]


def test_the_command_line_lists_and_shows_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATTEST_MODELS_ENCODER", "lexical")

    def attest(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["attest", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        return capsys.readouterr().out

    attest("search", "where is the car park")
    (listed,) = json.loads(attest("decisions", "list", "--json"))
    assert "where is the car park" in attest("decisions", "list")
    shown = attest("decisions", "show", listed["decision_id"])
    assert "knowledge version: 0" in shown
