"""The format is decided by content; the name only breaks ties."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detect import detect
from ingest.errors import CorruptDocumentError, EncryptedDocumentError, IngestError, UnsupportedDocumentError


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "upload"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, content in members.items():
            package.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("%PDF-1.7\n1 0 obj", "notes.txt", "pdf"),
        ("\n\n%PDF-1.4 after some junk", "x", "pdf"),
        ("<!DOCTYPE html><p>hello", "page.txt", "html"),
        ('<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="x"><body/></html>', "x", "html"),
        ("<div><p>one</p><p>two</p></div>", "x.bin", "html"),
        ("<div align=center><p>Readme</p></div>\n\n# Title\n", "README.md", "markdown"),
        ("# Title\n\nText with **bold** words.\n\n- item\n", "x", "markdown"),
        ("---\ntitle: A\n---\n# B\n", "x", "markdown"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nhello", "x.txt", "vtt"),
        ("1\n00:00:01,000 --> 00:00:02,000\nhello\n", "x.txt", "srt"),
        ("[00:00:01] 张三：大家好\n[00:00:05] 李四：你好\n", "x.txt", "transcript"),
        ("Anna (00:01): Good morning.\nBen (00:07): Morning.\n", "x.md.txt", "transcript"),
        ("张三 00:01\n大家好\n\n李四 00:09\n你好，开始吧\n", "x", "transcript"),
        ("Just a letter.\n\nWith two paragraphs.", "x", "text"),
        ("# only a comment\nprint(1)\n", "x.py", "text"),
        ("From: me\nTo: you\n\nNo mail headers that servers write.", "memo.txt", "text"),
        ("会议纪要：今天下雨。\n地点：北京。\n", "x.txt", "text"),
        ("", "empty.pdf", "text"),
    ],
)
def test_detect_reads_content(tmp_path: Path, content: str, name: str, expected: str) -> None:
    assert detect(written(tmp_path, content), name) == expected


def test_detect_finds_docx_by_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    docx.Document().save(str(path))
    assert detect(path, "table.xlsx") == "docx"


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"{\\rtf1 hello}", "RTF"),
        (b'{"a": 1}', "JSON"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON"),
        (b'<?xml version="1.0"?><rss version="2.0"></rss>', "rss"),
        (b"<feed><entry>x</entry></feed>", "feed"),
        (b"Received: by x\nFrom: a@b\nSubject: hi\nMIME-Version: 1.0\n\nbody", "EML"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "DOC"),
        (zipped({"ppt/presentation.xml": "x"}), "PowerPoint"),
        (zipped({"xl/workbook.xml": "x"}), "Excel"),
        (zipped({"mimetype": "application/epub+zip"}), "EPUB"),
        (zipped({"a.txt": "x"}), "ZIP archive"),
        (bytes(range(256)) * 4, "binary"),
    ],
)
def test_detect_says_what_it_saw_and_what_is_supported(tmp_path: Path, content: bytes, seen: str) -> None:
    with pytest.raises(UnsupportedDocumentError) as caught:
        detect(written(tmp_path, content), "upload.pdf")
    assert seen in str(caught.value)
    assert "upload.pdf" in str(caught.value)


def test_detect_refuses_a_cut_zip(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocumentError, match="ZIP"):
        detect(written(tmp_path, zipped({"word/document.xml": "x" * 500})[:200]), "a.docx")


def test_detect_tells_an_encrypted_office_file(tmp_path: Path) -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(EncryptedDocumentError):
        detect(written(tmp_path, content), "a.docx")


@given(content=st.binary(max_size=400), name=st.sampled_from(["a.txt", "a.md", "a.pdf", "", "a.html"]))
def test_detect_never_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "detect-any"
    path.write_bytes(content)
    try:
        detect(path, name)
    except IngestError:
        return
