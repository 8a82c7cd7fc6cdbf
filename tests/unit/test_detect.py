"""The format is decided by content; the name only breaks ties."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detect import detect, kind_of
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


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAIL = b"Received: by x\nFrom: a@b\nSubject: hi\nMIME-Version: 1.0\n\nbody"
TYPES = "[Content_Types].xml"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"\xff\xd8\xff\xe0", "image"),
        (b"GIF89a\x01\x00\x01\x00", "image"),
        (b"II*\x00\x08\x00", "image"),
        (b"MM\x00*\x00\x00", "image"),
        (b"RIFF\x01\x01\x00\x00WEBPVP8 ", "image"),
        (b"BM\x36\x10\x00\x00\x00\x00\x00\x00\x36\x00", "image"),
        (b"SQLite format 3\x00\x10\x00", "sqlite"),
        (b'{"a": 1}', "json"),
        (b'{"a": 1}\n{"a": 2}\n', "json"),
        (b"[" * 5000, "json"),
        (b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "notebook"),
        (b'<?xml version="1.0"?><rss version="2.0"></rss>', "feed"),
        (b'<?xml version="1.0"?><countries/>', "xml"),
        (b"Date: Tue, 1 Oct 2024 12:34:56 -0500\nFrom: a@a.example\nTo: b@b.example\n\nHi", "eml"),
        (b"From a@a.example Mon Mar 17 11:15:17 2014\nMessage-ID: <x>\nFrom: a@a.example\nSubject: s\n\nHi", "eml"),
        (b"<feed><entry>x</entry></feed>", "feed"),
        (MAIL, "eml"),
        (OLE + "WordDocument".encode("utf-16-le"), "doc"),
        (zipped({"ppt/presentation.xml": "x"}), "pptx"),
        (zipped({"xl/workbook.xml": "x"}), "xlsx"),
        (zipped({TYPES: "spreadsheetml.sheet.main+xml", "xl/renamed.xml": "x"}), "xlsx"),
        (zipped({TYPES: "presentationml.slideshow.main+xml"}), "pptx"),
        (zipped({"mimetype": "application/epub+zip"}), "epub"),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), "odt"),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet-template"}), "ods"),
        (
            zipped({"content.xml": "", "META-INF/manifest.xml": "application/vnd.oasis.opendocument.presentation"}),
            "odp",
        ),
        (zipped({"a.txt": "x"}), "archive"),
        (b"Title\n=====\n\n.. note:: x\n\n``code`` and :ref:`x`\n", "rst"),
        (b"#+TITLE: A\n\n* One\ntext\n", "org"),
    ],
)
def test_detect_knows_the_kind_whether_a_parser_reads_it_or_not(tmp_path: Path, content: bytes, expected: str) -> None:
    assert kind_of(written(tmp_path, content), "upload.pdf").format == expected


@pytest.mark.parametrize(
    "content",
    [
        "ID3 tags are kept.",
        "BM is a company.",
        "II. Second chapter",
        "OggS is a container",
        "MZ",
        "fLaC, said he",
        "PAR1",
    ],
)
def test_detect_takes_text_for_text_whatever_it_begins_with(tmp_path: Path, content: str) -> None:
    assert detect(written(tmp_path, content), "upload.mp3") == "text"


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"%!PS-Adobe-3.0\n", "PostScript"),
        (b"\x7fELF\x02\x01\x01\x00", "a program"),
        (b"MZ\x90\x00\x03\x00", "a program"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"BZh91AY&SY\x00", "bzip2"),
        (b"7z\xbc\xaf'\x1c\x00", "7z"),
        (b"ID3\x04\x00\x00", "audio"),
        (b"\xff\xfb\x90\x00", "MP3"),
        (b"OggS\x00\x02", "audio"),
        (b"RIFF\x01\x01\x00\x00WAVEfmt ", "audio"),
        (b"\x00\x00\x00\x20ftypM4A ", "MP4"),
        (b"\x1aE\xdf\xa3\x01\x00", "video"),
        (b"PAR1\x15\x00", "Parquet"),
        (b"wOF2\x00\x01", "font"),
        (zipped({"META-INF/MANIFEST.MF": "x"}), "Java"),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.graphics"}), "OpenDocument graphics"),
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


@pytest.mark.parametrize("content", [OLE + bytes(600), OLE + b"\x00\x01" * 5000])
def test_detect_calls_a_cut_office_file_damaged(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CorruptDocumentError, match="damaged, cut off or unknown Office file"):
        detect(written(tmp_path, content), "a.xls")


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


@pytest.mark.parametrize("mark", ["![", "**a", "<!-- -->", "From a 12:12:12", "---|", ":a:`"])
def test_detect_bears_endless_marks(tmp_path: Path, mark: str) -> None:
    assert detect(written(tmp_path, (mark * (400_000 // len(mark))).encode()), "x.bin") == "text"
