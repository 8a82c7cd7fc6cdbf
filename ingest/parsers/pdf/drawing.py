"""The picture of a PDF's page, and where its secrets stand."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from ingest.errors import CorruptDocumentError, UnsupportedDocumentError
from ingest.parsers.pdf.legibility import illegible_ratio
from ingest.parsers.pdf.password import unlock
from ingest.parsers.pictures.canvas import Canvas, Drawing, PlacedBox, secrets_of_picture
from ingest.parsers.pictures.ocr import Picture
from ingest.settings import ParserSettings

_MAX_PIXELS = 12_000_000
_READ_DPI = 200
_READ_PIXELS = 6_000_000
_MAX_PICTURES = 12
"""Pictures of a page that are read, the largest; what is beyond is blackened unread."""
_SMALLEST = 8.0
"""Points; nothing can be read in a picture that is lower or narrower."""
_MAX_GARBLED = 0.1


def pdf_page(path: Path, display_name: str, limits: ParserSettings, password: str | None, drawing: Drawing) -> Canvas:
    """Render a page, and find its secrets in the text layer and in every picture on it."""
    vendor: Any = pymupdf
    vendor.TOOLS.mupdf_display_errors(False)
    vendor.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(str(path), filetype="pdf") as document:
            unlock(document, password, display_name)
            if drawing.page_number > document.page_count:
                raise UnsupportedDocumentError(
                    f"{display_name}: there is no page {drawing.page_number}, it has {document.page_count}"
                )
            page = document[drawing.page_number - 1]
            picture, scale = _render(page, drawing.dpi, _MAX_PIXELS)
            secrets = (
                _in_text_layer(page, drawing) + _in_pictures(page, limits, drawing) if drawing.hides_secrets else []
            )
            return Canvas(picture, scale, tuple(secrets))
    except (vendor.mupdf.FzErrorBase, RuntimeError, ValueError) as exc:
        raise CorruptDocumentError(f"{display_name}: the page cannot be drawn ({type(exc).__name__})") from exc


def _render(page: Any, dpi: int, max_pixels: int) -> tuple[Picture, float]:
    """Return the page's picture and its pixels per point."""
    inches = max(1e-6, float(page.rect.width * page.rect.height) / 72**2)
    allowed = max(1, min(dpi, int(math.sqrt(max_pixels / inches))))
    pixmap = page.get_pixmap(dpi=allowed, alpha=False)
    samples = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
    rgb = samples[:, :, :3] if pixmap.n >= 3 else np.repeat(samples[:, :, :1], 3, axis=2)
    return np.ascontiguousarray(rgb), allowed / 72


def _in_text_layer(page: Any, drawing: Drawing) -> list[PlacedBox]:
    """Look through the characters in their order, so that a number broken over a line end is found."""
    letters = _letters(page)
    # One place per letter, for the spans found are counted in letters.
    written = "".join(letter if len(letter) == 1 else "\ufffd" for letter, _ in letters)
    return [
        _as_seen(page, box)
        for start, end in drawing.secrets_in(written)
        for _, box in letters[start:end]
        if box is not None
    ]


def _letters(page: Any) -> list[tuple[str, Any]]:
    letters: list[tuple[str, Any]] = []
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", ()):
            letters += [(letter["c"], letter["bbox"]) for span in line["spans"] for letter in span["chars"]]
            letters.append(("\n", None))
    return letters


def _as_seen(page: Any, box: Any) -> PlacedBox:
    rectangle = (pymupdf.Rect(box) * page.rotation_matrix).normalize()
    return (rectangle.x0, rectangle.y0, rectangle.x1, rectangle.y1)


def _in_pictures(page: Any, limits: ParserSettings, drawing: Drawing) -> list[PlacedBox]:
    """Read the whole page where its text layer says nothing, and every picture by itself, whichever way it stands."""
    text = "".join(letter for letter, box in _letters(page) if box is not None)
    areas = sorted({_as_seen(page, info["bbox"]) for info in page.get_image_info()}, key=_size, reverse=True)
    whole = (0.0, 0.0, float(page.rect.width), float(page.rect.height))
    areas = [area for area in (_inside(area, whole) for area in areas) if _is_readable(area)]
    if not text.strip() or illegible_ratio(text) > _MAX_GARBLED:
        areas.insert(0, whole)
    if not areas:
        return []
    picture, scale = _render(page, _READ_DPI, _READ_PIXELS)
    hidden = list(areas[_MAX_PICTURES:])
    for area in areas[:_MAX_PICTURES]:
        left, top, right, bottom = (int(value * scale) for value in area)
        cut = picture[top : bottom + 1, left : right + 1]
        hidden += [
            ((x0 + left) / scale, (y0 + top) / scale, (x1 + left) / scale, (y1 + top) / scale)
            for x0, y0, x1, y1 in secrets_of_picture(np.ascontiguousarray(cut), limits.ocr_threads, drawing)
        ]
    return hidden


def _inside(area: PlacedBox, whole: PlacedBox) -> PlacedBox:
    return (max(area[0], 0.0), max(area[1], 0.0), min(area[2], whole[2]), min(area[3], whole[3]))


def _size(area: PlacedBox) -> float:
    return (area[2] - area[0]) * (area[3] - area[1])


def _is_readable(area: PlacedBox) -> bool:
    return area[2] - area[0] >= _SMALLEST and area[3] - area[1] >= _SMALLEST
