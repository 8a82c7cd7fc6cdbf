"""Pictures as documents: photographs and scans of receipts, letters, pages. Each frame of a TIFF is a page.

Opened by Pillow, read by OCR, then laid out as a PDF page is.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError, UnsupportedDocumentError
from ingest.parsers.pdf.assembly import assemble
from ingest.parsers.pdf.columns import borderless_tables
from ingest.parsers.pdf.lines import mend_rows
from ingest.parsers.pdf.ocr import lines_of_reading, turn_boxes_back
from ingest.parsers.pdf.page import PageContent
from ingest.parsers.pdf.tables import inside
from ingest.parsers.pictures.canvas import Canvas, Drawing, PlacedBox, secrets_of_picture
from ingest.parsers.pictures.ocr import Picture, read_picture
from ingest.parsers.session import QUIET, ParseSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

_MAX_PIXELS = 150_000_000
"""Of one picture as it is stored; a telephone's largest has 200 million, and is reduced while it is decoded."""
_READ_PIXELS = 8_000_000
"""Larger pictures are reduced to this before they are read."""
_SHEET_INCHES = 11.7
"""Height of the sheet that a picture is drawn as: A4."""
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
"""Pillow knows more, some of which start other programs."""
_MANY_FRAMES = frozenset({"TIFF"})
"""Formats whose frames are pages; those of others are animations, of which the first counts."""
_BROKEN = (OSError, ValueError, SyntaxError, LookupError, TypeError, EOFError, ArithmeticError)
"""What Pillow raises on damaged files; `SyntaxError` is its own for broken PNG and TIFF."""


