"""XLSX and XLSM: sheets as headings, their tables, comments, chart titles and text boxes."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.office.docx_package import check_package
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.sheets.sheets import CellBudget, Sheet, sheet_blocks
from ingest.parsers.sheets.xlsx_package import SheetPart, WorkbookPackage
from ingest.parsers.sheets.xlsx_remarks import RemarkReader
from ingest.parsers.sheets.xlsx_sheet import SheetFacts, SheetReader
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument


def parse_xlsx(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a workbook.

    Raises:
        NoTextError: no visible sheet has text.
        CorruptDocumentError: the container or one of its parts is damaged.
        DocumentTooLargeError: more cells or text than the limits allow.
    """
    check_package(path, display_name, limits, "XLSX", streamed=True)
    try:
        with zipfile.ZipFile(path) as container:
            return _parse(WorkbookPackage(container, display_name, limits), display_name, limits)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError, RuntimeError) as exc:
        raise CorruptDocumentError(f"{display_name}: the workbook is damaged; save it again in Excel") from exc


def _parse(package: WorkbookPackage, display_name: str, limits: ParserSettings) -> ParsedDocument:
    budget = CellBudget(display_name, limits)
    cells, remarks = SheetReader(package, budget), RemarkReader(package)
    blocks: list[Block] = []
    notes: list[str] = []
    for listed in package.sheets():
        if listed.hidden:
            notes.append(f"the hidden sheet {listed.name!r} was left out")
            continue
        if listed.kind not in ("worksheet", "chartsheet"):
            notes.append(f"the macro or dialog sheet {listed.name!r} was left out")
            continue
        sheet, facts = cells.read(listed) if listed.kind == "worksheet" else (Sheet(listed.name), SheetFacts())
        sheet.remarks = remarks.read(listed.part)
        notes += _notes(listed, facts)
        blocks += sheet_blocks(sheet, budget)
    if not blocks:
        hidden = " outside its hidden ones" if any("hidden sheet" in note for note in notes) else ""
        raise NoTextError(f"{display_name}: no sheet of the workbook{hidden} has text")
    return ParsedDocument(format="xlsx", blocks=tuple(blocks), title=package.title(), notes=(*notes, *remarks.notes()))


def _notes(listed: SheetPart, facts: SheetFacts) -> list[str]:
    where = f"on sheet {listed.name!r}"
    notes: list[str] = []
    if facts.not_computed:
        notes.append(f"{facts.not_computed} formulas {where} have no stored result and stand as formulas")
    if facts.hidden_rows or facts.hidden_columns:
        notes.append(f"hidden rows or columns {where} were read")
    if facts.has_header_or_footer:
        notes.append(f"page header and footer {where} were left out")
    return notes
