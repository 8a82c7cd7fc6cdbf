"""ODT and ODP: headings, lists, tables with repeats and spans, frames, notes, comments, slides; bombs refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detect import detect
from ingest.errors import CorruptDocumentError, DocumentTooLargeError, EncryptedDocumentError, NoTextError
from ingest.parsers.opendocument.odp import parse_odp
from ingest.parsers.opendocument.odt import parse_odt
from ingest.parsers.opendocument.package import _NAMESPACES
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
NAMESPACES = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items() if prefix != "xml")
NUMBERED = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="1"/>'
    "</text:list-style>"
)


def written(
    folder: Path, body: str, kind: str = "text", styles: str = "", automatic: str = "", **members: str | bytes
) -> Path:
    path = folder / "file"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        content = f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        content += f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        package.writestr("content.xml", f"<office:document-content {NAMESPACES}>{content}</office:document-content>")
        package.writestr("styles.xml", f"<office:document-styles {NAMESPACES}>{styles}</office:document-styles>")
        for name, member in members.items():
            package.writestr(name.replace("__", "/"), member)
    return path


def odt(folder: Path, body: str, **parts: str | bytes) -> ParsedDocument:
    return parse_odt(written(folder, body, **parts), "a.odt", LIMITS)


def odp(folder: Path, body: str, **parts: str | bytes) -> ParsedDocument:
    return parse_odp(written(folder, body, "presentation", **parts), "a.odp", LIMITS)


def outline(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def frame(text: str, x: float, y: float, kind: str = "") -> str:
    role = f' presentation:class="{kind}"' if kind else ""
    place = f'svg:x="{x}cm" svg:y="{y}cm" svg:width="4cm" svg:height="2cm"'
    return f"<draw:frame{role} {place}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"


def test_odt_reads_headings_by_outline_level_and_has_no_pages(tmp_path: Path) -> None:
    outline_style = (
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>'
    )
    document = odt(
        tmp_path,
        '<text:p text:style-name="Title">员工手册</text:p><text:h text:outline-level="1">Scope</text:h>'
        '<text:h text:outline-level="2">Who</text:h><text:h text:outline-level="2">Where</text:h>'
        "<text:p>All<text:s text:c='3'/>employees.<text:line-break/>Always.</text:p>",
        styles=outline_style,
    )
    assert [(block.level, block.text) for block in document.blocks] == [
        (1, "员工手册"),
        (1, "1 Scope"),
        (2, "1.1 Who"),
        (2, "1.2 Where"),
        (0, "All employees.\nAlways."),
    ]
    assert (document.title, document.page_count) == ("员工手册", None)
    assert all(block.page_number is None for block in document.blocks)


def test_odt_lists_are_numbered_nested_and_continued(tmp_path: Path) -> None:
    one = "<text:list-item><text:p>{}</text:p>{}</text:list-item>".format
    inner = f"<text:list>{one('b', '')}</text:list>"
    first = f'<text:list text:style-name="L1" xml:id="x">{one("a", inner)}{one("c", "")}</text:list>'
    second = f'<text:list text:style-name="L1" text:continue-list="x">{one("d", "")}</text:list>'
    third = f'<text:list text:style-name="L1">{one("e", "")}</text:list>'
    document = odt(tmp_path, f"{first}<text:p>between</text:p>{second}<text:p>x</text:p>{third}", automatic=NUMBERED)
    assert outline(document) == [
        ("list", "1. a\n  a) b\n2. c"),
        ("paragraph", "between"),
        ("list", "3. d"),
        ("paragraph", "x"),
        ("list", "1. e"),
    ]


def test_odt_merged_cells_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    def cell(text: str, spans: str = "") -> str:
        return f"<table:table-cell {spans}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    repeated, wide = 'table:number-columns-repeated="2"', 'table:number-columns-spanned="3"'
    columns, rows = 'table:number-columns-spanned="2"', 'table:number-rows-spanned="2"'
    body = (
        f"<table:table><table:table-header-rows>"
        f"<table:table-row>{cell('Region', rows)}{cell('Revenue', columns)}{covered}</table:table-row>"
        f"<table:table-row>{covered}{cell('2023')}{cell('2024')}</table:table-row></table:table-header-rows>"
        f"<table:table-row>{cell('North')}{cell('1', repeated)}</table:table-row>"
        f"<table:table-row>{cell('A note', wide)}{covered}{covered}</table:table-row>"
        "</table:table>"
    )
    (block,) = odt(tmp_path, body).blocks
    assert block.rows == (
        ("Region", "Revenue", "Revenue"),
        ("Region", "2023", "2024"),
        ("North", "1", "1"),
        ("A note", "", ""),
    )
    assert block.header_rows == 2


def test_odt_repeated_rows_and_columns_are_bounded(tmp_path: Path) -> None:
    row = '<table:table-row table:number-rows-repeated="1048576">{}</table:table-row>'.format
    cell = '<table:table-cell table:number-columns-repeated="16384">{}</table:table-cell>'.format
    (block,) = odt(tmp_path, f"<table:table>{row(cell('<text:p>x</text:p>'))}{row(cell(''))}</table:table>").blocks
    assert len(block.rows) * len(block.rows[0]) <= 1024 * 1000


def test_odt_notes_comments_and_frames_follow_their_paragraph(tmp_path: Path) -> None:
    note = (
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>unaudited</text:p></text:note-body></text:note>"
    )
    comment = (
        "<office:annotation><dc:creator>Li Wei</dc:creator><dc:date>2024-03-05T10:00:00</dc:date>"
        "<text:p>Was 4 %.</text:p></office:annotation>"
    )
    picture = "<draw:frame><draw:image/><svg:desc>Map of sites</svg:desc></draw:frame>"
    document = odt(tmp_path, f"<text:p>The fee{note} is{comment} 5 %.{picture}{frame('Box', 1, 1)}</text:p>")
    assert outline(document) == [
        ("paragraph", "The fee is 5 %."),
        ("paragraph", "Footnote 1: unaudited"),
        ("paragraph", "Comment by Li Wei (2024-03-05): Was 4 %."),
        ("caption", "Map of sites"),
        ("paragraph", "Box"),
    ]


def test_odt_that_is_nested_deeply_loses_no_text(tmp_path: Path) -> None:
    body = "<text:section>" * 150 + "<text:p>deep</text:p>" + "</text:section>" * 150
    assert outline(odt(tmp_path, body)) == [("paragraph", "deep")]


def test_odt_shows_the_text_with_changes_accepted(tmp_path: Path) -> None:
    deleted = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>old</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    )
    assert outline(odt(tmp_path, f"{deleted}<text:p>new<text:change/></text:p>")) == [("paragraph", "new")]


def test_odt_charts_and_formulas_are_read_from_their_objects(tmp_path: Path) -> None:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in row)
        + "</table:table-row>"
        for row in (("", "2024"), ("Q1", "4.5"))
    )
    chart = (
        f'<office:document-content {NAMESPACES}><chart:chart chart:class="chart:bar">'
        f"<chart:title><text:p>Sales</text:p></chart:title><table:table>{rows}</table:table></chart:chart></office:document-content>"
    )
    formula = '<math xmlns="http://www.w3.org/1998/Math/MathML"><annotation>E = m c^2</annotation></math>'
    inside = '<draw:frame><draw:object xlink:href="./{}"/></draw:frame>'.format
    document = odt(
        tmp_path,
        f"<text:p>Energy: {inside('O2')}.</text:p><text:p>{inside('O1')}</text:p>",
        **{"O1__content.xml": chart, "O2__content.xml": formula},
    )
    assert outline(document) == [
        ("paragraph", "Energy: E = m c^2."),
        ("caption", "Bar chart: Sales"),
        ("table", " | 2024\nQ1 | 4.5"),
    ]


def test_odt_page_headers_stand_once_and_page_numbers_not_at_all(tmp_path: Path) -> None:
    master = (
        '<style:master-page style:name="a"><style:header><text:p>Acme Ltd</text:p></style:header>'
        "<style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page>"
        '<style:master-page style:name="b"><style:header><text:p>Acme  Ltd</text:p></style:header></style:master-page>'
    )
    styles = f"<office:master-styles>{master}</office:master-styles>"
    assert outline(odt(tmp_path, "<text:p>x</text:p>", styles=styles)) == [
        ("paragraph", "Page header: Acme Ltd"),
        ("paragraph", "x"),
    ]


def test_odp_reads_slides_in_order_with_titles_notes_and_hidden_ones(tmp_path: Path) -> None:
    style = (
        '<style:style style:name="dp2" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    notes = f"<presentation:notes>{frame('', 0, 0, 'page')}{frame('Say why.', 0, 9, 'notes')}</presentation:notes>"
    body = (
        f"<draw:page>{frame('2024', 1, 5, 'subtitle')}{frame('Report', 1, 1, 'title')}</draw:page>"
        f'<draw:page draw:style-name="dp2">{frame("right", 12, 5)}{frame("left", 1, 5)}{frame("Costs", 1, 1, "title")}'
        f"{frame('7', 20, 20, 'page-number')}{notes}</draw:page>"
    )
    document = odp(tmp_path, body, automatic=style)
    assert [(block.page_number, block.level, block.text) for block in document.blocks] == [
        (1, 1, "Report"),
        (1, 0, "2024"),
        (2, 2, "Costs"),
        (2, 0, "left"),
        (2, 0, "right"),
        (2, 0, "Speaker notes: Say why."),
    ]
    assert (document.title, document.page_count) == ("Report", 2)
    assert "hidden slides were read too: 2" in document.notes


def test_odp_with_more_slides_than_allowed_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "<draw:page/>" * 3, "presentation")
    with pytest.raises(DocumentTooLargeError):
        parse_odp(path, "a.odp", ParserSettings(max_pages=2))


@pytest.mark.parametrize("parse", [parse_odt, parse_odp])
def test_odf_without_text_is_refused(tmp_path: Path, parse) -> None:
    with pytest.raises(NoTextError):
        parse(written(tmp_path, "<text:p/>"), "a", LIMITS)


def test_odf_that_is_encrypted_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "<text:p>x</text:p>", **{"META-INF__manifest.xml": "<m><manifest:encryption-data/></m>"})
    with pytest.raises(EncryptedDocumentError):
        parse_odt(path, "a.odt", LIMITS)


def test_odf_entity_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("content.xml", '<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><a>&b;</a>')
    with pytest.raises(CorruptDocumentError):
        parse_odt(path, "a.odt", LIMITS)


def test_odf_zip_bomb_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "file", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("content.xml", b"<a>" + b" " * (64 * 1024 * 1024))
    with pytest.raises(DocumentTooLargeError):
        parse_odt(tmp_path / "file", "a.odt", LIMITS)


def test_odf_with_broken_content_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("content.xml", "<office:document-content>")
    assert detect(path, "a.odt") == "odt"
    with pytest.raises(CorruptDocumentError):
        parse_odt(path, "a.odt", LIMITS)


@settings(max_examples=40, deadline=None)
@given(words=st.lists(st.text("ab 年&<\n", min_size=1, max_size=8), min_size=1, max_size=6))
def test_odt_loses_no_word_whatever_holds_it(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    holders = (
        "<text:p>{}</text:p>",
        "<text:list><text:list-item><text:p>{}</text:p></text:list-item></text:list>",
        "<text:section><text:h>{}</text:h></text:section>",
        "<table:table><table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row></table:table>",
        "<draw:g><draw:rect><text:p><text:span>{}</text:span></text:p></draw:rect></draw:g>",
        "<text:p>x<text:a>{}</text:a></text:p>",
    )
    body = "".join(holder.format(escape(word)) for holder, word in zip(holders, words, strict=False))
    document = odt(tmp_path_factory.mktemp("odt"), f"<text:p>x</text:p>{body}")
    text = "".join("".join(block.text.split()) for block in document.blocks)
    assert sum(map(text.count, "ab年&<")) == sum("".join(words).count(one) for one in "ab年&<")


def test_odt_tables_of_reports_come_back_cell_by_cell(tmp_path: Path, eval_data: Path) -> None:
    with (eval_data / "tatqa" / "dev_contexts.jsonl").open(encoding="utf-8") as file:
        tables = [json.loads(line)["table"] for _, line in zip(range(12), file, strict=False)]

    def cells(row: list[str]) -> str:
        return "".join(f"<table:table-cell><text:p>{escape(text)}</text:p></table:table-cell>" for text in row)

    rows = ("".join(f"<table:table-row>{cells(row)}</table:table-row>" for row in table) for table in tables)
    body = "".join(f"<table:table>{table}</table:table>" for table in rows)
    read = [block.rows for block in odt(tmp_path, body).blocks]
    assert [_without_empty(table) for table in read] == [_without_empty(table) for table in tables]


def _without_empty(table) -> list[list[str]]:
    rows = [[" ".join(cell.split()) for cell in row] for row in table if any(cell.strip() for cell in row)]
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows]
