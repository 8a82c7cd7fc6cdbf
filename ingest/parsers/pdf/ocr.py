"""Pages of a PDF that are read from their picture: those without text, with garbled text, or with a few stamped words.

Takes pages of PyMuPDF, but does not import it. Which pages is decided by looks that
cost milliseconds: a page that goes to OCR costs seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingest.parsers.pdf.legibility import is_in_foreign_script
from ingest.parsers.pdf.lines import Line
from ingest.parsers.pdf.page import PageContent, PageText
from ingest.parsers.pictures.ocr import OcrLine, Picture, Reading, read_picture, turned_box
from ingest.settings import ParserSettings
from ingest.types import Box, ParsedDocument

_DPI = 200
_MAX_PIXELS = 6_000_000
"""Of a rendered page: A4 at 250 dpi. Larger pages are rendered more coarsely, whatever their box says."""
_MAX_IMAGE_PIXELS = 150_000_000
"""A picture with more is not decoded: it would need half a gigabyte."""
_MAX_GARBLED = 0.1
_MIN_GARBLED = 8
"""Characters: a formula's few odd signs are no reason to read a page again."""
_MOSTLY_GARBLED = 0.4
_STAMP_CHARACTERS = 100
_MIN_COVER = 0.6
"""Share of the page that pictures cover where few words beside them are a stamp, not the text."""
_LARGE_PICTURE = 0.04
"""Share of the page; smaller pictures are logos."""
_TYPE_SIZE = 0.78
"""Type size over the height of a line's box."""
_SIZE_STEP = 1.3


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text to go on with, and a remark for the notes; empty where the text layer was good."""

    text: PageText
    remark: str = ""


def read_page(page: Any, number: int, layer: PageText, limits: ParserSettings) -> PageReading:
    """Return the page's text: the layer as it is, or read from the picture where that says more.

    Args:
        page: PyMuPDF's page.
        number: its number from 1.
        layer: the text layer.
        limits: its `ocr` says which pages may be read.
    """
    ratio = layer.garbled_ratio
    is_garbled = _is_garbled(layer, ratio)
    may_be_stamped = layer.characters < _STAMP_CHARACTERS
    if limits.ocr == "off":
        return PageReading(layer, "" if layer.lines or not page.get_images() else "pictures, with OCR switched off")
    if not (is_garbled or may_be_stamped or limits.ocr == "images"):
        # The look at the pictures costs as much as the text.
        return PageReading(layer)
    images = [info for info in page.get_image_info() if _area(info["bbox"]) > 0]
    cover = sum(_area(info["bbox"]) for info in images) / max(1.0, float(page.rect.width * page.rect.height))
    is_stamped = may_be_stamped and cover >= _MIN_COVER
    wants_pictures = limits.ocr == "images" and any(_is_large(info, page) for info in images)
    if not (is_garbled or is_stamped or wants_pictures or layer.characters == 0):
        return PageReading(layer)
    if any(info["width"] * info["height"] > _MAX_IMAGE_PIXELS for info in images):
        return PageReading(layer, "pictures too large to be read")
    picture, dpi = _render(page, images)
    reading = read_picture(picture, limits.ocr_threads)
    read = _as_text(reading, number, 72 / dpi)
    if is_garbled:
        return _better(layer, read, ratio)
    if not reading.lines:
        return PageReading(layer, "pictures without text" if images and not layer.lines else "")
    if not layer.lines:
        return PageReading(read, "read by OCR")
    added = _beside(layer, read)
    if not added:
        return PageReading(layer)
    characters = layer.characters + sum(_visible(line.text) for line in added)
    return PageReading(
        replace(layer, lines=[*layer.lines, *added], characters=characters, ocr=True), "pictures read by OCR"
    )


def _is_garbled(layer: PageText, ratio: float) -> bool:
    is_much = ratio > _MAX_GARBLED and ratio * layer.characters >= _MIN_GARBLED
    # On a page of a few characters it is the share alone that counts.
    if not is_much and ratio <= _MOSTLY_GARBLED:
        return False
    return not is_in_foreign_script(" ".join(line.text for line in layer.lines))


def _area(box: Sequence[float]) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _is_large(info: dict[str, Any], page: Any) -> bool:
    return _area(info["bbox"]) >= _LARGE_PICTURE * page.rect.width * page.rect.height


def _render(page: Any, images: Sequence[dict[str, Any]]) -> tuple[Picture, int]:
    """Render at 200 dpi, at a scan's own resolution where it is finer, never beyond the bound on pixels."""
    inches = max(1e-6, float(page.rect.width * page.rect.height) / 72**2)
    allowed = math.sqrt(_MAX_PIXELS / inches)
    native = max((72 * info["width"] / max(1.0, info["bbox"][2] - info["bbox"][0]) for info in images), default=0.0)
    dpi = max(1, int(min(allowed, max(_DPI, min(native, 2 * _DPI)))))
    pixmap = page.get_pixmap(dpi=dpi, alpha=False)
    samples = np.frombuffer(pixmap.samples, dtype=np.uint8)
    return samples.reshape(pixmap.height, pixmap.width, pixmap.n)[:, :, :3], dpi


