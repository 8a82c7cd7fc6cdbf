"""Lines of a PDF page as plain values, and how many of their characters are garbled. Knows nothing of PyMuPDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from ingest.parsers.header_rows import is_figure
from ingest.parsers.text.joining import collapse, is_cjk
from ingest.types import Block

_BOLD_FONT = re.compile(r"bold|black|heavy|semibd|demi|simhei|黑体|-hei|heiti", re.I)
_SYMBOL_GLYPHS = str.maketrans({
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0d8": "➢",
    "\uf0fc": "✓",
    "\uf06c": "●",
    "\uf06e": "■",
    "\uf0a8": "□",
    "\uf076": "❖",
    "\uf02d": "-",
    "\uf020": " ",
})
"""Bullets of Symbol and Wingdings, which PDFs keep in the private use area."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_GARBLED = re.compile("[\ufffd\x00-\x1f\x7f-\x9f\ue000-\uf8ff\U000f0000-\U0010ffff]+")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+")
_LEAD_NUMBER = re.compile(
    r"(?:[\dIVXivx]{1,4}(?:\.\d+)*[.)、．]?|[•·●○▪■◆▶➢✓❖–-]|[（(][\d一二三四五六七八九十]{1,3}[）)]|第.{1,4}[章节条])$"
)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line, or a table standing in a line's place (`table`), on one page, in points from the top left.

    Lines are told apart by identity: they are looked up in sets, and hashing ten fields costs more than the rest.
    """

    text: str
    page_number: int
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    upright: bool = True
    """False for text that runs vertically or at an angle."""
    table: Block | None = None

    @property
    def width(self) -> float:
        """Points from the left to the right edge."""
        return self.x1 - self.x0

    @property
    def middle_x(self) -> float:
        """Horizontal middle."""
        return (self.x0 + self.x1) / 2

    @property
    def middle_y(self) -> float:
        """Vertical middle."""
        return (self.y0 + self.y1) / 2


def raw_text(blocks: Iterable[dict[str, Any]]) -> str:
    """Return all characters of a page as they come, for counting."""
    return "".join(
        span["text"] for block in blocks for line in block.get("lines", ()) for span in line["spans"]
    ).translate(_SYMBOL_GLYPHS)


def clean(text: str) -> str:
    """Give symbol glyphs their characters, drop control characters, and collapse white space."""
    return collapse(_CONTROLS.sub(" ", text.translate(_SYMBOL_GLYPHS)))


def line_of(raw: dict[str, Any], page_number: int) -> Line | None:
    """Read a line of PyMuPDF's `dict` output; None where it has no visible characters."""
    spans: list[dict[str, Any]] = [span for span in raw["spans"] if span["text"].strip()]
    text = clean("".join(span["text"] for span in raw["spans"]))
    if not spans or not text:
        return None
    weights = [len(span["text"].strip()) for span in spans]
    size = max(zip(weights, (span["size"] for span in spans), strict=True))[1]
    bold = sum(weight for weight, span in zip(weights, spans, strict=True) if is_bold(span["flags"], span["font"]))
    x0, y0, x1, y1 = raw["bbox"]
    return Line(text, page_number, x0, y0, x1, y1, round(float(size), 1), bold * 2 > sum(weights))


def is_bold(flags: int, font: str) -> bool:
    """Tell a bold span by PyMuPDF's flag (bit 4) or by the font's name."""
    return bool(flags & 16) or _BOLD_FONT.search(font) is not None


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines that stand side by side, rows from top to bottom, each from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.middle_y, line.x0)):
        row = rows[-1] if rows else None
        if row is not None and _same_row(row[0], line):
            row.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in rows]


def _same_row(left: Line, right: Line) -> bool:
    if left.table is not None or right.table is not None:
        return False
    overlap = min(left.y1, right.y1) - max(left.y0, right.y0)
    return overlap > 0.5 * min(left.y1 - left.y0, right.y1 - right.y0)


def mend_rows(lines: Sequence[Line]) -> list[Line]:
    """Join pieces that MuPDF cut although they are one line: small gaps, and numbers set apart from their heading."""
    mended: list[Line] = [line for line in lines if not line.upright or line.table is not None]
    for row in rows_of([line for line in lines if line.upright and line.table is None]):
        mended.extend(_mend_row(row))
    return mended


def _mend_row(row: list[Line]) -> list[Line]:
    """Join neighbours; a right-to-left row is read from its right end."""
    if len(row) > 1 and is_right_to_left(row):
        row = row[::-1]
    mended = [row[0]]
    for piece in row[1:]:
        current = mended[-1]
        gap = max(piece.x0 - current.x1, current.x0 - piece.x1)
        limit = 3.5 if _LEAD_NUMBER.match(current.text) else 0.9
        if is_figure(current.text) and is_figure(piece.text):
            # Columns of figures stand closer than words that MuPDF takes apart.
            limit = 0.3
        if gap <= limit * max(current.size, piece.size):
            mended[-1] = joined(current, piece)
        else:
            mended.append(piece)
    return mended


def joined(left: Line, right: Line) -> Line:
    """Return two pieces of one row as one line; `left` is read first, wherever it stands."""
    close = max(right.x0 - left.x1, left.x0 - right.x1) < 0.1 * left.size
    no_space = close or (is_cjk(left.text[-1]) and is_cjk(right.text[0]))
    text = left.text + ("" if no_space else " ") + right.text
    larger = left if len(left.text) >= len(right.text) else right
    return replace(
        left,
        text=text,
        x0=min(left.x0, right.x0),
        x1=max(left.x1, right.x1),
        y0=min(left.y0, right.y0),
        y1=max(left.y1, right.y1),
        size=larger.size,
        bold=larger.bold,
    )


def is_right_to_left(lines: Iterable[Line]) -> bool:
    """Tell whether most letters are Hebrew or Arabic."""
    text = "".join(line.text for line in lines)
    if _RIGHT_TO_LEFT.search(text) is None:
        return False
    letters = sum(1 for character in text if character.isalpha())
    return sum(map(len, _RIGHT_TO_LEFT.findall(text))) * 2 > letters > 0


def body_size(lines: Iterable[Line]) -> float:
    """Return the type size that most characters have; 0 without lines."""
    weights: dict[float, int] = {}
    for line in lines:
        if line.table is None:
            size = round(line.size * 2) / 2
            weights[size] = weights.get(size, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size)) if weights else 0.0


def median_size(lines: Sequence[Line]) -> float:
    """Return the median type size of lines."""
    return median(line.size for line in lines)


def garbled_ratio(text: str) -> float:
    """Return the share of visible characters without meaning: U+FFFD, private use, controls. 0 for empty text."""
    visible = visible_characters(text)
    if not visible or _GARBLED.search(text) is None:
        return 0.0
    return visible_characters("".join(_GARBLED.findall(text))) / visible


def visible_characters(text: str) -> int:
    """Return how many characters are no white space."""
    return len("".join(text.split()))
