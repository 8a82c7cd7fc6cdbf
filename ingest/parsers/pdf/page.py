"""One page of a PDF as plain values: its lines, its tables, and what the admission report says of it.

Takes pages of PyMuPDF, but does not import it; nothing of PyMuPDF is left in what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.parsers.pdf.arabic import has_arabic, with_ligatures
from ingest.parsers.pdf.cells import grids_of
from ingest.parsers.pdf.columns import borderless_tables
from ingest.parsers.pdf.legibility import illegible_ratio
from ingest.parsers.pdf.lines import Line, clean, line_of, mend_rows, raw_text, visible_characters
from ingest.parsers.pdf.rules import rules_of_page
from ingest.parsers.pdf.tables import FoundTable, inside, ruled_tables
from ingest.types import PageYield

_FLAGS = 2 | 64
"""PyMuPDF's TEXT_PRESERVE_WHITESPACE and TEXT_MEDIABOX_CLIP."""
_MIN_TABLE_LINES = 3

Matrix = tuple[float, float, float, float, float, float]


def _itself(line: Line) -> Sequence[Line]:
    return (line,)


@dataclass(slots=True)
class PageText:
    """The text of a page before tables are looked for, in the coordinates of the page as people see it."""

    lines: list[Line]
    characters: int
    """Visible characters."""
    garbled_ratio: float
    ocr: bool = False
    """True where the lines were read from the page's picture."""
    turn: int = 0
    """Degrees by which the page was turned clockwise to read it; the lines stand on the turned page."""
    words_of: Callable[[Line], Sequence[Line]] = _itself
    """Parts one of `lines` into its words; a line that cannot be parted comes back whole."""


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
    turn: int = 0
    """See `PageText.turn`."""
    width: float = 0.0
    remark: str = ""
    """What was done with the page, for the notes; pages with the same remark are named together."""

    def as_yield(self) -> PageYield:
        """Return the page's line of the admission report."""
        return PageYield(
            page_number=self.number, characters=self.characters, garbled_ratio=self.garbled_ratio, ocr=self.ocr
        )


def text_layer(page: Any, number: int) -> PageText:
    """Read the text that the PDF itself has for a page."""
    layer = _TextLayer(page, number)
    text = raw_text(layer.blocks)
    return PageText(
        layer.lines(), visible_characters(text), illegible_ratio(text), turn=layer.turn, words_of=layer.words_of
    )


def page_content(page: Any, number: int, text: PageText) -> PageContent:
    """Find the tables of a page; its other lines stay lines."""
    tables: list[FoundTable] = []
    rest: Sequence[Line] = text.lines
    if len(rest) >= _MIN_TABLE_LINES:
        rules = rules_of_page(page.get_cdrawings(), reading_matrix(page, text.turn))
        tables, rest = ruled_tables(grids_of(rules), rest, text.words_of)
    lines = mend_rows(rest)
    aligned = borderless_tables(lines)
    return PageContent(
        number=number,
        height=float(page.rect.width if text.turn in (90, 270) else page.rect.height),
        width=float(page.rect.height if text.turn in (90, 270) else page.rect.width),
        turn=text.turn,
        lines=_outside(lines, aligned),
        tables=tables + aligned,
        characters=text.characters,
        garbled_ratio=text.garbled_ratio,
        ocr=text.ocr,
    )


class _TextLayer:
    """Lines of PyMuPDF's text page, and the words of those that are asked for.

    Text comes in the coordinates of the unrotated page. Here it stands as people see
    it, and where most of it runs up, down or upside down (tables set sideways,
    vertical Chinese and Japanese), as it stands when the page is turned to be read.
    """

    def __init__(self, page: Any, number: int) -> None:
        self._textpage = page.get_textpage(flags=_FLAGS)
        self._number = number
        self.blocks: list[dict[str, Any]] = self._textpage.extractDICT()["blocks"]
        if has_arabic(raw_text(self.blocks)):
            self.blocks = with_ligatures(self._textpage.extractRAWDICT()["blocks"])
        self._quarters = int(page.rotation) // 90
        self.turn = 90 * (-self._main_direction() % 4)
        self._quarters += self.turn // 90
        self._matrix = reading_matrix(page, self.turn)
        self._places: dict[int, tuple[int, int]] = {}
        self._words: dict[tuple[int, int], list[Line]] | None = None

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        for block_index, block in enumerate(self.blocks):
            for line_index, raw in enumerate(block.get("lines", ())):
                line = line_of(raw, self._number)
                if line is not None:
                    line = self._as_read(line, self._direction(raw) == 0)
                    self._places[id(line)] = block_index, line_index
                    lines.append(line)
        return lines

    def words_of(self, line: Line) -> Sequence[Line]:
        if self._words is None:
            self._words = {}
            for *box, text, block, number, _ in self._textpage.extractWORDS():
                if word := clean(text):
                    x0, y0, x1, y1 = box
                    self._words.setdefault((block, number), []).append(
                        self._as_read(Line(word, self._number, x0, y0, x1, y1, size=10.0), upright=True)
                    )
        return self._words.get(self._places[id(line)]) or (line,)

    def _main_direction(self) -> int:
        """Return the direction, as people see it, in which most of the text runs; 0 without a clear one."""
        weights: dict[int, int] = {}
        for block in self.blocks:
            for raw in block.get("lines", ()):
                length = sum(len(span["text"]) for span in raw["spans"])
                direction = self._direction(raw)
                weights[direction] = weights.get(direction, 0) + length
        main = max(weights, key=lambda direction: weights[direction], default=0)
        return main if main > 0 and weights[main] * 5 > sum(weights.values()) * 3 else 0

    def _direction(self, raw: dict[str, Any]) -> int:
        """Return 0 for text that runs to the right, 1 down, 2 to the left, 3 up, -1 at an angle."""
        cosine, sine = raw["dir"]
        if abs(sine) < 0.1:
            quarters = 0 if cosine > 0 else 2
        elif abs(cosine) < 0.1:
            quarters = 1 if sine > 0 else 3
        else:
            return -1
        return (quarters + self._quarters) % 4

    def _as_read(self, line: Line, upright: bool) -> Line:
        if self._matrix is None:
            return line if line.upright == upright else replace(line, upright=upright)
        a, b, c, d, e, f = self._matrix
        x0, x1 = sorted((line.x0 * a + line.y0 * c + e, line.x1 * a + line.y1 * c + e))
        y0, y1 = sorted((line.x0 * b + line.y0 * d + f, line.x1 * b + line.y1 * d + f))
        return replace(line, x0=x0, y0=y0, x1=x1, y1=y1, upright=upright)


def reading_matrix(page: Any, turn: int) -> Matrix | None:
    """Return the matrix from the unrotated page to the one that is read, turned by `turn` degrees; None: the same."""
    if not page.rotation and not turn:
        return None
    a, b, c, d, e, f = page.rotation_matrix
    width, height = page.rect.width, page.rect.height
    match turn:
        case 90:
            return -b, a, -d, c, height - f, e
        case 180:
            return -a, -b, -c, -d, width - e, height - f
        case 270:
            return b, -a, d, -c, f, width - e
        case _:
            return a, b, c, d, e, f


def _outside(lines: Sequence[Line], tables: Sequence[FoundTable]) -> list[Line]:
    return [line for line in lines if not (line.upright and any(inside(line, table.area) for table in tables))]
