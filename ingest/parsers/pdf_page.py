"""One page of a PDF as plain values: its lines, its tables, and what the admission report says of it.

Takes pages of PyMuPDF, but does not import it; nothing of PyMuPDF is left in what it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.parsers.pdf_lines import Line, clean, garbled_ratio, lines_of_page, mend_rows, raw_text
from ingest.parsers.pdf_tables import FoundTable, borderless_tables, inside, may_have_ruled_table, ruled_tables
from ingest.types import PageYield

_FLAGS = 2 | 64
"""PyMuPDF's TEXT_PRESERVE_WHITESPACE and TEXT_MEDIABOX_CLIP."""
_MIN_TABLE_LINES = 3


@dataclass(slots=True)
class PageText:
    """The text of a page before tables are looked for, in the coordinates of the page as people see it."""

    lines: list[Line]
    characters: int
    """Visible characters."""
    garbled_ratio: float
    ocr: bool = False
    """True where the lines were read from the page's picture."""


@dataclass(slots=True)
class PageContent:
    """What a page gives. `lines` are those outside its tables."""

    number: int
    height: float = 0.0
    lines: list[Line] = field(default_factory=list[Line])
    tables: list[FoundTable] = field(default_factory=list[FoundTable])
    characters: int = 0
    garbled_ratio: float = 0.0
    ocr: bool = False
    is_damaged: bool = False
    is_picture: bool = False
    """It has pictures and no text."""

    def as_yield(self) -> PageYield:
        """Return the page's line of the admission report."""
        return PageYield(
            page_number=self.number, characters=self.characters, garbled_ratio=self.garbled_ratio, ocr=self.ocr
        )


def text_layer(page: Any, number: int) -> PageText:
    """Read the text that the PDF itself has for a page."""
    blocks = page.get_text("dict", flags=_FLAGS)["blocks"]
    lines = lines_of_page(blocks, number)
    if page.rotation:
        # Text comes in the coordinates of the unrotated page; people see the rotated one.
        lines = [_rotated(line, page.rotation_matrix, page.rotation) for line in lines]
    text = raw_text(blocks)
    return PageText(lines, sum(1 for character in text if not character.isspace()), garbled_ratio(text))


def page_content(page: Any, number: int, text: PageText) -> PageContent:
    """Find the tables of a page; its other lines stay lines."""
    tables = _ruled_tables(page, text, number)
    lines = mend_rows(_outside(text.lines, tables))
    tables += borderless_tables(lines)
    return PageContent(
        number=number,
        height=float(page.rect.height),
        lines=_outside(lines, tables),
        tables=tables,
        characters=text.characters,
        garbled_ratio=text.garbled_ratio,
        ocr=text.ocr,
        is_picture=not text.lines and bool(page.get_images()),
    )


def _rotated(line: Line, matrix: Any, rotation: int) -> Line:
    x0, y0, x1, y1 = _turned((line.x0, line.y0, line.x1, line.y1), matrix)
    return replace(line, x0=x0, y0=y0, x1=x1, y1=y1, upright=line.upright if rotation == 180 else not line.upright)


def _turned(box: Sequence[float], matrix: Any) -> tuple[float, float, float, float]:
    a, b, c, d, e, f = matrix
    xs = sorted((box[0] * a + box[1] * c + e, box[2] * a + box[3] * c + e))
    ys = sorted((box[0] * b + box[1] * d + f, box[2] * b + box[3] * d + f))
    return xs[0], ys[0], xs[1], ys[1]


def _ruled_tables(page: Any, text: PageText, number: int) -> list[FoundTable]:
    if len(text.lines) < _MIN_TABLE_LINES or not may_have_ruled_table(page.get_bboxlog()):
        return []
    return ruled_tables(page, text.lines if text.ocr else _words(page, number))


def _words(page: Any, number: int) -> list[Line]:
    matrix = page.rotation_matrix
    return [
        Line(clean(word), number, *_turned(box, matrix), size=10.0)
        for *box, word, _, _, _ in page.get_text("words", sort=False)
        if clean(word)
    ]


def _outside(lines: Sequence[Line], tables: Sequence[FoundTable]) -> list[Line]:
    return [line for line in lines if not (line.upright and any(inside(line, table.area) for table in tables))]
