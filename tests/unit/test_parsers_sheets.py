from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odfdo import Document, Table
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.worksheet.table import Table as DeclaredTable
from openpyxl.worksheet.worksheet import Worksheet

from ingest.detect import detect
from ingest.errors import (
    CorruptDocumentError,
    DocumentTooLargeError,
    EncryptedDocumentError,
    IngestError,
    NoTextError,
)
from ingest.parsers.registry import parse
from ingest.parsers.sheets.ods import parse_ods
from ingest.parsers.sheets.sheets import CellBudget, Sheet, sheet_blocks
from ingest.parsers.sheets.xls import parse_xls
from ingest.parsers.sheets.xlsx import parse_xlsx
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument
from retrieval.symbols.language import load_language

LIMITS = ParserSettings()


def workbook(tmp_path: Path, *fill: Callable[[Worksheet], None]) -> ParsedDocument:
    book = Workbook()
    book.remove(book.worksheets[0])
    for number, each in enumerate(fill, start=1):
        each(book.create_sheet(f"S{number}"))
    return saved(tmp_path, book)


def saved(tmp_path: Path, book: Workbook) -> ParsedDocument:
    path = tmp_path / "book.xlsx"
    book.save(path)
    assert detect(path, "upload") == "xlsx"
    return parse_xlsx(path, "book.xlsx", LIMITS)


def put(sheet: Worksheet, at: str, rows: list[list[object]]) -> None:
    corner = sheet[at]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            sheet.cell(corner.row + down, corner.column + right, value)


def shape(parsed: ParsedDocument) -> list[tuple[str, int]]:
    return [(block.kind, block.level) for block in parsed.blocks]


def tables(parsed: ParsedDocument) -> list[Block]:
    return [block for block in parsed.blocks if block.kind == "table"]


def region_tables(cells: dict[str, list[list[str]]]) -> list[tuple[tuple[str, ...], ...]]:
    sheet = Sheet("S")
    for at, rows in cells.items():
        for down, row in enumerate(rows):
            for right, text in enumerate(row):
                if text:
                    sheet.rows.setdefault(int(at[1:]) + down, {})[ord(at[0]) - 65 + right] = text
    return [block.rows for block in sheet_blocks(sheet, CellBudget("s", LIMITS)) if block.kind == "table"]


def test_sheet_is_a_heading_with_its_tables_and_titles(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "B2", [["Ducks per year"]])
        put(sheet, "B4", [["Year", "Ducks"], [2019, 120], [2020, 135]])

    parsed = workbook(tmp_path, fill)
    assert shape(parsed) == [("heading", 1), ("heading", 2), ("table", 0)]
    assert [block.text for block in parsed.blocks[:2]] == ["S1", "Ducks per year"]
    assert parsed.blocks[2].rows == (("Year", "Ducks"), ("2019", "120"), ("2020", "135"))
    assert parsed.blocks[2].header_rows == 1


def test_title_over_one_of_two_tables_is_a_caption(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["Ducks"]])
        put(sheet, "A3", [["Year", "Ducks"], [2019, 120]])
        put(sheet, "A7", [["Item", "Price"], ["Pen", 2]])

    assert shape(workbook(tmp_path, fill)) == [("heading", 1), ("caption", 0), ("table", 0), ("table", 0)]


def test_values_come_as_the_sheet_shows_them(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["kind", "value"]])
        shown: list[tuple[object, str]] = [
            (0.052, "0.0%"), (datetime(2024, 3, 1), "yyyy-mm-dd"), (date(2024, 3, 1), "dd/mm/yyyy"),  # noqa: DTZ001
            (1234.5, "#,##0.00"), (-3.0, "General"), (True, "General"), ("=1/0", "General"), (99.9, '"$"#,##0.00'),
        ]  # fmt: skip
        for row, (value, code) in enumerate(shown, start=2):
            sheet.cell(row, 1, f"v{row}")
            sheet.cell(row, 2, value).number_format = code

    column = [row[1] for row in tables(workbook(tmp_path, fill))[0].rows[1:]]
    assert column == ["5.2%", "2024-03-01", "2024-03-01", "1,234.50", "-3", "TRUE", "=1/0 (not computed)", "$99.90"]


