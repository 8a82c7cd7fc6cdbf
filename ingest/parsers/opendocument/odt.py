"""ODT: headings by outline level, lists with their numbers, tables, frames, notes, comments, letterheads.

An ODT has no pages: where they break is the printer's decision, so none is reported.
"""

from __future__ import annotations

from pathlib import Path

from ingest.errors import NoTextError
from ingest.parsers.office.docx_furniture import is_page_number
from ingest.parsers.office.drawing_text import Element
from ingest.parsers.opendocument.flow import OdfFlow
from ingest.parsers.opendocument.package import OdfPackage, OdfStyles, children, odf
from ingest.parsers.opendocument.text import plain_text
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.joining import squeeze
from ingest.parsers.text.numbering import heading_number, is_numbered_heading, number_levels, reads_like_heading
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_FURNITURE = tuple(
    (f"style:{place}{suffix}", place) for place in ("header", "footer") for suffix in ("", "-left", "-first")
)


def parse_odt(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an OpenDocument text.

    Raises:
        CorruptDocumentError: not a readable OpenDocument text.
        DocumentTooLargeError: it unpacks to more than a document may.
        EncryptedDocumentError: it is encrypted.
        NoTextError: no text in body, tables, frames and notes.
    """
    package = OdfPackage(path, display_name, limits, "ODT")
    flow = OdfFlow(package)
    for body in package.content.iter(odf("office:text")):
        flow.read(body)
    blocks = flow.blocks
    if not any(block.kind == "heading" for block in blocks):
        _promote(blocks, flow.plain, flow.styles)
    if not blocks:
        raise NoTextError(f"{display_name}: the document has no text; pictures would need OCR")
    headers, footers = _furniture(package.styles, "header"), _furniture(package.styles, "footer")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="odt",
        blocks=(*headers, *blocks, *footers),
        title=flow.title or package.title() or heading,
        notes=_notes(flow, len(headers) + len(footers)),
    )


def _promote(blocks: list[Block], plain: list[tuple[int, Element]], styles: OdfStyles) -> None:
    """Without any heading, numbers (`第三章`, `1.2`) and bold short lines are the headings."""
    ranks: dict[int, int] = {}
    for index, paragraph in plain:
        text = blocks[index].text
        number = heading_number(text)
        if number is not None and is_numbered_heading(text):
            ranks[index] = number.rank
        elif reads_like_heading(text) and "\n" not in text and _is_bold(paragraph, styles):
            ranks[index] = number.rank if number is not None else 0
    levels = number_levels(ranks.values())
    for index, rank in ranks.items():
        blocks[index] = Block(kind="heading", text=blocks[index].text, level=levels[rank])


def _is_bold(paragraph: Element, styles: OdfStyles) -> bool:
    """Tell whether all of a paragraph is bold: by its own style, or as one run of bold spans."""
    if styles.is_bold(paragraph, "paragraph"):
        return True
    spans = list(children(paragraph, "text:span"))
    bare = (paragraph.text or "") + "".join(child.tail or "" for child in paragraph)
    return bool(spans) and not bare.strip() and all(styles.is_bold(span, "text") for span in spans)


def _furniture(styles: Element | None, wanted: str) -> list[Block]:
    """Return page headers or footers that say more than the page, each text once."""
    found: dict[str, str] = {}
    for name, place in _FURNITURE:
        for element in () if styles is None or place != wanted else styles.iter(odf(name)):
            text = plain_text(element)
            if element.get(odf("style:display")) != "false" and text and not is_page_number(text):
                found.setdefault(squeeze(text), text)
    return [Block(kind="paragraph", text=f"Page {wanted}: {text}") for text in found.values()]


def _notes(flow: OdfFlow, furniture: int) -> tuple[str, ...]:
    said: list[str] = []
    if furniture:
        said.append(f"{furniture} page headers and footers stand once, at the start and the end")
    if flow.comment_count:
        said.append(f"{flow.comment_count} comments stand after what they refer to")
    if flow.note_count:
        said.append(f"{flow.note_count} footnotes and endnotes stand after the paragraph that refers to them")
    return tuple(said)
