"""One ODS sheet, row by row: repeated cells laid out, merged ones noted, remarks gathered."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re

from openpyxl.utils.cell import get_column_letter

from ingest.parsers.sheets.sheets import Area, CellBudget, Sheet
from ingest.parsers.sheets.xlsx_package import Element, attribute, local
from ingest.parsers.text.joining import collapse
from ingest.types import Block

_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
_MAX_FORMULA = 500
_MAX_SPACES = 100
_CELL_REFERENCE = re.compile(r"\[\.?([^\[\]]+)\]")
_LONG_WHOLE = re.compile(r"[0-9]{11,30}")
_EXPONENT = re.compile(r"[0-9](?:[.,][0-9]*)?[Ee]\+?[0-9]{1,3}")
_NO_DIGIT = re.compile(r"[^0-9]")
_HIDDEN = ("collapse", "filter")


class OdsSheetReader:
    """Gathers a sheet from its rows as they are parsed."""

    def __init__(self, name: str, budget: CellBudget) -> None:
        self.sheet = Sheet(name)
        self.hidden = False
        self.comments: list[Block] = []
        self.objects: list[str] = []
        """Folders of embedded objects in the package."""
        self._budget = budget
        self._row = 0
        self._not_computed = self._pictures = 0
        self._has_hidden = False

    def add_row(self, element: Element) -> None:
        """Take a row; one that repeats is laid out as often as it has text."""
        repeated = _count(element, "number-rows-repeated", _MAX_ROWS)
        if not self.hidden and self._row < _MAX_ROWS:
            cells = self._read_cells(element)
            if cells:
                times = min(repeated, _MAX_ROWS - self._row)
                self._budget.take(len(cells) * times)
                for row in range(self._row, self._row + times):
                    self.sheet.rows[row] = dict(cells) if row > self._row else cells
                self._has_hidden |= attribute(element, "visibility") in _HIDDEN
        self._row += repeated

    def add_column(self, element: Element) -> None:
        """Take a column's properties."""
        self._has_hidden |= attribute(element, "visibility") in _HIDDEN

    def add_drawing(self, element: Element) -> None:
        """Take what is drawn: texts of boxes and shapes, objects; pictures are counted."""
        if self.hidden:
            return
        for shape in element.iter():
            name = local(shape)
            if name == "object":
                self.objects.append((attribute(shape, "href") or "").removeprefix("./"))
            elif name == "image" and not any(local(brother) == "object" for brother in shape.getparent()):
                self._pictures += 1
            elif name == "p" and not any(local(above) == "annotation" for above in shape.iterancestors()):
                text = collapse(_text(shape))
                if text:
                    self.sheet.remarks.append(Block(kind="paragraph", text=text))

    def notes(self) -> list[str]:
        """Say what was read or left out knowingly."""
        where = f"on sheet {self.sheet.name!r}"
        notes: list[str] = []
        if self._not_computed:
            notes.append(f"{self._not_computed} formulas {where} have no stored result and stand as formulas")
        if self._has_hidden:
            notes.append(f"hidden rows or columns {where} were read")
        if self._pictures:
            notes.append(f"{self._pictures} pictures {where} were not read")
        return notes

    def _read_cells(self, row: Element) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            name = local(cell)
            if name not in ("table-cell", "covered-table-cell"):
                continue
            repeated = _count(cell, "number-columns-repeated", _MAX_COLUMNS)
            if name == "table-cell" and column < _MAX_COLUMNS and (len(cell) or attribute(cell, "formula")):
                text = self._shown(cell)
                if text and not text.isspace():
                    for at in range(column, min(column + repeated, _MAX_COLUMNS)):
                        cells[at] = text
                self._read_beside(cell, column)
            if name == "table-cell" and column < _MAX_COLUMNS:
                self._read_span(cell, column)
            column += repeated
        return cells

    def _read_span(self, cell: Element, column: int) -> None:
        columns = _count(cell, "number-columns-spanned", _MAX_COLUMNS)
        rows = _count(cell, "number-rows-spanned", _MAX_ROWS)
        if columns > 1 or rows > 1:
            self.sheet.merged.append(Area(self._row, column, self._row + rows - 1, column + columns - 1))

    def _shown(self, cell: Element) -> str:
        kind, formula = attribute(cell, "value-type"), attribute(cell, "formula")
        text = "\n".join(_text(child) for child in cell if local(child) in ("p", "h"))
        if kind == "date" and attribute(cell, "date-value"):
            return (attribute(cell, "date-value") or "").removesuffix("T00:00:00").replace("T", " ")
        if kind == "boolean":
            return (attribute(cell, "boolean-value") or text).upper()
        value = (attribute(cell, "value") or "") if kind in ("float", "percentage", "currency") else ""
        if value and (not text or (kind == "float" and _is_rounded(text, value))):
            return value
        if not text and kind is None and formula:
            self._not_computed += 1
            written = _CELL_REFERENCE.sub(lambda found: found.group(1).replace(":.", ":"), formula.split(":=", 1)[-1])
            return f"={written.removeprefix('=')[:_MAX_FORMULA]} (not computed)"
        return text

    def _read_beside(self, cell: Element, column: int) -> None:
        """Read what a cell carries beside its text: a comment, drawings anchored to it."""
        for child in cell:
            name = local(child)
            if name == "annotation":
                author = next((str(part.text or "") for part in child if local(part) == "creator"), "")
                text = collapse(" ".join(_text(part) for part in child if local(part) in ("p", "list")))
                if text:
                    where = f"{get_column_letter(column + 1)}{self._row + 1}"
                    said = f"Comment on {where}{f' ({collapse(author)})' if author.strip() else ''}: {text}"
                    self.comments.append(Block(kind="paragraph", text=said))
            elif name not in ("p", "h"):
                self.add_drawing(child)


def paragraphs(element: Element) -> list[str]:
    """Return the texts of the paragraphs in an element."""
    return [text for part in element.iter("{*}p") if (text := collapse(_text(part)))]


def _text(element: Element) -> str:
    """Return an element's text with its spaces, tabs and breaks, comments inside it left out."""
    parts: list[str] = [element.text or ""]
    for child in element:
        name = local(child)
        if name == "s":
            parts.append(" " * _count(child, "c", _MAX_SPACES))
        elif name in ("tab", "line-break"):
            parts.append(" ")
        elif name not in ("annotation", "ruby-text", ""):
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _is_rounded(text: str, value: str) -> bool:
    """Tell whether what a cell shows has lost digits of a long whole number: a card or identity number, no amount."""
    if _LONG_WHOLE.fullmatch(value) is None:
        return False
    return _EXPONENT.fullmatch(text.strip()) is not None or (len(value) > 15 and _NO_DIGIT.sub("", text) != value)


def _count(element: Element, name: str, most: int) -> int:
    value = attribute(element, name) or "1"
    return max(1, min(int(value), most)) if value.isdigit() and len(value) < 10 else 1
