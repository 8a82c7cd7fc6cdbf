"""XLS (BIFF, Excel 5 to 2003) through xlrd: sheets as headings, their tables, comments."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import xlrd
from openpyxl.utils.cell import get_column_letter
from xlrd.biffh import XLRDError, error_text_from_code
from xlrd.compdoc import CompDocError

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.sheets.number_formats import BUILTIN_DATES, shown
from ingest.parsers.sheets.sheets import Area, CellBudget, Sheet, sheet_blocks
from ingest.parsers.text.joining import collapse
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_DAMAGE = (
    CompDocError, XLRDError, struct.error, AssertionError, IndexError, KeyError, ValueError, TypeError,
    AttributeError, EOFError, OverflowError,
)  # fmt: skip
"""What xlrd lets through on damaged files: its own errors, and those of the code that meets the damage."""


def parse_xls(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a legacy workbook.

    Raises:
        EncryptedDocumentError: it needs a password.
        NoTextError: no visible sheet has text.
        CorruptDocumentError: the file is damaged.
        DocumentTooLargeError: more cells than the limits allow.
    """
    budget = CellBudget(display_name, limits)
    blocks: list[Block] = []
    notes: list[str] = []
    book = _open(path, display_name)
    with book:
        for index in range(book.nsheets):
            try:
                source = book.sheet_by_index(index)
                sheet, found = _read(book, source, budget)
            except _DAMAGE as exc:
                raise _damaged(display_name) from exc
            book.unload_sheet(index)
            notes += found
            if source.visibility == 0:
                blocks += sheet_blocks(sheet, budget)
    if not blocks:
        hidden = " outside its hidden ones" if any("hidden sheet" in note for note in notes) else ""
        raise NoTextError(f"{display_name}: no sheet of the workbook{hidden} has text")
    return ParsedDocument(format="xls", blocks=tuple(blocks), notes=tuple(notes))


def _open(path: Path, display_name: str) -> Any:
    try:
        return xlrd.open_workbook(
            str(path), logfile=io.StringIO(), formatting_info=True, on_demand=True, ragged_rows=True
        )
    except _DAMAGE as exc:
        if "encrypted" in str(exc).lower():
            raise EncryptedDocumentError(
                f"{display_name}: this workbook is encrypted; save it without a password"
            ) from exc
        raise _damaged(display_name) from exc


def _damaged(display_name: str) -> CorruptDocumentError:
    return CorruptDocumentError(f"{display_name}: the workbook is damaged; save it again in Excel")


def _read(book: Any, source: Any, budget: CellBudget) -> tuple[Sheet, list[str]]:
    sheet = Sheet(str(source.name))
    if source.visibility != 0:
        return sheet, [f"the hidden sheet {source.name!r} was left out"]
    for row in range(source.nrows):
        cells = {
            column: text
            for column in range(source.row_len(row))
            if (text := _shown(book, source.cell(row, column))) and not text.isspace()
        }
        if cells:
            budget.take(len(cells))
            sheet.rows[row] = cells
    sheet.merged = [
        Area(top, left, bottom - 1, right - 1)
        for top, bottom, left, right in source.merged_cells
        if top < bottom and left < right
    ]
    sheet.remarks = _comments(source)
    hidden = any(info.hidden for row, info in source.rowinfo_map.items() if row in sheet.rows) or any(
        info.hidden for info in source.colinfo_map.values()
    )
    return sheet, [f"hidden rows or columns on sheet {source.name!r} were read"] if hidden else []


def _shown(book: Any, cell: Any) -> str:
    if cell.ctype == xlrd.XL_CELL_TEXT:
        return str(cell.value)
    if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return shown(float(cell.value), _format(book, cell.xf_index), bool(book.datemode))
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(error_text_from_code.get(cell.value, "#ERROR!"))
    return ""


def _format(book: Any, style: int | None) -> str:
    if style is None or not 0 <= style < len(book.xf_list):
        return "General"
    key = book.xf_list[style].format_key
    found = book.format_map.get(key)
    return BUILTIN_DATES.get(key) or (str(found.format_str) if found is not None else "General")


def _comments(source: Any) -> list[Block]:
    blocks: list[Block] = []
    for (row, column), note in sorted(source.cell_note_map.items()):
        text, author = collapse(note.text or ""), collapse(note.author or "")
        if author:
            text = text.removeprefix(f"{author}:").strip()
        if text:
            where = f"{get_column_letter(column + 1)}{row + 1}"
            blocks.append(Block(kind="paragraph", text=f"Comment on {where}{f' ({author})' if author else ''}: {text}"))
    return blocks
