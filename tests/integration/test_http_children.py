"""Messages and archives over HTTP: attachments and members are documents of their own, passwords stay secret."""

from __future__ import annotations

import base64
import io
import logging
import re
import zipfile
from collections.abc import Awaitable, Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingest.settings import IngestSettings, ParserSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

TAXI = "# Night taxi\n\nA taxi after ten in the evening is paid up to 88 dollars.\n"
PARKING = "# Parking\n\nParking at the airport is paid up to 41 dollars a day.\n"
PASSWORD = "open sesame"
# Written by pyzipper: two members, encrypted with AES.
ENCRYPTED = base64.b64decode(
    "UEsDBBQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAZGVmbGF0ZWQudHh0AZkHAAIAQUUDCADRGC4SWgF7ASNtP0pNLyWn+6WhbdQBU1c2HNx1qLSf"
    "pI/q0XjGPeJ2lRVua+0FdBcqifa//mouX+REwQIOiG+IkPmDDFZ/FRZiUEsDBBQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAc3RvcmVkLnR4dAGZ"
    "BwACAEFFAQAA1x9Aspbpk/7QV9NWEcoTOZNjTSmx5F1TlaFkZibDwlBLAQIUAxQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAAAAAAAAAAACAAQAA"
    "AABkZWZsYXRlZC50eHQBmQcAAgBBRQMIAFBLAQIUAxQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAAAAAAAAAAACAAX4AAABzdG9yZWQudHh0AZkH"
    "AAIAQUUBAABQSwUGAAAAAAIAAgCIAAAA0AAAAAAA"
)