def test_formulas_without_a_stored_result_are_marked_and_noted(tmp_path: Path) -> None:
    parsed = workbook(tmp_path, lambda sheet: put(sheet, "A1", [["a", "b"], [1, "=SUM(A1:A3)"]]))
    assert tables(parsed)[0].rows[1] == ("1", "=SUM(A1:A3) (not computed)")
    assert any("1 formulas on sheet 'S1'" in note for note in parsed.notes)


def test_dates_of_a_1904_workbook_are_right(tmp_path: Path) -> None:
    book = Workbook()
    book.epoch = CALENDAR_MAC_1904
    put(book.worksheets[0], "A1", [["when", "what"], [date(2024, 3, 1), "meeting"]])
    assert tables(saved(tmp_path, book))[0].rows[1] == ("2024-03-01", "meeting")


def test_merged_cells_lose_no_text_and_double_none(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["", "2023", "", "2024", ""], ["", "Q1", "Q2", "Q1", "Q2"], ["North", 1, 2, 3, 4]])
        put(sheet, "A4", [["South", 5, 6, 7, 8], ["", 9, 10, 11, 12], ["A note over the whole width of the body"]])
        for area in ("B1:C1", "D1:E1", "A4:A5", "A6:E6"):
            sheet.merge_cells(area)

    (table,) = tables(workbook(tmp_path, fill))
    assert table.header_rows == 2
    assert table.rows[0] == ("", "2023", "2023", "2024", "2024")
    assert table.rows[3][0] == table.rows[4][0] == "South"
    assert table.text.count("A note over the whole width") == 1
    assert {text for row in table.rows for text in row} >= {str(number) for number in range(1, 13)}


def test_title_merged_over_the_whole_table_is_its_caption(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["Sales by region", "", ""], ["Region", "Sum", "Share"], ["North", 5, 6]])
        sheet.merge_cells("A1:C1")

    parsed = workbook(tmp_path, fill)
    assert [block.kind for block in parsed.blocks] == ["heading", "caption", "table"]
    assert tables(parsed)[0].rows[0] == ("Region", "Sum", "Share")


def test_hidden_sheets_are_left_out_and_named_hidden_rows_are_read(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    put(sheet, "A1", [["a", "b"], ["seen", 1], ["folded", 2]])
    sheet.row_dimensions[3].hidden = True
    for state in ("hidden", "veryHidden"):
        other = book.create_sheet(f"Sheet-{state}")
        put(other, "A1", [["secret", 1]])
        other.sheet_state = state
    parsed = saved(tmp_path, book)
    text = "\n".join(block.text for block in parsed.blocks)
    assert "folded" in text
    assert "secret" not in text
    assert sum("hidden sheet" in note for note in parsed.notes) == 2
    assert any("hidden rows" in note for note in parsed.notes)


def test_workbook_without_visible_text_is_refused(tmp_path: Path) -> None:
    book = Workbook()
    put(book.create_sheet("Data"), "A1", [["secret", 1]])
    book["Data"].sheet_state = "hidden"
    with pytest.raises(NoTextError, match="outside its hidden ones"):
        saved(tmp_path, book)


def test_comments_and_chart_titles_follow_the_cells(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["Year", "Ducks"], [2019, 120], [2020, 135]])
        sheet["B2"].comment = Comment("Counted twice", "Jane Editor")
        chart = BarChart()
        chart.title = "Ducks by year"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        sheet.add_chart(chart, "D1")

    texts = [block.text for block in workbook(tmp_path, fill).blocks]
    assert "Comment on B2 (Jane Editor): Counted twice" in texts
    assert "Ducks by year" in texts
    assert sum("135" in text for text in texts) == 1


