"""What search tells over HTTP beside the passages: fitting documents, several wordings, contradictions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

OFFICIAL = b"# Leave\n\nAnnual leave is 15 days for everyone.\n"
DRAFT = b"# Leave, new draft\n\nAnnual leave is 10 days for everyone.\n"
TRAVEL = b"# Travel policy\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"


async def test_search_over_http_tells_contradictions_and_documents(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    for name, content in (("leave.md", OFFICIAL), ("draft.md", DRAFT), ("travel.md", TRAVEL)):
        await upload_and_wait(client, name, content)
    answer = (await client.post("/v1/search", json={"query": "annual leave days", "top_k": 1})).json()
    first, second = answer["passages"]
    assert first["conflicts_with"] == [second["label"]]
    assert second["conflicts_with"] == [first["label"]]
    assert [each["reason"] for each in answer["added"]] == ["conflict"]
    body = {"query": "annual leave days", "queries": ["meal allowance"], "top_k": 3}
    documents = (await client.post("/v1/search/documents", json=body)).json()["documents"]
    assert len({each["document_id"] for each in documents}) == 3
    assert [each["score"] for each in documents] == sorted((each["score"] for each in documents), reverse=True)
    hidden = {"query": "annual leave", "filter": {"document_ids": ["no-such-document"]}}
    assert (await client.post("/v1/search/documents", json=hidden)).json()["documents"] == []