def mail(*attachments: tuple[str, str], body: str = "The rules are attached.") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "li@example.org", "ann@example.org", "New rules"
    message["Message-ID"], message["Date"] = "<1@example.org>", "Mon, 07 Oct 2024 10:00:00 +0000"
    message.set_content(body)
    for name, content in attachments:
        message.add_attachment(content.encode(), maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def archive(**members: str | bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file.getvalue()


async def children(client: httpx.AsyncClient, parent: str) -> dict[str, dict[str, Any]]:
    """Wait until no child is pending, and return them by source."""
    while True:
        found = (await client.get("/v1/documents", params={"parent": parent})).json()["documents"]
        if all(each["state"] != "pending" for each in found):
            return {each["source"]: each for each in found}


async def test_an_attachment_of_a_message_is_found_and_goes_with_it(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app()
    names = ("taxi.md", "../../parking.md")
    content = mail((names[0], TAXI), (names[1], PARKING), ("invite.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\n"))
    job = await upload_and_wait(client, "rules.eml", content, labels="travel", issuer="Finance")
    assert (job["state"], job["children"]) == ("succeeded", 2)
    inside = await children(client, job["document_id"])
    assert sorted(inside) == ["rules.eml/parking.md", "rules.eml/taxi.md"]
    taxi = inside["rules.eml/taxi.md"]
    assert (taxi["parent_id"], taxi["format"], taxi["state"]) == (job["document_id"], "markdown", "ready")
    assert (taxi["meta"]["labels"], taxi["meta"]["issuer"]) == (["travel"], "Finance")
    found = (await client.post("/v1/search", json={"query": "taxi after ten in the evening"})).json()
    assert found["passages"][0]["chunk"]["document_id"] == taxi["document_id"]
    report = (await client.get(f"/v1/documents/{job['document_id']}/report")).json()
    assert any("invite.ics" in note for note in report["notes"])

    receipt = (await client.delete(f"/v1/documents/{job['document_id']}")).json()
    assert (receipt["deleted_children"], set(receipt["left"].values())) == (2, {0})
    found = (await client.post("/v1/search", json={"query": "taxi after ten in the evening"})).json()
    assert found["passages"] == []
    home = tmp_path / "home"
    assert list((home / "originals").rglob("*.original")) == []


async def test_secrets_in_the_name_of_an_attachment_are_nowhere_in_the_clear(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="ingest")
    client = await open_app()
    name = "taxi 13800138000 wang@acme.example.md"
    content = mail((name, TAXI), ("13900139000.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\n"))
    job = await upload_and_wait(client, "rules.eml", content)
    (source,) = await children(client, job["document_id"])
    assert re.fullmatch(r"rules\.eml/taxi \[PHONE_\w+\] \[EMAIL_\w+\]\.md", source)
    report = (await client.get(f"/v1/documents/{job['document_id']}/report")).json()
    assert any(re.match(r"\[PHONE_\w+\]\.ics was not read", note) for note in report["notes"])
    answers = [(await client.get(path)).text for path in ("/v1/documents", "/v1/jobs")]
    kept = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    for value in ("13800138000", "13900139000", "wang@acme"):
        assert value not in caplog.text + "".join(answers)
        assert not any(value.encode() in each for each in kept)


async def test_archives_in_archives_are_read(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    inner = archive(**{"parking.md": PARKING, "picture.bin": bytes(range(256)) * 20})
    job = await upload_and_wait(client, "all.zip", archive(**{"below/taxi.md": TAXI, "inner.zip": inner}))
    assert (job["state"], job["children"]) == ("succeeded", 2)
    document = (await client.get(f"/v1/documents/{job['document_id']}")).json()
    assert (document["format"], document["page_count"]) == ("archive", None)
    inside = await children(client, job["document_id"])
    assert sorted(inside) == ["all.zip/below/taxi.md", "all.zip/inner.zip"]
    deeper = await children(client, inside["all.zip/inner.zip"]["document_id"])
    assert list(deeper) == ["all.zip/inner.zip/parking.md"]
    report = (await client.get(f"/v1/documents/{inside['all.zip/inner.zip']['document_id']}/report")).json()
    assert [note.split(":")[0] for note in report["notes"]] == ["picture.bin was not read"]
    listing = (await client.post("/v1/search", json={"query": "below/taxi.md"})).json()
    assert listing["passages"]


async def test_a_zip_bomb_is_refused_and_the_next_file_is_served(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(parser=ParserSettings(max_attachments=5))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(5):
            packed.writestr(f"{number}.txt", bytes(16 * 1024 * 1024))
    job = await upload_and_wait(client, "bomb.zip", file.getvalue())
    assert (job["state"], job["error_code"], job["children"]) == ("failed", "document_too_large", 0)
    many = {f"{number}.md": TAXI for number in range(6)}
    job = await upload_and_wait(client, "many.zip", archive(**many))
    assert (job["state"], job["error_code"]) == ("failed", "document_too_large")
    assert (await upload_and_wait(client, "taxi.md", TAXI.encode()))["state"] == "succeeded"


async def test_a_password_opens_an_archive_and_is_nowhere_in_the_clear(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="ingest")
    caplog.set_level(logging.DEBUG, logger="api")
    client = await open_app()
    job = await upload_and_wait(client, "a.zip", ENCRYPTED)
    assert (job["state"], job["error_code"]) == ("failed", "encrypted_document")
    answer = await client.post(f"/v1/jobs/{job['job_id']}/retry", json={"password": "a wrong one"})
    assert answer.status_code == 200
    job = await _ended(client, job["job_id"])
    assert (job["state"], job["error_code"]) == ("failed", "encrypted_document")
    assert (await client.post(f"/v1/jobs/{job['job_id']}/retry", json={"passwort": PASSWORD})).status_code == 422
    await client.post(f"/v1/jobs/{job['job_id']}/retry", json={"password": PASSWORD})
    job = await _ended(client, job["job_id"])
    assert (job["state"], job["children"]) == ("succeeded", 2)
    assert [each["state"] for each in (await children(client, job["document_id"])).values()] == ["ready"] * 2
    again = await upload_and_wait(client, "b.zip", ENCRYPTED, password=PASSWORD)
    assert again["state"] == "succeeded"
    assert len(await children(client, again["document_id"])) == 2
    answers = [
        (await client.get(path)).text
        for path in ("/v1/documents", "/v1/jobs", f"/v1/documents/{again['document_id']}/report")
    ]
    assert not any(PASSWORD in answer for answer in answers)
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path
    assert PASSWORD not in caplog.text
    too_long = await client.post("/v1/documents", files={"file": ("c.zip", b"x")}, data={"password": "p" * 2000})
    assert too_long.status_code == 422
    assert "ppp" not in too_long.text


async def test_admission_warns_or_rejects(open_app: OpenApp, upload_and_wait: Upload, samples: Path) -> None:
    thin = (samples / "q3-2024-brief.pdf").read_bytes()
    client = await open_app(ingest=IngestSettings(min_yield=100_000))
    job = await upload_and_wait(client, "thin.pdf", thin)
    assert job["state"] == "succeeded"
    (warning,) = job["warnings"]
    assert "100000" in warning.replace("1e+05", "100000")
    document = (await client.get(f"/v1/documents/{job['document_id']}")).json()
    report = (await client.get(f"/v1/documents/{job['document_id']}/report")).json()
    assert document["warnings"] == report["warnings"] == [warning]


async def _ended(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    while True:
        job = (await client.get(f"/v1/jobs/{job_id}")).json()
        if job["state"] not in {"queued", "running"}:
            return job