def _as_text(reading: Reading, number: int, scale: float) -> PageText:
    lines = lines_of_reading(reading, number, scale)
    characters = sum(_visible(line.text) for line in lines)
    return PageText(lines, characters, garbled_ratio=0.0, ocr=True, turn=reading.turn)


def lines_of_reading(reading: Reading, number: int, scale: float) -> list[Line]:
    """Return the lines of a page; type sizes are a few steps apart, for boxes differ with the letters in them.

    Args:
        reading: what was read; its lines stand upright.
        number: the page's number.
        scale: points per pixel.
    """
    heights = sorted(line.height for line in reading.lines for _ in line.text)
    body = max(1.0, heights[len(heights) // 2]) if heights else 1.0
    return [_line(line, number, scale, body) for line in reading.lines]


def _line(line: OcrLine, number: int, scale: float, body: float) -> Line:
    steps = round(math.log(max(1.0, line.height) / body, _SIZE_STEP))
    size = round(body * _SIZE_STEP**steps * scale * _TYPE_SIZE, 1)
    return Line(line.text, number, line.x0 * scale, line.y0 * scale, line.x1 * scale, line.y1 * scale, size)


def _visible(text: str) -> int:
    return sum(1 for character in text if not character.isspace())


def _better(layer: PageText, read: PageText, ratio: float) -> PageReading:
    """Keep what has more characters that mean something."""
    if read.characters > layer.characters * (1 - ratio):
        return PageReading(read, "garbled text layer, read by OCR instead")
    return PageReading(layer, "garbled text layer, kept for OCR gave less")


def _beside(layer: PageText, read: PageText) -> list[Line]:
    """Return the recognised lines that the text layer does not have already."""
    if read.turn != layer.turn:
        return []
    return [line for line in read.lines if not any(_overlaps(line, known) for known in layer.lines)]


def _overlaps(line: Line, known: Line) -> bool:
    width = min(line.x1, known.x1) - max(line.x0, known.x0)
    height = min(line.y1, known.y1) - max(line.y0, known.y0)
    return width > 0 and height > 0.4 * min(line.y1 - line.y0, known.y1 - known.y0)


def turn_boxes_back(document: ParsedDocument, pages: Sequence[PageContent]) -> ParsedDocument:
    """Put the boxes of pages that were turned to be read back onto the pages as they lie."""
    turned = {page.number: page for page in pages if page.turn}
    if not turned:
        return document
    blocks = tuple(
        block.model_copy(update={"boxes": tuple(_turned_back(box, turned) for box in block.boxes)})
        for block in document.blocks
    )
    return document.model_copy(update={"blocks": blocks})


def _turned_back(box: Box, turned: Mapping[int, PageContent]) -> Box:
    page = turned.get(box.page_number)
    if page is None:
        return box
    x0, y0, x1, y1 = turned_box((box.x0, box.y0, box.x1, box.y1), 360 - page.turn, page.width, page.height)
    return Box(page_number=box.page_number, x0=x0, y0=y0, x1=x1, y1=y1)
