"""The text inside pictures of Office files, by OCR: read only where a slide or a document has no other text."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from ingest.parsers.office.drawing_text import A, Element
from ingest.parsers.pictures.ocr import read_picture
from ingest.settings import ParserSettings

_EMBEDDED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
"""Pillow knows more, some of which start other programs."""
_MAX_PIXELS = 50_000_000
_READ_PIXELS = 8_000_000
"""Larger pictures are reduced to this before they are read."""
_BROKEN = (OSError, ValueError, SyntaxError, LookupError, TypeError, EOFError, ArithmeticError)
"""What Pillow raises on damaged files; `SyntaxError` is its own for broken PNG and TIFF."""


def picture_texts(root: Element, part: Any, limits: ParserSettings, most: int) -> Iterator[str]:
    """Yield the text of the first `most` pictures below `root`, as far as they have some; none where OCR is off."""
    if limits.ocr == "off":
        return
    for blip in islice(root.iter(f"{A}blip"), most):
        relation = part.rels.get(blip.get(_EMBEDDED) or "")
        if relation is not None and not relation.is_external:
            text = _text(relation.target_part.blob, limits)
            if text:
                yield text


def _text(content: bytes, limits: ParserSettings) -> str:
    try:
        picture = _decode(content)
    except _BROKEN:
        return ""
    if picture is None:
        return ""
    return "\n".join(line.text for line in read_picture(picture, limits.ocr_threads).lines)


def _decode(content: bytes) -> Any:
    """Return uint8 (height, width, 3) on white; None for pictures that are too large."""
    from PIL import Image

    vendor: Any = Image
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = vendor.open(io.BytesIO(content), formats=_FORMATS)
    if image.width * image.height > _MAX_PIXELS:
        return None
    layer = image.convert("RGBA")
    layer.thumbnail((_side(layer.width, layer.height), _side(layer.height, layer.width)))
    white = vendor.new("RGBA", layer.size, "white")
    white.alpha_composite(layer)
    return np.asarray(white.convert("RGB"), dtype=np.uint8)


def _side(side: int, other: int) -> int:
    return max(1, int(side * min(1.0, (_READ_PIXELS / (side * other)) ** 0.5)))