def test_replies_in_threads_are_read_and_their_copies_are_not(eval_data: Path) -> None:
    path = eval_data / "files/docling/xlsx/sources/xlsx_comments.xlsx"
    said = [block.text for block in parse_xlsx(path, path.name, LIMITS).blocks if block.text.startswith("Comment on")]
    assert len(said) == 5
    assert "Comment on F7 (Marcus Sterling (MS), 2026-06-18): I never thought it would be so low" in said


def test_table_that_the_file_marks_is_one_table_whatever_touches_it(tmp_path: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, "A1", [["touching note"], ["Item", "Price"], ["Pen", 2], ["Ink", 3]])
        sheet.add_table(DeclaredTable(displayName="Prices", ref="A2:B4"))

    parsed = workbook(tmp_path, fill)
    assert [block.kind for block in parsed.blocks] == ["heading", "heading", "table"]
    assert tables(parsed)[0].rows == (("Item", "Price"), ("Pen", "2"), ("Ink", "3"))


FIGURES = [["Region", "Sum"], ["North", "5"], ["South", "6"]]


def test_regions_are_parted_by_empty_rows_and_columns() -> None:
    found = region_tables({
        "A0": FIGURES,
        "D0": [["Item", "Price"], ["Pen", "2"]],
        "A6": [["Year", "x"], ["2019", "1"]],
    })
    assert [table[0] for table in found] == [("Region", "Sum"), ("Item", "Price"), ("Year", "x")]


def test_regions_keep_figures_with_their_labels_over_a_narrow_gap() -> None:
    labels = [[""], ["Revenue"], ["Costs"]]
    assert region_tables({"A0": labels, "C0": [["2023", "2024"], ["10", "12"], ["7", "8"]]}) == [
        (("", "2023", "2024"), ("Revenue", "10", "12"), ("Costs", "7", "8"))
    ]


def test_regions_keep_groups_of_rows_under_one_header() -> None:
    assert region_tables({"A0": FIGURES, "A4": [["East", "7"], ["West", "8"]]}) == [
        (*map(tuple, FIGURES), ("East", "7"), ("West", "8"))
    ]


def test_regions_that_touch_at_a_corner_are_two() -> None:
    found = region_tables({"A0": FIGURES, "C3": [["Item", "Price"], ["Pen", "2"]]})
    assert found == [tuple(map(tuple, FIGURES)), (("Item", "Price"), ("Pen", "2"))]


def test_cells_scattered_over_a_huge_sheet_are_no_huge_table() -> None:
    sheet = Sheet("S", {row: {row: f"cell{row}", row + 1: "x"} for row in range(0, 9000)})
    blocks = sheet_blocks(sheet, CellBudget("s", ParserSettings(memory_mb=256)))
    text = "\n".join(block.text for block in blocks)
    assert all(f"cell{row}" in text for row in range(0, 9000, 500))
    assert sum(len(block.text) for block in blocks) < 400_000


words = st.text(alphabet="abc é中,|\"='", min_size=0, max_size=6).map(lambda text: " ".join(text.split()))
grids = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(words, min_size=width, max_size=width), min_size=1, max_size=7)
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(grids)
def test_workbook_gives_back_every_text_once(tmp_path: Path, grid: list[list[str]]) -> None:
    book = Workbook()
    for row, cells in enumerate(grid, start=1):
        for column, text in enumerate(cells, start=1):
            if text:
                book.worksheets[0].cell(row, column, text).data_type = "s"
    wanted = sorted(text for row in grid for text in row if text)
    if not wanted:
        return
    parsed = saved(tmp_path, book)
    found = [
        text
        for block in parsed.blocks[1:]
        for text in ([cell for row in block.rows for cell in row] if block.rows else [block.text])
        if text
    ]
    assert sorted(found) == wanted


def packed(path: Path, **parts: bytes) -> Path:
    book = Workbook()
    book.worksheets[0]["A1"] = "text"
    source = path.with_suffix(".source")
    book.save(source)
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after:
        for member in before.infolist():
            replaced = next((value for name, value in parts.items() if name in member.filename), None)
            after.writestr(member.filename, before.read(member) if replaced is None else replaced)
    return path