def parse_image(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Read a picture's text. Boxes are in pixels of the picture as people see it.

    Raises:
        NoTextError: there is no text in it, or OCR is switched off.
        DocumentTooLargeError: too many pixels, or more frames than `limits.max_pages`.
        CorruptDocumentError: it cannot be decoded.
    """
    if limits.ocr == "off":
        raise NoTextError(f"{display_name}: a picture has no text but by OCR, which is switched off")
    pages: list[PageContent] = []
    try:
        with _open(path) as image:
            total = _frames(image, display_name, limits)
            session.page_done(0, total)
            for index in range(total):
                number = index + 1
                pages.append(
                    PageContent(number)
                    if session.skips(number)
                    else _read_frame(image, index, number, display_name, limits)
                )
                session.page_done(number, total)
    except _BROKEN as exc:
        raise CorruptDocumentError(
            f"{display_name}: the picture is damaged and cannot be read ({type(exc).__name__})"
        ) from exc
    if not any(page.lines or page.tables for page in pages):
        raise NoTextError(f"{display_name}: OCR found no text in the picture")
    document = turn_boxes_back(assemble(pages, (), ""), pages)
    return document.model_copy(update={"format": "image"})


def picture_page(path: Path, display_name: str, limits: ParserSettings, drawing: Drawing) -> Canvas:
    """Return a picture, or a frame of it, with the places of its secrets.

    It is drawn in the size of a sheet of paper at the resolution asked for, never larger than it is.

    Raises:
        UnsupportedDocumentError: there is no such frame.
        DocumentTooLargeError: too many pixels.
        CorruptDocumentError: it cannot be decoded.
    """
    try:
        with _open(path) as image:
            total = _frames(image, display_name, limits)
            if drawing.page_number > total:
                raise UnsupportedDocumentError(
                    f"{display_name}: there is no page {drawing.page_number}, it has {total}"
                )
            if drawing.page_number > 1:
                image.seek(drawing.page_number - 1)
            picture, seen = _decode(image, display_name)
            secrets = secrets_of_picture(picture, limits.ocr_threads, drawing) if drawing.hides_secrets else []
            return _reduced(picture, seen, secrets, drawing.dpi)
    except _BROKEN as exc:
        raise CorruptDocumentError(
            f"{display_name}: the picture is damaged and cannot be drawn ({type(exc).__name__})"
        ) from exc


def _reduced(picture: Picture, seen: float, secrets: list[PlacedBox], dpi: int) -> Canvas:
    from PIL import Image

    vendor: Any = Image
    longest = max(picture.shape[:2])
    factor = min(1.0, dpi * _SHEET_INCHES / longest)
    size = max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor))
    drawn = np.asarray(vendor.fromarray(picture).resize(size), dtype=np.uint8)
    places = tuple((x0 * seen, y0 * seen, x1 * seen, y1 * seen) for x0, y0, x1, y1 in secrets)
    return Canvas(drawn, factor / seen, places)


def _open(path: Path) -> Any:
    from PIL import Image

    vendor: Any = Image
    # Pixels are bounded here, by what the settings and the memory allow.
    vendor.MAX_IMAGE_PIXELS = None
    vendor.init()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vendor.open(path, formats=_FORMATS)


def _frames(image: Any, display_name: str, limits: ParserSettings) -> int:
    total: int = getattr(image, "n_frames", 1) if image.format in _MANY_FRAMES else 1
    if total > limits.max_pages:
        raise DocumentTooLargeError(f"{display_name}: {total} pages, the limit is {limits.max_pages}")
    return total


def _read_frame(image: Any, index: int, number: int, display_name: str, limits: ParserSettings) -> PageContent:
    if index:
        image.seek(index)
    picture, scale = _decode(image, display_name)
    reading = read_picture(picture, limits.ocr_threads)
    lines = mend_rows(lines_of_reading(reading, number, scale))
    tables = borderless_tables(lines)
    height, width = picture.shape[0] * scale, picture.shape[1] * scale
    sideways = reading.turn in (90, 270)
    return PageContent(
        number,
        height=width if sideways else height,
        width=height if sideways else width,
        lines=[line for line in lines if not any(inside(line, table.area) for table in tables)],
        tables=tables,
        characters=sum(len("".join(line.text.split())) for line in reading.lines),
        ocr=True,
        turn=reading.turn,
    )


def _decode(image: Any, display_name: str) -> tuple[Picture, float]:
    """Return the frame upright by its own mark, and how many of its pixels one of the returned ones is."""
    from PIL import ImageOps

    vendor: Any = ImageOps
    width, height = image.size
    if image.format in ("JPEG", "MPO") and width * height > _READ_PIXELS:
        # JPEG decodes to a half, a quarter or an eighth without ever holding the whole.
        factor = (_READ_PIXELS / (width * height)) ** 0.5
        image.draft("RGB", (int(width * factor), int(height * factor)))
    stored = image.size[0] * image.size[1]
    if stored > _MAX_PIXELS or width * height > 8 * _MAX_PIXELS:
        raise DocumentTooLargeError(f"{display_name}: a picture of {width} x {height} pixels is too large")
    upright = vendor.exif_transpose(image)
    if upright.mode in ("RGBA", "LA", "PA", "P"):
        upright = _on_white(upright)
    if upright.mode.startswith(("I", "F")):
        upright = _eight_bits(upright)
    upright = upright.convert("RGB")
    if stored > _READ_PIXELS:
        factor = (_READ_PIXELS / stored) ** 0.5
        upright.thumbnail((max(1, int(upright.width * factor)), max(1, int(upright.height * factor))))
    seen = max(width, height) / max(upright.width, upright.height)
    return np.asarray(upright, dtype=np.uint8), seen


def _on_white(image: Any) -> Any:
    from PIL import Image

    vendor: Any = Image
    front = image.convert("RGBA")
    return vendor.alpha_composite(vendor.new("RGBA", front.size, "white"), front)


def _eight_bits(image: Any) -> Any:
    """Spread 16-bit and float samples over eight bits; Pillow would cut them off."""
    from PIL import Image

    vendor: Any = Image
    samples = np.asarray(image, dtype=np.float32)
    low, high = float(samples.min()), float(samples.max())
    return vendor.fromarray(((samples - low) * (255.0 / max(high - low, 1e-9))).astype(np.uint8))
