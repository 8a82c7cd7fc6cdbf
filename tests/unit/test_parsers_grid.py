"""F15: tables with merged cells lose no text and double none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parsers.grid import Cell, expand, table_block


def test_grid_repeats_a_row_label_down_its_rows() -> None:
    rows = [[Cell("Region"), Cell("Q3")], [Cell("Asia", rows=2), Cell("1")], [Cell("2")]]
    assert expand(rows, 1) == (("Region", "Q3"), ("Asia", "1"), ("Asia", "2"))


def test_grid_repeats_a_header_over_its_columns_and_closes_the_header() -> None:
    rows = [
        [Cell("Region", rows=2), Cell("2024", columns=2)],
        [Cell("Q3"), Cell("Q4")],
        [Cell("Asia"), Cell("1"), Cell("2")],
    ]
    block = table_block(rows)
    assert block is not None
    assert block.rows == (("Region", "2024", "2024"), ("Region", "Q3", "Q4"), ("Asia", "1", "2"))
    assert block.header_rows == 2


def test_grid_says_a_wide_body_cell_once() -> None:
    rows = [
        [Cell("A", header=True), Cell("B", header=True)],
        [Cell("a note over both", columns=2)],
        [Cell("1"), Cell("2")],
    ]
    block = table_block(rows)
    assert block is not None
    assert block.text == "A | B\na note over both | \n1 | 2"


def test_grid_does_not_repeat_a_long_text_down() -> None:
    long = "a remark that is much too long to be the label of the rows beside it, honestly"
    rows = [[Cell("x"), Cell(long, rows=2)], [Cell("y")]]
    assert expand(rows) == (("x", long), ("y", ""))


def test_grid_without_text_is_no_table() -> None:
    assert table_block([[Cell(" "), Cell("")]]) is None


def test_grid_bounds_spans() -> None:
    assert len(expand([[Cell("a", columns=10**9, rows=10**9), Cell("b")], [Cell("c")]])[0]) <= 1100


@pytest.mark.parametrize(
    ("first", "headers"),
    [
        (["类别", "2024年9月30日", "2023年9月30日"], 1),
        (["", "2024", "2023"], 1),
        (["Item", "Q3 2024", "Q3 2023"], 1),
        (["Revenue", "238", "226"], 0),
        (["Revenue", "1,999.5", "20.24"], 0),
    ],
)
def test_grid_tells_a_header_of_periods_from_a_row_of_figures(first: list[str], headers: int) -> None:
    block = table_block([[Cell(text) for text in first], [Cell("a"), Cell("1"), Cell("2")]])
    assert block is not None
    assert block.header_rows == headers


CELLS = st.builds(
    Cell,
    text=st.text(alphabet="abcdefgh 甲乙", max_size=6),
    columns=st.integers(0, 5),
    rows=st.integers(0, 5),
    header=st.booleans(),
)


@given(st.lists(st.lists(CELLS, max_size=5), max_size=6))
def test_grid_rows_have_equal_length_and_keep_every_text(rows: list[list[Cell]]) -> None:
    block = table_block(rows)
    texts = [" ".join(cell.text.split()) for row in rows for cell in row if cell.text.strip()]
    if block is None:
        assert not texts
        return
    assert len({len(row) for row in block.rows}) == 1
    assert block.text == "\n".join(" | ".join(row) for row in block.rows)
    cells = [cell for row in block.rows for cell in row]
    assert all(cells.count(text) >= texts.count(text) for text in texts)
