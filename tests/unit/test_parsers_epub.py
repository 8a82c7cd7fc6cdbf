"""EPUB books: metadata, spine order, chapter names, navigation, copy protection, bombs."""

from __future__ import annotations

import contextlib
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.errors import (
    CorruptDocumentError,
    DocumentTooLargeError,
    EncryptedDocumentError,
    IngestError,
    NoTextError,
)
from ingest.parsers.web.epub import parse_epub
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
XHTML = "application/xhtml+xml"


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title/></head><body>{body}</body></html>"
    )


def package(items: str, spine: str) -> str:
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>The Book</dc:title><dc:creator>Ann A</dc:creator><dc:creator>Bob B</dc:creator>"
        "<dc:description>&lt;p&gt;On &lt;b&gt;things&lt;/b&gt;.&lt;/p&gt;</dc:description></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )


def item(name: str, media_type: str = XHTML, properties: str = "") -> str:
    return f'<item id="{name}" href="{name}" media-type="{media_type}" properties="{properties}"/>'


def book(folder: Path, members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "book"
    with zipfile.ZipFile(path, "w", method) as target:
        target.writestr("mimetype", "application/epub+zip")
        for name, content in members.items():
            target.writestr(name, content)
    return path


def parsed(folder: Path, members: dict[str, str | bytes]) -> ParsedDocument:
    return parse_epub(book(folder, members), "b.epub", LIMITS)


def two_chapters() -> dict[str, str | bytes]:
    return {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": package(
            item("b.xhtml") + item("a.xhtml") + item("nav.xhtml", properties="nav"),
            '<itemref idref="nav.xhtml"/><itemref idref="a.xhtml"/><itemref idref="b.xhtml" linear="no"/>',
        ),
        "OPS/a.xhtml": page('<a id="x"/><h1>First</h1><p>Words &mdash; one.</p>'),
        "OPS/b.xhtml": page("<p>Words two.</p>"),
        "OPS/nav.xhtml": page(
            '<nav><ol><li><a href="a.xhtml#x">First</a></li><li><a href="b.xhtml">The second</a></li></ol></nav>'
        ),
    }


def test_epub_gives_metadata_and_the_spine_in_order(tmp_path: Path) -> None:
    document = parsed(tmp_path, two_chapters())
    assert document.title == "The Book"
    assert document.page_count is None
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("paragraph", "Title: The Book\nAuthors: Ann A, Bob B\nDescription: On things."),
        ("heading", "First"),
        ("paragraph", "Words — one."),
        ("heading", "The second"),
        ("paragraph", "Words two."),
    ]
    assert any("contents" in note for note in document.notes)


def test_epub_two_takes_chapter_names_from_the_ncx(tmp_path: Path) -> None:
    members = two_chapters()
    members["OPS/book.opf"] = package(
        item("b.xhtml") + item("toc.ncx", "application/x-dtbncx+xml"), '<itemref idref="b.xhtml"/>'
    )
    members["OPS/toc.ncx"] = (
        '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://x.example/ncx.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Named</text></navLabel>'
        '<content src="b.xhtml#top"/></navPoint></navMap></ncx>'
    )
    assert [block.text for block in parsed(tmp_path, members).blocks][1:] == ["Named", "Words two."]


@pytest.mark.parametrize(
    ("algorithm", "is_protected"),
    [("http://www.w3.org/2001/04/xmlenc#aes128-cbc", True), ("http://www.idpf.org/2008/embedding", False)],
)
def test_epub_under_copy_protection_is_said(tmp_path: Path, algorithm: str, is_protected: bool) -> None:
    members = two_chapters()
    members["META-INF/encryption.xml"] = (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
        f'<e:EncryptionMethod Algorithm="{algorithm}"/>'
        '<e:CipherData><e:CipherReference URI="OPS/a.xhtml"/></e:CipherData></e:EncryptedData></encryption>'
    )
    if is_protected:
        with pytest.raises(EncryptedDocumentError, match="DRM"):
            parsed(tmp_path, members)
    else:
        assert parsed(tmp_path, members).blocks


def test_epub_of_pictures_has_no_text(tmp_path: Path) -> None:
    members = two_chapters()
    members["OPS/a.xhtml"] = members["OPS/b.xhtml"] = page('<img src="1.png" alt=""/>')
    with pytest.raises(NoTextError):
        parsed(tmp_path, members)


def test_epub_bomb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLargeError, match="the limit is 400 times its size"):
        parsed(tmp_path, two_chapters() | {"OPS/x.bin": b"\0" * (40 * 1024 * 1024)})


def test_epub_large_member_is_refused(tmp_path: Path) -> None:
    limits = ParserSettings(memory_mb=256)
    path = book(tmp_path, two_chapters() | {"OPS/a.xhtml": b"<p>a" * (9 * 1024 * 1024)}, zipfile.ZIP_STORED)
    with pytest.raises(DocumentTooLargeError):
        parse_epub(path, "b.epub", limits)


def test_epub_with_entities_of_its_own_is_refused(tmp_path: Path) -> None:
    members = two_chapters()
    members["META-INF/container.xml"] = '<!DOCTYPE c [<!ENTITY a "b">]>' + CONTAINER.partition("?>")[2]
    with pytest.raises(CorruptDocumentError, match="declares entities of its own, which is refused"):
        parsed(tmp_path, members)


def test_epub_with_entities_in_its_package_document_says_so(tmp_path: Path) -> None:
    members = two_chapters()
    package_document = members["OPS/book.opf"]
    assert isinstance(package_document, str)
    members["OPS/book.opf"] = '<!DOCTYPE p [<!ENTITY a "b">]>' + package_document.partition("?>")[2]
    with pytest.raises(CorruptDocumentError, match="declares entities of its own, which is refused"):
        parsed(tmp_path, members)


@pytest.mark.parametrize("missing", ["META-INF/container.xml", "OPS/book.opf"])
def test_epub_without_its_package_is_corrupt(tmp_path: Path, missing: str) -> None:
    members = two_chapters()
    del members[missing]
    with pytest.raises(CorruptDocumentError):
        parsed(tmp_path, members)


def test_epub_missing_chapter_is_noted(tmp_path: Path) -> None:
    members = two_chapters()
    del members["OPS/b.xhtml"]
    assert "b.xhtml is missing in the book" in parsed(tmp_path, members).notes


@example(position=1553, junk=b"\x01")
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_epub_damaged_anywhere_raises_only_our_errors(
    tmp_path_factory: pytest.TempPathFactory, position: int, junk: bytes
) -> None:
    path = book(tmp_path_factory.getbasetemp(), two_chapters())
    content = bytearray(path.read_bytes())
    content[position % len(content) : position % len(content) + len(junk)] = junk
    path.write_bytes(bytes(content))
    with contextlib.suppress(IngestError):
        parse_epub(path, "b.epub", LIMITS)