def test_numbers_of_cards_and_people_are_whole_and_recognised(tmp_path: Path) -> None:
    numbers = ["4111111111111111", "110101199003078515", "13812345678"]
    rows = "".join(
        f'<row><c t="inlineStr"><is><t>somebody</t></is></c><c t="n"><v>{each}</v></c></row>' for each in numbers
    )
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{namespace}"><sheetData>{rows}</sheetData></worksheet>'
    parsed = parse_xlsx(packed(tmp_path / "cards.xlsx", sheet1=sheet.encode()), "cards.xlsx", LIMITS)
    (table,) = tables(parsed)
    assert [row[1] for row in table.rows] == numbers
    read = load_language(b"k" * 32).symbolise(table.text, tenant="t")
    assert sorted(secret.value for secret in read.secrets) == sorted(numbers)
    assert not any(each in read.text for each in numbers)


def test_zip_bomb_in_a_workbook_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bomb.xlsx", sheet1=b"<worksheet>" + b" " * 40_000_000)
    with pytest.raises(DocumentTooLargeError):
        parse_xlsx(path, "bomb.xlsx", ParserSettings(memory_mb=256))


def test_entity_bomb_in_a_workbook_is_refused(tmp_path: Path) -> None:
    bomb = b'<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet>&b;</worksheet>'
    with pytest.raises(CorruptDocumentError, match="entities"):
        parse_xlsx(packed(tmp_path / "bomb.xlsx", sheet1=bomb), "bomb.xlsx", LIMITS)


@pytest.mark.parametrize("part", ["sheet1", "styles", "workbook.xml"])
def test_damaged_workbook_is_refused(tmp_path: Path, part: str) -> None:
    with pytest.raises(CorruptDocumentError):
        parse_xlsx(packed(tmp_path / "bad.xlsx", **{part: b"<a><b></a>"}), "bad.xlsx", LIMITS)


def test_rows_that_are_formatted_but_empty_cost_no_memory(tmp_path: Path) -> None:
    empty = b"".join(b'<row r="%d"><c r="A%d" s="0"/><c r="B%d" s="0"/></row>' % (n, n, n) for n in range(2, 15_000))
    rows = b'<row r="1"><c r="A1"><v>7</v></c></row>' + empty
    sheet = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
    parsed = parse_xlsx(packed(tmp_path / "inflated.xlsx", sheet1=sheet % rows), "inflated.xlsx", LIMITS)
    assert [block.text for block in parsed.blocks] == ["Sheet", "7"]


def test_repeated_cells_above_the_limit_are_refused(tmp_path: Path) -> None:
    document = Document("spreadsheet")
    document.body.clear()
    table = Table("T")
    table.set_values([["x", "y"]])
    document.body.append(table)
    path = tmp_path / "bomb.ods"
    document.save(path)
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    row = b'<table:table-row table:number-rows-repeated="1048576">'
    parts["content.xml"] = parts["content.xml"].replace(b"<table:table-row>", row)
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    with pytest.raises(DocumentTooLargeError):
        parse_ods(path, "bomb.ods", ParserSettings(memory_mb=256))


