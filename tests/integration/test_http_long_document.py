"""F24: an upload of many pages answers at once with its job; the reading goes on behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pymupdf

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
PAGES = 340


async def test_upload_of_many_pages_returns_at_once_with_a_job(open_app: OpenApp) -> None:
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        document.new_page(width=300, height=200).insert_text((30, 60), f"Clause {number} is about matter {number * 7}.")
    client = await open_app(local_owner=True)
    answer = await client.post("/v1/documents", files={"file": ("long.pdf", document.tobytes())})
    job = answer.json()
    assert (answer.status_code, job["state"], job["pages_done"]) == (202, "queued", 0)
    pages_seen: list[int] = []
    while job["state"] not in {"succeeded", "failed"}:
        job = (await client.get(f"/v1/jobs/{job['job_id']}")).json()
        pages_seen.append(job["pages_done"])
    assert (job["state"], job["pages_total"], job["error"]) == ("succeeded", PAGES, None)
    assert pages_seen == sorted(pages_seen)
    found = (await client.post("/v1/search", json={"query": "Which matter is clause 301 about?"})).json()
    assert any(passage["chunk"]["page_start"] <= 301 <= passage["chunk"]["page_end"] for passage in found["passages"])
