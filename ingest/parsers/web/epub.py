"""EPUB books: metadata, then the files of the spine in order, each read as HTML."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import EncryptedDocumentError, NoTextError
from ingest.parsers.data.xml_tree import text_of
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.joining import collapse, squeeze
from ingest.parsers.web.epub_package import Book, Container, Item, encrypted_paths, read_book, resolve
from ingest.parsers.web.html import decode_html, html_blocks
from ingest.parsers.web.html_dom import read_tree
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_MARKUP = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml", "text/xml"})
_FIELDS = (
    ("title", "Title"),
    ("creator", "Authors"),
    ("contributor", "Contributors"),
    ("publisher", "Publisher"),
    ("date", "Date"),
    ("language", "Language"),
    ("subject", "Subjects"),
    ("description", "Description"),
    ("rights", "Rights"),
)
_NAVIGATION = "tables of contents were left out; the chapters' own headings stand"


def parse_epub(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an EPUB book.

    Raises:
        NoTextError: no file of the spine has text (a book of pictures).
        EncryptedDocumentError: its text is under copy protection.
        CorruptDocumentError: no package document, or a damaged container.
        DocumentTooLargeError: it unpacks to more than a book may.
    """
    with Container(path, display_name, limits) as container:
        book = read_book(container, display_name)
        _refuse_protected(container, book, display_name)
        names = _chapter_names(container, book)
        notes: list[str] = []
        blocks: list[Block] = []
        for item in dict.fromkeys(book.spine):
            if "nav" in item.properties:
                notes.append(_NAVIGATION)
                continue
            blocks.extend(_chapter(container, item, names.get(item.path, ""), display_name, notes))
    if not blocks:
        raise NoTextError(f"{display_name}: the book's pages have no text")
    title = next(iter(book.values("title")), "")
    return ParsedDocument(
        format="epub", blocks=(*_about(book), *blocks), title=title, notes=tuple(dict.fromkeys(notes))
    )


def _refuse_protected(container: Container, book: Book, display_name: str) -> None:
    if not encrypted_paths(container).isdisjoint(item.path for item in book.spine):
        raise EncryptedDocumentError(
            f"{display_name}: the book's text is under copy protection (DRM); upload it without"
        )


def _about(book: Book) -> Iterator[Block]:
    """Yield the metadata as one paragraph, a line for each field."""
    lines = [f"{label}: {', '.join(values)}" for name, label in _FIELDS if (values := book.values(name))]
    if lines:
        # Descriptions come with markup in them, as shops show them.
        text = "\n".join(" ".join(block.text for block in html_blocks(line)) if "<" in line else line for line in lines)
        yield Block(kind="paragraph", text=text)


def _chapter(container: Container, item: Item, name: str, display_name: str, notes: list[str]) -> list[Block]:
    """Read one file of the spine; a chapter without a heading gets its name in the table of contents."""
    if item.media_type not in _MARKUP:
        notes.append(f"a file of type {item.media_type or '?'} was not read")
        return []
    content = container.read(item.path)
    if content is None:
        notes.append(f"{posixpath.basename(item.path)} is missing in the book")
        return []
    if not content.strip():
        return []
    blocks = list(html_blocks(decode_html(content, display_name).text, display_name))
    if not blocks:
        notes.append("pages without text (covers, pictures) were left out")
        return []
    starts = " ".join(squeeze(block.text) for block in blocks[:3])
    if name and not any(block.kind == "heading" for block in blocks[:3]) and squeeze(name) not in starts:
        blocks.insert(0, Block(kind="heading", level=1, text=name))
    return blocks


def _chapter_names(container: Container, book: Book) -> dict[str, str]:
    """Return the table of contents: file → the name of its first entry."""
    names: dict[str, str] = {}
    for item in book.contents:
        folder = posixpath.dirname(item.path)
        entries = _nav_entries(container, item) if "nav" in item.properties else _ncx_entries(container, item)
        for reference, name in entries:
            names.setdefault(resolve(folder, reference), name)
    return names


def _nav_entries(container: Container, item: Item) -> Iterator[tuple[str, str]]:
    content = container.read(item.path)
    if not content:
        return
    tree = read_tree(decode_html(content, item.path).text, item.path)
    for link in tree.css("nav a[href]"):
        yield link.attributes.get("href") or "", collapse(link.text())


def _ncx_entries(container: Container, item: Item) -> Iterator[tuple[str, str]]:
    root = container.xml(item.path)
    for point in root.iterfind(".//{*}navPoint") if root is not None else ():
        label, target = point.find("{*}navLabel/{*}text"), point.find("{*}content")
        if label is not None and target is not None:
            yield target.get("src", ""), text_of(label)
