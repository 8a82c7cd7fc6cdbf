"""ODS: sheets as headings, their tables, comments, text boxes and chart titles, streamed from the package's XML."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, NoTextError
from ingest.parsers.office.docx_package import check_package
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.sheets.ods_sheet import OdsSheetReader, paragraphs
from ingest.parsers.sheets.sheets import CellBudget, sheet_blocks
from ingest.parsers.sheets.xlsx_package import Element, attribute, local
from ingest.parsers.text.joining import collapse
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_ENCRYPTED = re.compile(rb"<(?:\w+:)?encryption-data\b")
_SMALL_PART = 8 * 1024 * 1024


def parse_ods(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an OpenDocument spreadsheet.

    Raises:
        EncryptedDocumentError: its parts are encrypted.
        NoTextError: no visible sheet has text.
        CorruptDocumentError: the container or its content is damaged.
        DocumentTooLargeError: more cells than the limits allow.
    """
    check_package(path, display_name, limits, "ODS", streamed=True)
    try:
        with zipfile.ZipFile(path) as package:
            if _ENCRYPTED.search(_small(package, "META-INF/manifest.xml")):
                raise EncryptedDocumentError(f"{display_name}: this document is encrypted; save it without a password")
            return _parse(package, CellBudget(display_name, limits), display_name)
    except (
        zipfile.BadZipFile, zlib.error, etree.LxmlError, EOFError, NotImplementedError, KeyError, RuntimeError,
    ) as exc:  # fmt: skip
        raise CorruptDocumentError(f"{display_name}: the spreadsheet is damaged; save it again") from exc


def _parse(package: zipfile.ZipFile, budget: CellBudget, display_name: str) -> ParsedDocument:
    blocks: list[Block] = []
    notes: list[str] = []
    reader: OdsSheetReader | None = None
    hidden_styles: set[str] = set()
    for event, element in _events(package):
        name = local(element)
        if event == "end" and name == "style":
            if any(attribute(child, "display") == "false" for child in element if local(child) == "table-properties"):
                hidden_styles.add(attribute(element, "name") or "")
        elif event == "start" and name == "table" and reader is None and local(element.getparent()) == "spreadsheet":
            reader = OdsSheetReader(attribute(element, "name") or "", budget)
            if attribute(element, "style-name") in hidden_styles:
                reader.hidden = True
        elif reader is None or event == "start":
            continue
        elif name == "table-row":
            reader.add_row(element)
            _free(element)
        elif name == "table-column":
            reader.add_column(element)
        elif name == "shapes":
            reader.add_drawing(element)
        elif name == "table" and local(element.getparent()) == "spreadsheet":
            if reader.hidden:
                notes.append(f"the hidden sheet {reader.sheet.name!r} was left out")
            else:
                reader.sheet.remarks += [title for part in reader.objects for title in _chart_titles(package, part)]
                reader.sheet.remarks += reader.comments
                blocks += sheet_blocks(reader.sheet, budget)
                notes += reader.notes()
            reader = None
            _free(element)
    if not blocks:
        hidden = " outside its hidden ones" if notes else ""
        raise NoTextError(f"{display_name}: no sheet of the document{hidden} has text")
    return ParsedDocument(format="ods", blocks=tuple(blocks), title=_title(package), notes=tuple(notes))


def _events(package: zipfile.ZipFile) -> Iterator[tuple[str, Element]]:
    tags = [f"{{*}}{name}" for name in ("style", "table", "table-row", "table-column", "shapes")]
    with package.open("content.xml") as stream:
        yield from etree.iterparse(stream, events=("start", "end"), tag=tags, resolve_entities=False, no_network=True)


def _free(element: Element) -> None:
    """Forget an element that has been read, and its elder brothers."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _small(package: zipfile.ZipFile, name: str) -> bytes:
    try:
        with package.open(name) as member:
            return member.read(_SMALL_PART)
    except KeyError:
        return b""


def _tree(package: zipfile.ZipFile, name: str) -> Element | None:
    content = _small(package, name)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(content, parser) if content else None
    except etree.XMLSyntaxError:
        return None


def _title(package: zipfile.ZipFile) -> str:
    tree = _tree(package, "meta.xml")
    found = None if tree is None else next(tree.iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return collapse(str(found.text or "")) if found is not None else ""


def _chart_titles(package: zipfile.ZipFile, part: str) -> list[Block]:
    """Titles of an embedded chart; its figures stand in cells already."""
    tree = _tree(package, f"{part}/content.xml")
    if tree is None:
        return []
    titles = [
        " ".join(paragraphs(title)) for title in tree.iter("{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}title")
    ]
    return [Block(kind="caption", text=" – ".join(filter(None, titles)))] if any(titles) else []
