"""The search for leaks finds a planted value in every form in which it may stand."""

from __future__ import annotations

import base64
import gzip
import io
import json
import quopri
import random
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import docx
import pymupdf
import pytest

from leaks import LeakSearch

NUMBER, NAME = "13812345678", "欧阳明轩"
SEARCH = LeakSearch([NUMBER, NAME, "13987654321"])
TEXT = f"filler before, {NUMBER} and {NAME} behind"


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("member.txt", content)
    return stream.getvalue()


def written() -> bytes:
    stream, document = io.BytesIO(), docx.Document()
    document.add_paragraph(TEXT)
    document.save(stream)
    return stream.getvalue()


def printed() -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((50, 50), "x")
    document.set_metadata({"title": TEXT})
    document.embfile_add("notes", TEXT.encode())
    return document.tobytes(deflate=True)


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return b"<< >> stream\r\n" + packer.compress(content) + packer.flush() + b"\r\nendstream"


FORMS: dict[str, Callable[[], bytes]] = {
    "utf-8": TEXT.encode,
    "utf-16": lambda: TEXT.encode("utf-16"),
    "utf-16-be": lambda: TEXT.encode("utf-16-be"),
    "gbk": lambda: TEXT.encode("gbk"),
    "json in ascii": lambda: json.dumps({"text": TEXT}).encode(),
    "percent": lambda: quote(TEXT).encode(),
    "repr of bytes": lambda: repr(TEXT.encode()).encode(),
    "quoted-printable": lambda: quopri.encodestring(TEXT.encode()),
    "base64": lambda: b"data: " + base64.b64encode(TEXT.encode()),
    "base64 of lines": lambda: base64.encodebytes(TEXT.encode() * 5),
    "base64 for urls": lambda: base64.urlsafe_b64encode(TEXT.encode()),
    "base64 within a word": lambda: b"ab" + base64.b64encode(TEXT.encode()),
    "zlib": lambda: b"head" + zlib.compress(TEXT.encode()) + b"tail",
    "gzip": lambda: gzip.compress(TEXT.encode()),
    "zip": lambda: zipped(TEXT.encode()),
    "zip in a zip": lambda: zipped(zipped(TEXT.encode("utf-16"))),
    "zip behind other bytes": lambda: b"\x00" * 5000 + zipped(TEXT.encode()),
    "zip in base64": lambda: base64.b64encode(zipped(random.Random(1).randbytes(2000) + TEXT.encode())),
    "broken zlib": lambda: zlib.compress(TEXT.encode() + bytes(range(256)) * 40)[:-30],
    "stream without a header": lambda: raw_deflate(TEXT.encode()),
    "docx": written,
    "pdf": printed,
    "border of two pieces": lambda: b"." * 1_999_990 + TEXT.encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_leak_search_finds_a_value_in_every_form(form: str) -> None:
    found = SEARCH.search(FORMS[form](), "here")
    assert {leak.value for leak in found} == {NUMBER, NAME}
    assert all(leak.place.startswith("here") for leak in found)


def test_leak_search_finds_a_deleted_row_of_a_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t (x TEXT)")
    database.execute("INSERT INTO t VALUES (?)", (TEXT,))
    database.commit()
    database.execute("PRAGMA secure_delete=OFF")
    database.execute("DELETE FROM t")
    database.commit()
    database.close()
    assert {leak.value for leak in SEARCH.search(path.read_bytes(), "a.db")} == {NUMBER, NAME}


def test_leak_search_finds_nothing_where_there_is_nothing() -> None:
    content = bytes(range(256)) * 4000 + b"1381234567 139 8765 4321 \xe6\xac\xa7\xe9\x98\xb3"
    assert SEARCH.search(content + zipped(content), "here") == []
