"""Pictures of pages over HTTP: the chunk is marked, secrets are black, and only the right shows them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray
from PIL import Image

from api.settings import ServerSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
PHONE = "13812345678"
SENTENCE = (72, 72)
NUMBER = (72, 120)


def made_pdf(rotation: int = 0) -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.insert_text(SENTENCE, "The meal allowance is 120 dollars a day.", fontsize=12)
    page.insert_text(NUMBER, f"Call {PHONE} for help.", fontsize=12)
    page.set_rotation(rotation)
    second = document.new_page(width=400, height=300)
    second.insert_text(SENTENCE, "The second page speaks of travel by train.", fontsize=12)
    return document.tobytes()


def place(x: float, y: float, rotation: int) -> tuple[float, float]:
    """Where a point of the unrotated page is on the page as people see it."""
    page = pymupdf.open("pdf", made_pdf(rotation))[0]
    point = pymupdf.Point(x, y) * page.rotation_matrix
    return point.x, point.y


async def picture(client: httpx.AsyncClient, path: str, **query: Any) -> NDArray[np.uint8]:
    answer = await client.get(path, params={"dpi": 72, **query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "no-store"
    return np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB"))


def darkness(image: NDArray[np.uint8], at: tuple[float, float], rotation: int) -> float:
    """Share of black in a strip of digits: a letter's body covers a fourth, a bar all of it."""
    (x0, y0), (x1, y1) = place(*at, rotation), place(at[0] + 30, at[1] - 7, rotation)
    left, right = sorted((int(x0), int(x1)))
    top, bottom = sorted((int(y0), int(y1)))
    return float((image[top:bottom, left:right].mean(axis=2) < 60).mean())


@pytest.fixture
async def client(open_app: OpenApp) -> httpx.AsyncClient:
    return await open_app(local_owner=True)


@pytest.mark.parametrize("rotation", [0, 90])
async def test_page_hides_secrets_and_nothing_else(
    client: httpx.AsyncClient, upload_and_wait: Upload, rotation: int
) -> None:
    job = await upload_and_wait(client, "policy.pdf", made_pdf(rotation))
    path = f"/v1/documents/{job['document_id']}/pages/1.png"
    image = await picture(client, path)
    digits = (NUMBER[0] + 32, NUMBER[1])
    assert darkness(image, digits, rotation) == 1.0
    assert darkness(image, SENTENCE, rotation) < 0.6
    shown = await picture(client, path, reveal="checking the contract")
    assert darkness(shown, digits, rotation) < 0.6


async def test_page_marks_the_chunk_on_its_page_alone(client: httpx.AsyncClient, upload_and_wait: Upload) -> None:
    job = await upload_and_wait(client, "policy.pdf", made_pdf())
    found = await client.post("/v1/search", json={"query": "How high is the meal allowance?"})
    passage = found.json()["passages"][0]["chunk"]
    path = f"/v1/documents/{job['document_id']}/pages"
    plain = await picture(client, f"{path}/1.png")
    marked = await picture(client, f"{path}/1.png", chunk=passage["chunk_id"])
    changed = np.argwhere((plain != marked).any(axis=2))
    assert changed.size
    (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
    boxes = [box for box in passage["boxes"] if box["page_number"] == 1]
    around = (*(min(b[k] for b in boxes) for k in ("x0", "y0")), *(max(b[k] for b in boxes) for k in ("x1", "y1")))
    assert (left, top, right + 1, bottom + 1) == pytest.approx(around, abs=1.5)


async def test_page_of_a_scan_hides_the_lines_with_secrets(client: httpx.AsyncClient, upload_and_wait: Upload) -> None:
    scan = pymupdf.open()
    source = pymupdf.open("pdf", made_pdf())[0].get_pixmap(dpi=200)
    scan.new_page(width=400, height=300).insert_image((0, 0, 400, 300), pixmap=source)
    job = await upload_and_wait(client, "scan.pdf", scan.tobytes())
    assert job["state"] == "succeeded", job
    image = await picture(client, f"/v1/documents/{job['document_id']}/pages/1.png")
    assert darkness(image, (NUMBER[0] + 32, NUMBER[1]), 0) == 1.0
    assert darkness(image, SENTENCE, 0) < 0.6


async def test_page_that_is_not_there_is_a_problem(client: httpx.AsyncClient, upload_and_wait: Upload) -> None:
    job = await upload_and_wait(client, "policy.pdf", made_pdf())
    text = await upload_and_wait(client, "notes.md", b"# Notes\n\nThe meal allowance is 120 dollars a day.\n")
    document = f"/v1/documents/{job['document_id']}/pages"
    for path, says in (
        (f"{document}/3.png", "it has 2"),
        (f"/v1/documents/{text['document_id']}/pages/1.png", "no pages"),
        (f"{document}/1.png?chunk=nonsense", "no chunk"),
    ):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_page")
        assert says in answer.json()["detail"]
    assert (await client.get(f"/v1/documents/{'0' * 32}/pages/1.png")).json()["code"] == "unknown_document"
    for path in (f"{document}/0.png", f"{document}/1.png?dpi=5000", f"{document}/1.png?reveal="):
        assert (await client.get(path)).status_code == 422


async def test_page_with_its_secrets_needs_the_right(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n'
        f'principal = {{ tenant = "{tenant}", user = "{name}", rights = ["search", "ingest"] }}\n'
        for name, tenant in (("wu", "acme"), ("eve", "rival"))
    ]
    keys = tmp_path / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    client = await open_app(server=ServerSettings(keys_file=keys))
    client.headers["Authorization"] = "Bearer wu"
    job = await upload_and_wait(client, "policy.pdf", made_pdf())
    path = f"/v1/documents/{job['document_id']}/pages/1.png"
    refused = await client.get(path, params={"reveal": "curious"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    assert darkness(await picture(client, path), (NUMBER[0] + 32, NUMBER[1]), 0) == 1.0
    stranger = await client.get(path, headers={"Authorization": "Bearer eve"})
    assert (stranger.status_code, stranger.json()["code"]) == (404, "unknown_document")


async def test_page_hides_what_an_owner_called_secret_also_once_it_is_erased(
    client: httpx.AsyncClient, upload_and_wait: Upload
) -> None:
    job = await upload_and_wait(client, "policy.pdf", made_pdf())
    path = f"/v1/documents/{job['document_id']}/pages/1.png"
    plain = await picture(client, path)
    taken = await client.post("/v1/symbols/corrections", json={"text": "meal allowance", "verdict": "secret"})
    assert taken.status_code == 201, taken.text
    corrected = await picture(client, path)
    assert not np.array_equal(plain, corrected)
    body = {"values": ["meal allowance"], "reason": "asked", "documents": "list"}
    receipt = await client.post("/v1/vault/erase", json=body)
    assert receipt.json()["left"]["corrections"] == 0, receipt.text
    assert np.array_equal(await picture(client, path), corrected)
