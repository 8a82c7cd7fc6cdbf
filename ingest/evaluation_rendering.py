"""Writes one table in several formats, as plain as the format's own library makes it."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
# PyMuPDF's annotations are incomplete.
from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path

Rows = Sequence[Sequence[str]]

_CELL_PT, _LINE_PT, _FONT_PT, _MARGIN_PT = 4.0, 10.0, 8, 36.0
_WIDEST_PT = 160.0
"""A wider cell is broken into lines."""


def to_xlsx(rows: Rows, path: Path) -> None:
    """Write a workbook with one sheet; every cell is text."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.worksheets[0]
    for row, cells in enumerate(rows, start=1):
        for column, text in enumerate(cells, start=1):
            if text:
                cell = sheet.cell(row, column, text)
                cell.data_type = "s"  # a text that begins with "=" is no formula here
    book.save(path)


def to_docx(rows: Rows, path: Path) -> None:
    """Write a Word document with a sentence and the table."""
    import docx

    document = docx.Document()
    document.add_paragraph("The figures below are taken from the report.")
    table = document.add_table(len(rows), max(len(row) for row in rows))
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.save(str(path))


def to_html(rows: Rows, path: Path) -> None:
    """Write an HTML page with a heading and the table."""
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    path.write_text(
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Report</title></head><body><h1>Report</h1>'
        f"<p>The figures below are taken from the report.</p><table>\n{body}\n</table></body></html>",
        encoding="utf-8",
    )


def to_markdown(rows: Rows, path: Path) -> None:
    """Write a Markdown document with a heading and the table; its first row is the header."""
    width = max(len(row) for row in rows)
    lines = [_markdown_row(row, width) for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    text = "# Report\n\nThe figures below are taken from the report.\n\n" + "\n".join(lines) + "\n"
    path.write_text(text, encoding="utf-8")


def _markdown_row(row: Sequence[str], width: int) -> str:
    cells = [" ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*") for text in row]
    cells = [cell.replace("_", "\\_").replace("<", "&lt;") for cell in cells]
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"


def to_pdf(rows: Rows, path: Path) -> None:
    """Write a PDF page with a sentence and the table, every cell in a ruled frame, long cells on several lines."""
    _draw(rows, path, ruled=True)


def to_borderless_pdf(rows: Rows, path: Path) -> None:
    """Write the same page without rules: columns show by their alignment alone, figures to the right."""
    _draw(rows, path, ruled=False)


def _draw(rows: Rows, path: Path, *, ruled: bool) -> None:
    import pymupdf

    font = pymupdf.Font("helv")
    columns = max(len(row) for row in rows)
    grid = [[" ".join(text.split()) for text in row] + [""] * (columns - len(row)) for row in rows]
    lines = [[_wrap(text, lambda part: font.text_length(part, _FONT_PT)) for text in row] for row in grid]
    widths = [
        max(max((font.text_length(line, _FONT_PT) for line in row[column]), default=0.0) for row in lines)
        + 2 * _CELL_PT
        + 2
        for column in range(columns)
    ]
    heights = [max(len(cell) for cell in row) * _LINE_PT + 2 * _CELL_PT for row in lines]
    document = pymupdf.open()
    page = document.new_page(
        width=max(sum(widths) + 2 * _MARGIN_PT, 400), height=max(sum(heights) + 4 * _MARGIN_PT, 400)
    )
    writer = pymupdf.TextWriter(page.rect)
    writer.append((_MARGIN_PT, _MARGIN_PT), "The figures below are taken from the report.", font, _FONT_PT + 2)
    top = 2 * _MARGIN_PT
    for row, height in zip(lines, heights, strict=True):
        left = _MARGIN_PT
        for column, cell in enumerate(row):
            if ruled:
                page.draw_rect((left, top, left + widths[column], top + height), width=0.5)
            for number, line in enumerate(cell):
                space = widths[column] - 2 * _CELL_PT - font.text_length(line, _FONT_PT)
                shift = space if not ruled and column and line[:1] in "$(-0123456789" else 0.0
                writer.append(
                    (left + _CELL_PT + shift, top + _CELL_PT + (number + 0.8) * _LINE_PT), line, font, _FONT_PT
                )
            left += widths[column]
        top += height
    writer.write_text(page)
    document.save(str(path))
    document.close()


def _wrap(text: str, measure: Callable[[str], float]) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and measure(f"{lines[-1]} {word}") <= _WIDEST_PT:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


RENDERERS: dict[str, Callable[[Rows, Path], None]] = {
    "xlsx": to_xlsx,
    "docx": to_docx,
    "html": to_html,
    "md": to_markdown,
    "pdf": to_pdf,
    "pdf-borderless": to_borderless_pdf,
}
"""Name → writer; the ending of the file is what stands before the hyphen."""