def ods(tmp_path: Path, body: str, manifest: str = "") -> Path:
    path = tmp_path / "sheet.ods"
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (
            ("office", "office"),
            ("table", "table"),
            ("text", "text"),
            ("style", "style"),
            ("draw", "drawing"),
        )
    )
    content = (
        f'<office:document-content {names} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:automatic-styles>'
        '<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>'
        f"</office:automatic-styles><office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("content.xml", content)
        package.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
    return path


def cell(text: str, attributes: str = "") -> str:
    return f'<table:table-cell office:value-type="string" {attributes}><text:p>{text}</text:p></table:table-cell>'


def test_ods_cells_spans_repeats_and_comments_are_read(tmp_path: Path) -> None:
    comment = "<office:annotation><dc:creator>Jane</dc:creator><text:p>why?</text:p></office:annotation>"
    body = (
        '<table:table table:name="One"><table:table-row>'
        + cell("Year")
        + cell("Sum", 'table:number-columns-spanned="2"')
        + "<table:covered-table-cell/></table:table-row><table:table-row>"
        + '<table:table-cell office:value-type="date" office:date-value="2024-03-01">'
        + "<text:p>1.3.24</text:p></table:table-cell>"
        + '<table:table-cell office:value-type="percentage" office:value="0.052" table:number-columns-repeated="2">'
        + f"<text:p>5.2%</text:p></table:table-cell></table:table-row><table:table-row>{cell('x')}"
        + '<table:table-cell table:formula="of:=SUM([.A1:.A3])"/>'
        + f'<table:table-cell office:value-type="string">{comment}<text:p>a<text:s text:c="2"/>b</text:p>'
        + "</table:table-cell></table:table-row>"
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
        + '</table:table><table:table table:name="Two" table:style-name="h"><table:table-row>'
        + f"{cell('secret')}</table:table-row></table:table>"
    )
    parsed = parse_ods(ods(tmp_path, body), "sheet.ods", LIMITS)
    (table,) = tables(parsed)
    assert table.rows == (
        ("Year", "Sum", "Sum"),
        ("2024-03-01", "5.2%", "5.2%"),
        ("x", "=SUM(A1:A3) (not computed)", "a b"),
    )
    assert parsed.blocks[-1].text == "Comment on C3 (Jane): why?"
    assert "the hidden sheet 'Two' was left out" in parsed.notes


def test_ods_long_whole_numbers_that_are_shown_rounded_keep_their_digits(tmp_path: Path) -> None:
    def number(value: str, text: str) -> str:
        return (
            f'<table:table-row>{cell("n")}<table:table-cell office:value-type="float" office:value="{value}">'
            f"<text:p>{text}</text:p></table:table-cell></table:table-row>"
        )

    body = (
        number("4111111111111111", "4.11111111111111E+15")
        + number("110101199003078515", "110101199003079000")
        + number("13812345678", "1.38E+10")
        + number("12345678901", "12,345,678,901")
        + number("1234567", "1.23E+06")
    )
    parsed = parse_ods(ods(tmp_path, f'<table:table table:name="S">{body}</table:table>'), "s.ods", LIMITS)
    assert [row[1] for row in tables(parsed)[0].rows] == [
        "4111111111111111", "110101199003078515", "13812345678", "12,345,678,901", "1.23E+06",
    ]  # fmt: skip


def test_encrypted_ods_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(EncryptedDocumentError):
        parse_ods(ods(tmp_path, "", '<manifest:encryption-data xmlns:manifest="m"/>'), "s.ods", LIMITS)


def test_damaged_xls_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 3000)
    with pytest.raises(CorruptDocumentError):
        parse_xls(path, "bad.xls", LIMITS)


def test_damaged_xls_never_escapes_the_taxonomy(tmp_path: Path, eval_data: Path) -> None:
    whole = (eval_data / "files/docling/xls/sources/legacy_sample.xls").read_bytes()
    path = tmp_path / "bad.xls"
    for at in range(0, len(whole), 1999):
        path.write_bytes(whole[:at] + b"\xff\x00\x7f\xff" + whole[at + 4 :])
        try:
            parse_xls(path, "bad.xls", LIMITS)
        except IngestError:
            continue


SHEET_FILES = (".xlsx", ".xlsm", ".xls", ".ods", ".csv", ".tsv")


def test_every_real_spreadsheet_is_read(eval_data: Path) -> None:
    files = [path for path in sorted((eval_data / "files").rglob("*")) if path.suffix.lower() in SHEET_FILES]
    assert len(files) > 35
    for path in files:
        parsed = parse(path, detect(path, path.name), path.name, LIMITS)
        assert any(block.text.strip() for block in parsed.blocks if block.kind != "heading"), path.name
        assert all(len(set(map(len, block.rows))) == 1 for block in parsed.blocks if block.rows), path.name
