"""The cells of one XLSX worksheet, streamed row by row: what each shows, and which are merged."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
from dataclasses import dataclass

from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.utils.cell import get_column_letter
from openpyxl.utils.escape import unescape

from ingest.parsers.sheets.number_formats import shown, stored_number
from ingest.parsers.sheets.sheets import Area, CellBudget, Sheet
from ingest.parsers.sheets.xlsx_package import Element, SheetPart, WorkbookPackage, attribute, local, text_of

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
_MAX_FORMULA = 500
_MAX_MERGED = 200_000


@dataclass
class SheetFacts:
    """What a sheet has beside its cells, for the notes."""

    not_computed: int = 0
    hidden_rows: int = 0
    hidden_columns: int = 0
    has_header_or_footer: bool = False


def parse_area(reference: str) -> Area | None:
    """Read `B2:D9` or `B2`; None when it is neither."""
    first, _, last = reference.partition(":")
    start, end = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last or first)
    if start is None or end is None:
        return None
    rows = sorted((int(start.group(2)) - 1, int(end.group(2)) - 1))
    columns = sorted((_column(start.group(1)), _column(end.group(1))))
    if rows[0] < 0 or rows[1] >= _MAX_ROWS or columns[1] >= _MAX_COLUMNS:
        return None
    return Area(rows[0], columns[0], rows[1], columns[1])


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


class SheetReader:
    """Reads worksheets of one workbook with its strings and formats."""

    def __init__(self, package: WorkbookPackage, budget: CellBudget) -> None:
        self._package, self._budget = package, budget
        self._strings = package.shared_strings()
        self._formats = package.number_formats()
        self._epoch_1904 = package.counts_from_1904()
        self._formulas: dict[str, tuple[str, str]] = {}
        """Shared formulas of the sheet: index → cell and formula of the first."""

    def read(self, listed: SheetPart) -> tuple[Sheet, SheetFacts]:
        """Read a worksheet's cells; cells that are formatted but empty cost time, no memory."""
        sheet, facts = Sheet(listed.name), SheetFacts()
        self._formulas.clear()
        last_row = -1
        for element in self._package.stream(listed.part, "row", "mergeCell", "col", "headerFooter"):
            name = local(element)
            if name == "row":
                last_row = self._read_row(element, last_row, sheet, facts)
            elif name == "mergeCell":
                area = parse_area(attribute(element, "ref") or "")
                if area is not None and len(sheet.merged) < _MAX_MERGED:
                    sheet.merged.append(area)
            elif name == "col":
                facts.hidden_columns += _is_on(attribute(element, "hidden"))
            else:
                facts.has_header_or_footer = any((child.text or "").strip() for child in element)
        for part in self._package.related(listed.part, "table"):
            self._read_declared(part, sheet)
        return sheet, facts

    def _read_row(self, element: Element, last_row: int, sheet: Sheet, facts: SheetFacts) -> int:
        number = element.get("r") or ""
        row = int(number) - 1 if number.isdigit() and 0 < int(number) <= _MAX_ROWS else last_row + 1
        cells: dict[int, str] = {}
        column = -1
        for cell in element:
            reference = cell.get("r")
            found = _REFERENCE.fullmatch(reference) if reference else None
            column = _column(found.group(1)) if found else column + 1
            if len(cell):
                text = self._shown(cell, row, column, facts)
                if text and not text.isspace() and column < _MAX_COLUMNS:
                    cells[column] = text
        if cells:
            self._budget.take(len(cells))
            sheet.rows.setdefault(row, {}).update(cells)
            facts.hidden_rows += _is_on(element.get("hidden"))
        return row

    def _shown(self, cell: Element, row: int, column: int, facts: SheetFacts) -> str:
        value: str | None = None
        formula: Element | None = None
        for child in cell:
            name = local(child)
            if name == "v":
                value = child.text
            elif name == "f":
                formula = child
            elif name == "is":
                return text_of(child)
        if formula is not None:
            written = self._formula(formula, row, column)
            if value is None and cell.get("t") != "str":
                facts.not_computed += 1
                return f"={written[:_MAX_FORMULA]} (not computed)" if written else "(formula, not computed)"
        return self._value(cell.get("t") or "n", value or "", cell.get("s"))

    def _value(self, kind: str, value: str, style: str | None) -> str:
        if kind == "s":
            index = int(value) if value.isdigit() else -1
            return self._strings[index] if 0 <= index < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value.strip() in ("1", "true") else "FALSE"
        if kind == "d":
            return value.removesuffix("Z").removesuffix(".000").replace("T00:00:00", "").replace("T", " ")
        if kind != "n":
            return unescape(value)
        try:
            number = stored_number(value)
        except ValueError:
            return unescape(value)
        return shown(number, self._format(style), self._epoch_1904)

    def _format(self, style: str | None) -> str:
        index = int(style) if style is not None and style.isdigit() else 0
        return self._formats[index] if index < len(self._formats) else "General"

    def _formula(self, element: Element, row: int, column: int) -> str:
        """Return a formula as Excel shows it in this cell; one that is shared is moved from where it was written."""
        text = str(element.text or "").strip()
        index = element.get("si")
        here = f"{get_column_letter(column + 1)}{row + 1}"
        if text and index is not None:
            self._formulas[index] = (here, text)
        if text or index not in self._formulas:
            return text
        origin, shared = self._formulas[index]
        if len(shared) > _MAX_FORMULA:
            return ""
        try:
            return str(Translator(f"={shared}", origin).translate_formula(here)).removeprefix("=")
        except (TranslatorError, ValueError, IndexError):
            return ""

    def _read_declared(self, part: str, sheet: Sheet) -> None:
        """Take over a table that the file itself marks, unless it overlaps another one."""
        table = self._package.tree(part)
        area = parse_area(attribute(table, "ref") or "")
        headers = attribute(table, "headerRowCount") or "1"
        if area is None or any(_overlap(area, other) for other, _ in sheet.declared):
            return
        sheet.declared.append((area, min(int(headers), 4) if headers.isdigit() else 1))


def _overlap(one: Area, other: Area) -> bool:
    return one.top <= other.bottom and other.top <= one.bottom and one.left <= other.right and other.left <= one.right


def _is_on(text: str | None) -> bool:
    return text in ("1", "true", "on")
