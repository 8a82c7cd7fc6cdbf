"""Draws a page of a PDF or a picture as PNG: the boxes of a chunk marked, secrets blackened.

Runs in the sandbox's process, like the parser whose reading of the page it uses: what the page says is
read again here, so that a secret is hidden wherever the recogniser finds it, on scanned pages too.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
from pydantic import Field

from ingest.detect import detect
from ingest.errors import CorruptDocumentError, EncryptedDocumentError, UnsupportedDocumentError
from ingest.parser_session import FrameSession
from ingest.parsers.pdf.ocr import read_page
from ingest.parsers.pdf.page import text_layer
from ingest.parsers.pictures.ocr import turned_box
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument
from retrieval.symbols.fold import fold
from retrieval.symbols.secrets import find_secrets
from retrieval.types import Value

PICTURE = "page.png"
_MAX_PIXELS = 12_000_000
_MARK = (1.0, 0.85, 0.2)


class Drawing(Value):
    """What to draw."""

    page_number: int = Field(ge=1)
    dpi: int = Field(ge=36, le=300)
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    """To be marked; points from the top left of the page as people see it."""
    hides_secrets: bool = True


def draw_page(path: Path, display_name: str, limits: ParserSettings, session: FrameSession) -> ParsedDocument:
    """Draw the page that the session's instructions name, and hand it on as the attachment `page.png`.

    Raises:
        UnsupportedDocumentError: the format has no pages to draw, or the page does not exist.
        EncryptedDocumentError: the password is missing or wrong.
        CorruptDocumentError: the page cannot be drawn.
    """
    drawing = Drawing.model_validate(session.instructions)
    if detect(path, display_name) not in ("pdf", "image"):
        raise UnsupportedDocumentError(f"{display_name}: only pages of PDFs and pictures can be drawn")
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    vendor: Any = pymupdf
    try:
        with pymupdf.open(str(path)) as document:
            if document.needs_pass and not document.authenticate(session.password or ""):
                raise EncryptedDocumentError(f"{display_name}: the page is encrypted and no password opens it")
            if drawing.page_number > document.page_count:
                raise UnsupportedDocumentError(
                    f"{display_name}: there is no page {drawing.page_number}, it has {document.page_count}"
                )
            picture = _draw(document[drawing.page_number - 1], drawing, limits)
            session.attach(PICTURE, [picture])
            return ParsedDocument(format="image", blocks=(), page_count=document.page_count)
    except (vendor.mupdf.FzErrorBase, RuntimeError, ValueError) as exc:
        raise CorruptDocumentError(f"{display_name}: the page cannot be drawn ({type(exc).__name__})") from exc


def _draw(page: Any, drawing: Drawing, limits: ParserSettings) -> bytes:
    # Found before anything is drawn over the page.
    secrets = _secrets(page, drawing.page_number, limits) if drawing.hides_secrets else []
    for box in drawing.boxes:
        _fill(page, pymupdf.Rect(box) * page.derotation_matrix, _MARK, 0.35)
    for rectangle in secrets:
        _fill(page, rectangle, (0.0, 0.0, 0.0), 1.0)
    inches = max(1e-6, float(page.rect.width * page.rect.height) / 72**2)
    dpi = max(1, min(drawing.dpi, int(math.sqrt(_MAX_PIXELS / inches))))
    return page.get_pixmap(dpi=dpi, alpha=False).tobytes("png")


def _fill(page: Any, rectangle: Any, colour: Sequence[float], opacity: float) -> None:
    page.draw_rect(rectangle.normalize(), color=None, fill=colour, fill_opacity=opacity, overlay=True)


def _secrets(page: Any, number: int, limits: ParserSettings) -> list[Any]:
    """Return the places of secrets, in the coordinates of the page as it lies in the file."""
    return _in_text_layer(page) + _in_pictures(page, number, limits)


def _in_text_layer(page: Any) -> list[Any]:
    """Look through the characters in their order, so that a number broken over a line end is found."""
    letters: list[tuple[str, Any]] = []
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", ()):
            letters += [(letter["c"], letter["bbox"]) for span in line["spans"] for letter in span["chars"]]
            letters.append(("\n", None))
    # One place per letter, for the spans found are counted in letters.
    written = "".join(letter if len(letter) == 1 else "\ufffd" for letter, _ in letters)
    return [
        pymupdf.Rect(box)
        for secret in find_secrets(fold(written))
        for _, box in letters[secret.start : secret.end]
        if box is not None
    ]


def _in_pictures(page: Any, number: int, limits: ParserSettings) -> list[Any]:
    """Read pictures on the page, the whole page where it is one; a line of theirs is hidden whole."""
    text = read_page(page, number, text_layer(page, number), limits.model_copy(update={"ocr": "images"})).text
    if not text.ocr:
        return []
    width, height = float(page.rect.width), float(page.rect.height)
    if text.turn in (90, 270):
        width, height = height, width
    written, starts = "", list[int]()
    for line in text.lines:
        starts.append(len(written))
        written += line.text + "\n"
    hidden: list[Any] = []
    spans = [(secret.start, secret.end) for secret in find_secrets(fold(written))]
    for start, line in zip(starts, text.lines, strict=True):
        if any(start < stop and begin < start + len(line.text) for begin, stop in spans):
            box = turned_box((line.x0, line.y0, line.x1, line.y1), (360 - text.turn) % 360, width, height)
            hidden.append(pymupdf.Rect(box) * page.derotation_matrix)
    return hidden
