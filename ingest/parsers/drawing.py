"""Draws a page as PNG: the boxes of a chunk marked, secrets blackened. The handler of the drawing processes.

What the page says is read again here, so that a secret is hidden wherever the recogniser finds it. All is
painted on the picture of the page, never on the page itself: form fields and annotations lie above that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ingest.detect import detect
from ingest.errors import UnsupportedDocumentError
from ingest.parser_session import FrameSession
from ingest.parsers.pictures.canvas import Canvas, Drawing
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

PICTURE = "page.png"
_MARK = (255, 217, 51)


def draw_page(path: Path, display_name: str, limits: ParserSettings, session: FrameSession) -> ParsedDocument:
    """Draw the page that the session's instructions name, and hand it on as the attachment `page.png`.

    The PNG's own resolution is such that 72 of its dots to the inch are one unit of the document's boxes.

    Raises:
        UnsupportedDocumentError: the format has no pages to draw, or the page does not exist.
        EncryptedDocumentError: the password is missing or wrong.
        CorruptDocumentError: the page cannot be drawn.
    """
    drawing = Drawing.model_validate(session.instructions)
    match detect(path, display_name):
        case "pdf":
            from ingest.parsers.pdf.drawing import pdf_page

            canvas = pdf_page(path, display_name, limits, session.password, drawing)
        case "image":
            from ingest.parsers.pictures.image import picture_page

            canvas = picture_page(path, display_name, limits, drawing)
        case _:
            raise UnsupportedDocumentError(f"{display_name}: only pages of PDFs and pictures can be drawn")
    session.attach(PICTURE, [_painted(canvas, drawing)])
    return ParsedDocument(format="image", blocks=())


def _painted(canvas: Canvas, drawing: Drawing) -> bytes:
    picture = canvas.picture.copy()
    for box in drawing.boxes:
        rows, columns = _area(canvas, box)
        tinted = 0.65 * picture[rows, columns] + 0.35 * np.array(_MARK)
        picture[rows, columns] = tinted.astype(np.uint8)
    for box in canvas.secrets:
        rows, columns = _area(canvas, box)
        picture[rows, columns] = 0
    return _png(picture, canvas.scale)


def _area(canvas: Canvas, box: tuple[float, float, float, float]) -> tuple[slice, slice]:
    height, width = canvas.picture.shape[:2]
    x0, y0, x1, y1 = (value * canvas.scale for value in box)
    left, top = max(0, int(np.floor(x0))), max(0, int(np.floor(y0)))
    return slice(top, min(height, int(np.ceil(y1)))), slice(left, min(width, int(np.ceil(x1))))


def _png(picture: Any, scale: float) -> bytes:
    import io

    from PIL import Image

    stream = io.BytesIO()
    vendor: Any = Image
    vendor.fromarray(picture).save(stream, "PNG", dpi=(72 * scale, 72 * scale))
    return stream.getvalue()
