"""PPTX through python-pptx: slides in order, shapes in reading order, tables, charts, diagrams, notes, comments.

A slide is a page: its number is the one PowerPoint shows, and hidden slides count.
"""

# python-pptx and lxml type little of what is used here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pptx
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
from pptx.exc import PythonPptxError

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError
from ingest.parsers.office.docx_package import check_package, read_package
from ingest.parsers.office.office_parts import part_roots
from ingest.parsers.office.office_titles import own_title
from ingest.parsers.office.pptx_comments import AUTHOR_RELATIONS, author_names
from ingest.parsers.office.pptx_inherit import Inheritance
from ingest.parsers.office.pptx_slide import Slide, SlideReader
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.numbering import number_levels
from ingest.settings import ParserSettings
from ingest.types import Block, PageYield, ParsedDocument

_VENDOR_ERRORS = (
    PythonPptxError, zipfile.BadZipFile, zlib.error, etree.LxmlError,
    KeyError, ValueError, AttributeError, TypeError, IndexError, OSError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""python-pptx answers a damaged package with whatever its code runs into."""


def parse_pptx(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a PPTX file.

    Raises:
        CorruptDocumentError: not a readable presentation.
        DocumentTooLargeError: it unpacks to more than a document may, or has too many slides.
        NoTextError: no text on any slide.
    """
    check_package(path, display_name, limits, "PPTX")
    try:
        with read_package(path) as file:
            presentation = pptx.Presentation(file)
        count = len(presentation.slides)
        if count > limits.max_pages:
            raise DocumentTooLargeError(f"{display_name}: {count} slides, the limit is {limits.max_pages}")
        slides: list[Slide] = []
        for slide in _slides(presentation, limits):
            slides.append(slide)
            session.page_done(len(slides), count)
        title = own_title(presentation.core_properties.title)
    except _VENDOR_ERRORS as exc:
        raise CorruptDocumentError(f"{display_name}: not a readable presentation ({type(exc).__name__})") from exc
    blocks = _levelled(slides)
    if not blocks:
        pictures = "OCR is switched off" if limits.ocr == "off" else "OCR found none in its pictures"
        raise NoTextError(f"{display_name}: the presentation has no text, and {pictures}")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="pptx",
        blocks=tuple(blocks),
        page_count=count,
        title=_title_slide(slides) or title or heading,
        pages=tuple(
            PageYield(page_number=slide.number, characters=slide.characters, ocr=slide.ocr) for slide in slides
        ),
        notes=_notes(slides),
    )


def _slides(presentation: Any, limits: ParserSettings) -> Iterator[Slide]:
    authors: dict[str, str] = {}
    for root in part_roots(presentation.part, AUTHOR_RELATIONS):
        authors |= author_names(root)
    inherited: dict[Any, Inheritance] = {}
    for number, slide in enumerate(presentation.slides, start=1):
        layout = slide.slide_layout
        if layout.part not in inherited:
            inherited[layout.part] = Inheritance.of(layout.element, layout.slide_master.element)
        yield SlideReader(slide, number, inherited[layout.part], authors, limits).read()


def _levelled(slides: list[Slide]) -> list[Block]:
    """Give the slide titles levels: title slides over section headers over the others, as far as there are any."""
    levels = number_levels(slide.rank for slide in slides if slide.title)
    blocks: list[Block] = []
    for slide in slides:
        if slide.title:
            blocks.append(
                Block(
                    kind="heading",
                    text=slide.title,
                    level=levels[slide.rank],
                    page_number=slide.number,
                    page_end=slide.number,
                )
            )
        blocks.extend(slide.blocks)
    return blocks


def _title_slide(slides: list[Slide]) -> str:
    return slides[0].title if slides and slides[0].is_title_slide else ""


def _notes(slides: list[Slide]) -> tuple[str, ...]:
    said: list[str] = []
    hidden = [str(slide.number) for slide in slides if slide.hidden]
    empty = [str(slide.number) for slide in slides if not slide.characters]
    read = [str(slide.number) for slide in slides if slide.ocr]
    if read:
        said.append(f"pictures were read by OCR on slides without other text: {', '.join(read)}")
    if hidden:
        said.append(f"hidden slides were read too: {', '.join(hidden)}")
    if empty:
        said.append(f"slides without text: {', '.join(empty)}")
    for word, plural in (
        ("speaker notes", "slides have speaker notes"),
        ("comments", "comments stand after their slide"),
    ):
        count = sum(slide.extras.get(word, 0) for slide in slides)
        if count:
            said.append(f"{count} {plural}")
    unread = sum(slide.extras.get("objects", 0) for slide in slides)
    if unread:
        said.append(f"{unread} embedded objects were not opened")
    return tuple(said)
