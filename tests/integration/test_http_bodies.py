"""Bodies that cannot be read, or are too large, are told apart by the same form of problem as any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def client(open_app: OpenApp) -> httpx.AsyncClient:
    return await open_app(local_owner=True)


async def test_unreadable_bodies_are_one_kind_of_problem(client: httpx.AsyncClient) -> None:
    for body, said in (
        (b'{"text": "\xff\xfe"}', "no UTF-8"),
        (b'{"text": ' + b"[" * 60_000 + b"]" * 60_000 + b"}", "nested too deeply"),
        (b"{", "JSON"),
    ):
        answer = await client.post("/v1/symbols/check", content=body, headers=JSON)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (422, "invalid_request")
        assert said in problem["detail"]
        assert problem["errors"][0]["field"].startswith("body")


@pytest.mark.parametrize("day", ["05.11.2024", "2024-13-01", "yesterday", [2024]])
async def test_day_of_a_wrong_form_tells_the_right_one(client: httpx.AsyncClient, day: object) -> None:
    answer = await client.post("/v1/symbols/check", json={"text": "last year", "base_date": day})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "body.base_date: give a day as YYYY-MM-DD"
    file = {"file": ("a.txt", b"text")}
    upload = await client.post("/v1/documents", files=file, data={"effective_from": str(day)})
    assert "YYYY-MM-DD" in upload.json()["detail"]


async def test_too_large_a_text_is_told_where_to_go(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/symbols/check", json={"text": "x" * 300_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert "command line" in answer.json()["detail"]
