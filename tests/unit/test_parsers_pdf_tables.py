"""Tables of PDFs: rules drawn in every way, merged cells, open sides, columns without rules, page breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest

from ingest.parsers.pdf.cells import grids_of
from ingest.parsers.pdf.document import parse_pdf
from ingest.parsers.pdf.rules import Rule, Rules, rules_of_page
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

LIMITS = ParserSettings()
XS = (72.0, 200.0, 300.0, 400.0)
ROWS = (("Region", "2023", "2024"), ("Asia", "1,200", "1,350"), ("Europe", "(80)", "95"))
Draw = Callable[[pymupdf.Page, Sequence[float], Sequence[float]], None]


def parsed(document: pymupdf.Document, folder: Path) -> ParsedDocument:
    path = folder / "file"
    document.save(str(path))
    return parse_pdf(path, "a.pdf", LIMITS)


def tables(document: ParsedDocument) -> list[Block]:
    return [block for block in document.blocks if block.kind == "table"]


def put(page: pymupdf.Page, rows: Sequence[Sequence[str]], xs: Sequence[float], top: float, step: float = 20) -> None:
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell:
                page.insert_text((xs[column] + 4, top + 14 + row * step), cell, fontsize=9)


def as_lines(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for x in xs:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))


def as_frames(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for left, right in pairwise(xs):
        for top, bottom in pairwise(ys):
            page.draw_rect(pymupdf.Rect(left, top, right, bottom))


def as_frames_apart(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for left, right in pairwise(xs):
        for top, bottom in pairwise(ys):
            page.draw_rect(pymupdf.Rect(left + 1, top + 1, right - 1, bottom - 1))


def as_fills(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    shape = page.new_shape()
    for x in xs:
        shape.draw_rect(pymupdf.Rect(x, ys[0], x + 0.5, ys[-1]))
    for y in ys:
        shape.draw_rect(pymupdf.Rect(xs[0], y, xs[-1], y + 0.5))
    shape.finish(fill=(0, 0, 0), color=None)
    shape.commit()


def as_backgrounds(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for left, right in pairwise(xs):
        for top, bottom in pairwise(ys):
            page.draw_rect(pymupdf.Rect(left + 1, top + 1, right - 1, bottom - 1), color=None, fill=(0.9, 0.9, 1))


def as_pieces(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for x in xs:
        for top, bottom in pairwise(ys):
            page.draw_line((x, top), (x, bottom))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y), dashes="[2 2] 0")


def as_open_sides(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for x in xs[1:-1]:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))


@pytest.mark.parametrize(
    "draw", [as_lines, as_frames, as_frames_apart, as_fills, as_backgrounds, as_pieces, as_open_sides]
)
@pytest.mark.parametrize("rotation", [0, 90, 270])
def test_pdf_rules_make_the_same_table_however_they_are_drawn(tmp_path: Path, draw: Draw, rotation: int) -> None:
    document = pymupdf.open()
    page = document.new_page()
    draw(page, XS, (100, 120, 140, 160))
    put(page, ROWS, XS, 100)
    page.insert_text((72, 90), "Before the table.", fontsize=9)
    page.set_rotation(rotation)
    found = parsed(document, tmp_path)
    assert [table.rows for table in tables(found)] == [ROWS]
    assert "Before the table." in [block.text for block in found.blocks]


def test_pdf_cells_hold_lines_and_columns_that_stand_close(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    xs = (72.0, 150.0, 180.0, 210.0)
    as_lines(page, xs, (100, 130, 150))
    page.insert_text((75, 112), "Quoted prices in", fontsize=9)
    page.insert_text((75, 124), "active markets", fontsize=9)
    # One string over three cells, as programs write that lay out whole rows.
    page.insert_text((75, 144), "Total assets", fontsize=9)
    page.insert_text((155, 144), "1,250  1,340", fontsize=9)
    assert tables(parsed(document, tmp_path))[0].rows == (
        ("Quoted prices in active markets", "", ""),
        ("Total assets", "1,250", "1,340"),
    )


def test_pdf_merged_cells_keep_every_text_once_across(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for y in (100, 120, 140, 160):
        page.draw_line((72, y), (400, y))
    for x in (72, 400):
        page.draw_line((x, 100), (x, 160))
    for x in (200, 300):
        page.draw_line((x, 100), (x, 140))
    put(page, [("Region", "2023", "2024"), ("Asia", "11", "12"), ("A note that stands over the whole width",)], XS, 100)
    table = tables(parsed(document, tmp_path))[0]
    assert table.rows[2] == ("A note that stands over the whole width", "", "")


def test_pdf_frame_around_text_is_no_table(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.draw_rect(pymupdf.Rect(60, 90, 500, 200))
    page.draw_line((60, 110), (500, 110))
    for index in range(6):
        page.insert_text((72, 104 + index * 14), "A paragraph of text that stands in a frame with a title.", fontsize=9)
    assert tables(parsed(document, tmp_path)) == []


def test_pdf_frame_around_columns_without_rules_is_read_by_its_columns(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.draw_rect(pymupdf.Rect(60, 96, 420, 165))
    page.draw_line((190, 96), (190, 165))
    put(page, [("Item", "2023", "2024"), ("Sales", "10", "11"), ("Cost", "7", "8"), ("Profit", "3", "3")], XS, 97, 15)
    assert tables(parsed(document, tmp_path))[0].rows == (
        ("Item", "2023", "2024"),
        ("Sales", "10", "11"),
        ("Cost", "7", "8"),
        ("Profit", "3", "3"),
    )


def test_pdf_statement_without_rules_keeps_headers_labels_and_signs(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    right = (None, 400, 480)
    rows = [
        ("", "Year ended June 30,", ""),
        ("(in millions)", "2019", "2018"),
        ("Assets:", "", ""),
        ("Cash", "130", "91"),
        ("Property, plant and", "", ""),
        ("equipment, net", "2,235", "2,641"),
        ("Total", "2,365", "2,732"),
    ]
    for index, row in enumerate(rows):
        y = 100 + index * 12
        for column, text in enumerate(row):
            if text:
                width = pymupdf.get_text_length(text, fontsize=9)
                page.insert_text((72 if column == 0 else right[column] - width, y), text, fontsize=9)
        if row[0] in ("Cash", "Total"):
            page.insert_text((350, y), "$", fontsize=9)
            page.insert_text((445, y), "$", fontsize=9)
    table = tables(parsed(document, tmp_path))[0]
    assert table.rows[1:] == (
        ("(in millions)", "2019", "2018"),
        ("Assets:", "", ""),
        ("Cash", "$ 130", "$ 91"),
        ("Property, plant and equipment, net", "2,235", "2,641"),
        ("Total", "$ 2,365", "$ 2,732"),
    )
    assert "Year ended June 30," in table.rows[0]


def test_pdf_two_columns_of_prose_are_no_table(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for index in range(12):
        page.insert_text((72, 100 + index * 12), "the committee came to the view that", fontsize=9)
        page.insert_text((320, 100 + index * 12), "above two million are to be approved", fontsize=9)
    assert tables(parsed(document, tmp_path)) == []


def over_a_break(second: Sequence[Sequence[str]], between: str = "", shift: float = 0) -> pymupdf.Document:
    document = pymupdf.open()
    for number, rows in enumerate((ROWS, second)):
        page = document.new_page()
        page.insert_text((72, 40), "ACME Annual Report", fontsize=8)
        page.insert_text((290, 815), str(number + 1), fontsize=8)
        top = 700.0 if number == 0 else 100.0
        if number and between:
            page.insert_text((72, 80), between, fontsize=9)
        xs = [x + shift * number for x in XS]
        as_lines(page, xs, [top + 20 * index for index in range(len(rows) + 1)])
        put(page, rows, xs, top)
    third = document.new_page()
    third.insert_text((72, 40), "ACME Annual Report", fontsize=8)
    third.insert_text((290, 815), "3", fontsize=8)
    third.insert_text((72, 100), "The end of the report.", fontsize=9)
    return document


MORE = (("Africa", "10", "12"), ("America", "30", "35"))


@pytest.mark.parametrize("between", ["", "Table 3 (continued)", "Sales by region, cont'd"])
@pytest.mark.parametrize("header", [(), ROWS[:1]])
def test_pdf_table_over_a_page_break_is_one_table(
    tmp_path: Path, between: str, header: tuple[tuple[str, ...], ...]
) -> None:
    found = tables(parsed(over_a_break(header + MORE, between), tmp_path))
    assert [table.rows for table in found] == [ROWS + MORE]
    assert (found[0].page_number, found[0].page_end) == (1, 2)
    assert [box.page_number for box in found[0].boxes] == [1, 2]
    assert found[0].text.splitlines()[-1] == "America | 30 | 35"


@pytest.mark.parametrize(
    ("second", "between", "shift"),
    [
        ((("Product", "Units", "Price"), *MORE), "", 0),
        (MORE, "Costs by region", 0),
        (MORE, "", 40),
    ],
)
def test_pdf_another_table_on_the_next_page_stays_one_of_its_own(
    tmp_path: Path, second: tuple[tuple[str, ...], ...], between: str, shift: float
) -> None:
    found = tables(parsed(over_a_break(second, between, shift), tmp_path))
    assert [table.rows for table in found] == [ROWS, second]


def test_rules_join_pieces_and_leave_specks() -> None:
    dashes = [("l", (72 + 4 * index, 100), (74 + 4 * index, 100)) for index in range(20)]
    drawings = [
        {"type": "s", "items": dashes, "rect": (72, 100, 152, 100)},
        {"type": "s", "items": [("l", (10, 10), (12, 10)), ("l", (0, 0), (50, 50))], "rect": (0, 0, 50, 50)},
        {"type": "f", "fill": (1.0, 1.0, 1.0), "items": [("re", (0, 0, 300, 300), 1)], "rect": (0, 0, 300, 300)},
    ]
    assert rules_of_page(drawings) == Rules([Rule(100.0, 72, 150)], [])


def test_rules_beyond_the_bound_are_a_drawing() -> None:
    lines = [("l", (0, index), (100, index)) for index in range(60_000)]
    assert rules_of_page([{"type": "s", "items": lines, "rect": (0, 0, 100, 60_000)}]) == Rules()


def test_grid_cells_cover_every_position_once() -> None:
    horizontal = [Rule(0, 0, 300), Rule(20, 100, 300), Rule(40, 0, 200), Rule(60, 0, 300)]
    vertical = [Rule(0, 0, 60), Rule(100, 0, 60), Rule(200, 20, 60), Rule(300, 0, 60)]
    (grid,) = grids_of(Rules(horizontal, vertical))
    covered = [
        (row, column)
        for cell in grid.cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    ]
    assert sorted(covered) == [(row, column) for row in range(3) for column in range(3)]


def test_grid_of_too_many_rules_is_a_drawing() -> None:
    rules = [Rule(index, 0, 3_000) for index in range(0, 9_000, 5)]
    assert grids_of(Rules(rules, rules)) == []
