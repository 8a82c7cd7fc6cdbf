"""ODP: slides in order, title first, shapes as they stand, notes and comments after them.

A slide is a page: its number is its place in the presentation, and hidden slides count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ingest.errors import DocumentTooLargeError, NoTextError
from ingest.parsers.office.drawing_text import Element
from ingest.parsers.office.reading_order import Rectangle, reading_order
from ingest.parsers.office.slide_titles import leads_as_title
from ingest.parsers.opendocument.flow import OdfFlow
from ingest.parsers.opendocument.package import OdfPackage, children, odf
from ingest.parsers.opendocument.text import is_shape, paragraph_parts, plain_text
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.numbering import number_levels
from ingest.settings import ParserSettings
from ingest.types import Block, PageYield, ParsedDocument

_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(cm|mm|in|pt|pc|px)?")
_MICROMETRES = {"cm": 10_000.0, "mm": 1_000.0, "in": 25_400.0, "pt": 352.78, "pc": 4_233.3, "px": 264.58}
_MOVED = re.compile(r"translate\s*\(\s*(\S+)[\s,]+([^\s)]+)")
_FURNITURE = frozenset({"header", "footer", "date-time", "page-number", "page", "handout"})
_TITLE_RANK, _SLIDE_RANK = 1, 3


@dataclass(slots=True)
class _Slide:
    number: int
    title: str = ""
    rank: int = _SLIDE_RANK
    hidden: bool = False
    blocks: list[Block] = field(default_factory=list[Block])


def parse_odp(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an OpenDocument presentation.

    Raises:
        CorruptDocumentError: not a readable OpenDocument presentation.
        DocumentTooLargeError: it unpacks to more than a document may, or has too many slides.
        EncryptedDocumentError: it is encrypted.
        NoTextError: no text on any slide.
    """
    package = OdfPackage(path, display_name, limits, "ODP")
    pages = list(package.content.iter(odf("draw:page")))
    if len(pages) > limits.max_pages:
        raise DocumentTooLargeError(f"{display_name}: {len(pages)} slides, the limit is {limits.max_pages}")
    flow = OdfFlow(package)
    slides: list[_Slide] = []
    for page in pages:
        slides.append(_slide(page, len(slides) + 1, flow))
        session.page_done(len(slides), len(pages))
    levels = number_levels(slide.rank for slide in slides if slide.title)
    blocks = [block for slide in slides for block in _with_title(slide, levels)]
    if not blocks:
        raise NoTextError(f"{display_name}: the presentation has no text; pictures would need OCR")
    heading = next((slide.title for slide in slides if slide.title), "")
    opening = slides[0].title if slides[0].rank == _TITLE_RANK else ""
    return ParsedDocument(
        format="odp",
        blocks=tuple(blocks),
        page_count=len(pages),
        title=opening or package.title() or heading,
        pages=tuple(_page_yield(slide) for slide in slides),
        notes=_notes(slides, flow),
    )


def _slide(page: Element, number: int, flow: OdfFlow) -> _Slide:
    slide = _Slide(number, hidden=_is_hidden(page, flow))
    shapes = [shape for shape in page if is_shape(shape) and _class(shape) not in _FURNITURE]
    titles = [shape for shape in shapes if _class(shape) == "title"]
    if titles:
        slide.title = plain_text(titles[0])
        shapes.remove(titles[0])
    if any(_class(shape) == "subtitle" for shape in shapes) and not any(_class(one) == "outline" for one in shapes):
        slide.rank = _TITLE_RANK
    before = len(flow.blocks)
    placed: list[Rectangle] = []
    for shape in shapes:
        placed.append(_box(shape) or (placed[-1] if placed else (0, 0, 0, 0)))
    for index in reading_order(placed):
        flow.read([shapes[index]])
    if not slide.title and leads_as_title(flow.blocks[before:]):
        slide.title = flow.blocks[before].text
        before += 1
    flow.read(children(page, "office:annotation"))
    slide.blocks = [_on(block, number) for block in flow.blocks[before:]]
    slide.blocks.extend(_speaker_notes(page, number))
    return slide


def _speaker_notes(page: Element, number: int) -> list[Block]:
    texts = [
        text
        for notes in children(page, "presentation:notes")
        for frame in children(notes, "draw:frame")
        if _class(frame) not in _FURNITURE
        for paragraph in frame.iter(odf("text:p"))
        if (text := paragraph_parts(paragraph)[0])
    ]
    marked = [f"Speaker notes: {text}" if index == 0 else text for index, text in enumerate(texts)]
    return [_on(Block(kind="paragraph", text=text), number) for text in marked]


def _on(block: Block, number: int) -> Block:
    return block.model_copy(update={"page_number": number, "page_end": number})


def _with_title(slide: _Slide, levels: dict[int, int]) -> list[Block]:
    if not slide.title:
        return slide.blocks
    return [_on(Block(kind="heading", text=slide.title, level=levels[slide.rank]), slide.number), *slide.blocks]


def _class(shape: Element) -> str:
    return str(shape.get(odf("presentation:class")) or "")


def _is_hidden(page: Element, flow: OdfFlow) -> bool:
    return any(
        properties.get(odf("presentation:visibility")) == "hidden"
        for style in flow.styles.chain(page, "drawing-page")
        for properties in children(style, "style:drawing-page-properties")
    )


def _box(shape: Element) -> Rectangle | None:
    """Return where a shape stands; a group stands where its shapes do. None where nothing says so."""
    if shape.tag in (odf("draw:g"), odf("draw:a")):
        boxes = [box for one in shape if is_shape(one) and (box := _box(one)) is not None]
        if not boxes:
            return None
        return (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
    moved = _MOVED.search(str(shape.get(odf("draw:transform")) or ""))
    left = _length(moved.group(1) if moved else shape.get(odf("svg:x")) or shape.get(odf("svg:x1")))
    top = _length(moved.group(2) if moved else shape.get(odf("svg:y")) or shape.get(odf("svg:y1")))
    if left is None or top is None:
        return None
    width, height = _length(shape.get(odf("svg:width"))) or 0, _length(shape.get(odf("svg:height"))) or 0
    return left, top, left + width, top + height


def _length(value: object) -> int | None:
    match = _LENGTH.match(str(value))
    return None if match is None else int(float(match.group(1)) * _MICROMETRES.get(match.group(2) or "cm", 1.0))


def _page_yield(slide: _Slide) -> PageYield:
    characters = len(slide.title) + sum(len(block.text) for block in slide.blocks)
    return PageYield(page_number=slide.number, characters=characters)


def _notes(slides: list[_Slide], flow: OdfFlow) -> tuple[str, ...]:
    said: list[str] = []
    hidden = [str(slide.number) for slide in slides if slide.hidden]
    empty = [str(slide.number) for slide in slides if not slide.title and not slide.blocks]
    if hidden:
        said.append(f"hidden slides were read too: {', '.join(hidden)}")
    if empty:
        said.append(f"slides without text: {', '.join(empty)}")
    if flow.comment_count:
        said.append(f"{flow.comment_count} comments stand after their slide")
    return tuple(said)
