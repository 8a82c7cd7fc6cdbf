"""PPTX: reading order, titles, lists, merged cells, charts, SmartArt, notes, comments; bombs refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pptx
import pytest
from PIL import Image, ImageDraw, ImageFont
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Emu, Inches

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError
from ingest.parsers.office.math_text import MATH, math_text
from ingest.parsers.office.office_titles import own_title
from ingest.parsers.office.pptx import parse_pptx
from ingest.parsers.office.reading_order import reading_order
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
TITLE, CONTENT, SECTION, TITLE_ONLY, BLANK = 0, 1, 2, 5, 6
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
DGM = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def parsed(folder: Path, presentation) -> ParsedDocument:
    path = folder / "file"
    presentation.save(str(path))
    return parse_pptx(path, "a.pptx", LIMITS)


def outline(document: ParsedDocument) -> list[tuple[str, int | None, str]]:
    return [(block.kind, block.page_number, block.text) for block in document.blocks]


def add_slide(presentation, layout: int, title: str = ""):
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def add_text(shapes, text: str, left: float, top: float, width: float = 2, height: float = 1):
    box = shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height))
    box.text_frame.text = text
    return box


def test_pptx_gives_each_slide_its_number_and_titles_their_level(tmp_path: Path) -> None:
    source = pptx.Presentation()
    add_slide(source, TITLE, "年度报告").placeholders[1].text = "2024"
    add_slide(source, SECTION, "Part one")
    add_slide(source, TITLE_ONLY, "Revenue")
    document = parsed(tmp_path, source)
    headings = [(b.text, b.level, b.page_number) for b in document.blocks if b.kind == "heading"]
    assert headings == [("年度报告", 1, 1), ("Part one", 2, 2), ("Revenue", 3, 3)]
    assert (document.page_count, document.title) == (3, "年度报告")
    assert [page.page_number for page in document.pages] == [1, 2, 3]


def test_pptx_reads_the_title_first_and_shapes_as_they_stand(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, TITLE_ONLY)
    add_text(slide.shapes, "bottom", 1, 6)
    add_text(slide.shapes, "top right", 6, 2)
    add_text(slide.shapes, "top left", 1, 2)
    slide.shapes.title.text = "Title"
    assert [text for _, _, text in outline(parsed(tmp_path, source))] == ["Title", "top left", "top right", "bottom"]


def test_pptx_slide_without_a_title_takes_its_first_line_where_that_reads_like_one(tmp_path: Path) -> None:
    source = pptx.Presentation()
    for lead in ("Market overview", "We grew, and then we stopped growing.", "B2"):
        slide = add_slide(source, BLANK)
        add_text(slide.shapes, lead, 1, 1)
        add_text(slide.shapes, "Figures follow.", 1, 4)
    kinds = [block.kind for block in parsed(tmp_path, source).blocks]
    assert kinds == ["heading", "paragraph", "paragraph", "paragraph", "paragraph", "paragraph"]


def test_pptx_keeps_groups_together_and_opens_nested_ones(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, BLANK)
    add_text(slide.shapes, "beside", 7, 2, 2, 4)
    group = slide.shapes.add_group_shape()
    add_text(group.shapes, "second", 1, 4)
    inner = group.shapes.add_group_shape()
    add_text(inner.shapes, "first", 1, 2)
    assert [text for _, _, text in outline(parsed(tmp_path, source))] == ["first", "second", "beside"]


def test_pptx_lists_have_levels_and_inherit_bullets_from_the_master(tmp_path: Path) -> None:
    source = pptx.Presentation()
    body = add_slide(source, CONTENT, "Plan").placeholders[1].text_frame
    body.text = "Hire"
    below = body.add_paragraph()
    below.text, below.level = "two engineers", 1
    plain = body.add_paragraph()
    plain.text = "No bullet here."
    plain._p.get_or_add_pPr().append(parse_xml(f"<a:buNone {A}/>"))
    assert outline(parsed(tmp_path, source))[1:] == [
        ("list", 1, "- Hire\n  - two engineers"),
        ("paragraph", 1, "No bullet here."),
    ]


def test_pptx_counts_automatic_numbers_and_starts_them_where_told(tmp_path: Path) -> None:
    source = pptx.Presentation()
    frame = add_text(add_slide(source, BLANK).shapes, "", 1, 1).text_frame
    kinds = ["arabicPeriod", "arabicPeriod", "alphaLcParenR", "arabicPeriod"]
    for index, (text, kind) in enumerate(zip("abcd", kinds, strict=True)):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.text = text
        paragraph.level = 1 if kind.startswith("alpha") else 0
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {A} type="{kind}" startAt="3"/>'))
    assert outline(parsed(tmp_path, source)) == [("list", 1, "3. a\n4. b\n  c) c\n5. d")]


def test_pptx_merged_cells_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    source = pptx.Presentation()
    frame = add_slide(source, BLANK).shapes.add_table(4, 3, 0, 0, Inches(6), Inches(3))
    table = frame.table
    texts = [["Region", "Revenue", ""], ["", "2023", "2024"], ["North", "1", "2"], ["A note over all columns", "", ""]]
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(3, 0).merge(table.cell(3, 2))
    (block,) = parsed(tmp_path, source).blocks
    assert block.rows == (
        ("Region", "Revenue", "Revenue"),
        ("Region", "2023", "2024"),
        ("North", "1", "2"),
        ("A note over all columns", "", ""),
    )
    assert block.header_rows == 2
    assert block.page_number == 1


def test_pptx_charts_become_captioned_tables(tmp_path: Path) -> None:
    source = pptx.Presentation()
    chart_data = CategoryChartData(number_format="0%")
    chart_data.categories = ["华东", "华南"]
    chart_data.add_series("2023", (0.25, 0.5))
    chart_data.add_series("2024", (0.3, None))
    slide = add_slide(source, BLANK)
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), chart_data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Share by region"
    caption, table = parsed(tmp_path, source).blocks
    assert (caption.kind, caption.text) == ("caption", "Bar chart: Share by region")
    assert table.rows == (("", "2023", "2024"), ("华东", "25%", "30%"), ("华南", "50%", ""))


def test_pptx_scatter_charts_keep_each_series_own_x_values(tmp_path: Path) -> None:
    source = pptx.Presentation()
    chart_data = XyChartData()
    for name, points in (("a", [(1, 10.5)]), ("b", [(2, 20), (3, 30)])):
        series = chart_data.add_series(name)
        for x, y in points:
            series.add_data_point(x, y)
    add_slide(source, BLANK).shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, Inches(4), Inches(3), chart_data)
    table = parsed(tmp_path, source).blocks[-1]
    assert table.rows == (("Series", "X", "Y"), ("a", "1", "10.5"), ("b", "2", "20"), ("b", "3", "30"))


def test_pptx_reads_smartart_from_its_data_part(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, BLANK)
    points = "".join(
        f'<dgm:pt modelId="{model}" type="{kind}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for model, kind, text in (
            ("0", "doc", ""),
            ("2", "node", "Check"),
            ("1", "node", "Collect"),
            ("3", "pres", "x"),
        )
    )
    joints = (
        '<dgm:cxn modelId="8" srcId="0" destId="1" srcOrd="0"/><dgm:cxn modelId="9" srcId="1" destId="2" srcOrd="0"/>'
    )
    xml = f"<dgm:dataModel {A} {DGM}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{joints}</dgm:cxnLst></dgm:dataModel>"
    kind = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), kind, source.part.package, xml.encode())
    relation = slide.part.relate_to(part, f"{RT.DIAGRAM_DATA}")
    frame = slide.shapes.add_table(1, 1, 0, 0, Inches(1), Inches(1))._element
    graphic = frame.find(".//{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData")
    graphic.clear()
    graphic.append(parse_xml(f'<dgm:relIds {DGM} {R} r:dm="{relation}"/>'))
    assert outline(parsed(tmp_path, source)) == [("list", 1, "- Collect\n  - Check")]


def test_pptx_keeps_notes_hidden_slides_and_alternative_texts_and_says_so(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, TITLE_ONLY, "Costs")
    slide.notes_slide.notes_text_frame.text = "Mention the 12 % rise."
    slide._element.set("show", "0")
    picture = slide.shapes.add_picture(io.BytesIO(_png()), 0, 0, Emu(9), Emu(9))
    picture._element.nvPicPr.cNvPr.set("descr", "Costs rise\n from 2022")
    silent = slide.shapes.add_picture(io.BytesIO(_png()), 0, 0, Emu(9), Emu(9))
    silent._element.nvPicPr.cNvPr.set("descr", "image3.png")
    document = parsed(tmp_path, source)
    assert outline(document) == [
        ("heading", 1, "Costs"),
        ("caption", 1, "Costs rise from 2022"),
        ("paragraph", 1, "Speaker notes: Mention the 12 % rise."),
    ]
    assert "hidden slides were read too: 1" in document.notes


def test_pptx_reads_the_pictures_of_slides_without_other_text(tmp_path: Path) -> None:
    picture = Image.new("RGB", (700, 120), "white")
    ImageDraw.Draw(picture).text((20, 20), "Revenue rose by 12 percent", fill="black", font=ImageFont.load_default(48))
    drawn = io.BytesIO()
    picture.save(drawn, "PNG")
    source = pptx.Presentation()
    add_slide(source, BLANK).shapes.add_picture(drawn, 0, 0)
    add_slide(source, TITLE_ONLY, "Costs").shapes.add_picture(drawn, 0, 0)
    document = parsed(tmp_path, source)
    assert outline(document) == [("paragraph", 1, "Revenue rose by 12 percent"), ("heading", 2, "Costs")]
    assert [page.ocr for page in document.pages] == [True, False]
    source.slides._sldIdLst.remove(source.slides._sldIdLst[1])
    source.save(str(tmp_path / "file"))
    with pytest.raises(NoTextError, match="OCR is switched off"):
        parse_pptx(tmp_path / "file", "a.pptx", ParserSettings(ocr="off"))


def test_pptx_drops_slide_numbers_dates_and_footers(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, TITLE_ONLY, "Costs")
    for kind in ("sldNum", "dt", "ftr"):
        box = add_text(slide.shapes, "furniture", 1, 7)
        box._element.nvSpPr.nvPr.append(
            parse_xml(f'<p:ph xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" type="{kind}"/>')
        )
    assert outline(parsed(tmp_path, source)) == [("heading", 1, "Costs")]


def test_pptx_reads_comments_with_their_author(tmp_path: Path) -> None:
    source = pptx.Presentation()
    slide = add_slide(source, TITLE_ONLY, "Costs")
    p = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    authors = f'<p:cmAuthorLst {p}><p:cmAuthor id="0" name="Li Wei"/></p:cmAuthorLst>'
    comment = f'<p:cmLst {p}><p:cm authorId="0" dt="2024-03-05T10:00:00"><p:text>Check this.</p:text></p:cm></p:cmLst>'
    package = source.part.package
    source.part.relate_to(Part(PackURI("/ppt/a.xml"), "application/xml", package, authors.encode()), RT.COMMENT_AUTHORS)
    slide.part.relate_to(Part(PackURI("/ppt/c.xml"), "application/xml", package, comment.encode()), RT.COMMENTS)
    assert outline(parsed(tmp_path, source))[1:] == [("paragraph", 1, "Comment by Li Wei (2024-03-05): Check this.")]


def test_pptx_takes_no_title_that_the_program_wrote(tmp_path: Path) -> None:
    source = pptx.Presentation()
    source.core_properties.title = "PowerPoint Presentation"
    add_slide(source, TITLE_ONLY, "Costs")
    assert parsed(tmp_path, source).title == "Costs"
    source.core_properties.title = "Cost review"
    assert parsed(tmp_path, source).title == "Cost review"


@pytest.mark.parametrize(
    "title",
    ["Microsoft Word - draft.doc", "Word Document", "PowerPoint 演示文稿", "Slide 1", "report_v2.docx", "", None],
)
def test_own_title_is_empty_for_what_programs_write(title: str | None) -> None:
    assert own_title(title) == ""


def test_own_title_keeps_what_people_write() -> None:
    assert own_title(" Presentation of the 2024 accounts ") == "Presentation of the 2024 accounts"


def test_pptx_without_text_is_refused(tmp_path: Path) -> None:
    source = pptx.Presentation()
    add_slide(source, BLANK)
    with pytest.raises(NoTextError):
        parsed(tmp_path, source)


def test_pptx_with_more_slides_than_allowed_is_refused(tmp_path: Path) -> None:
    source = pptx.Presentation()
    for _ in range(3):
        add_slide(source, TITLE_ONLY, "x")
    source.save(str(tmp_path / "file"))
    with pytest.raises(DocumentTooLargeError):
        parse_pptx(tmp_path / "file", "a.pptx", ParserSettings(max_pages=2))


def test_pptx_zip_bomb_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "file", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("ppt/slides/slide1.xml", b"<a>" + b" " * (64 * 1024 * 1024))
    with pytest.raises(DocumentTooLargeError):
        parse_pptx(tmp_path / "file", "a.pptx", LIMITS)


def test_pptx_entity_bomb_is_refused(tmp_path: Path) -> None:
    pptx.Presentation().save(str(tmp_path / "good"))
    bomb = b'<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><p>&b;</p>'
    with zipfile.ZipFile(tmp_path / "good") as good, zipfile.ZipFile(tmp_path / "file", "w") as package:
        for member in good.infolist():
            package.writestr(member.filename, bomb if "presentation.xml" in member.filename else good.read(member))
    with pytest.raises(CorruptDocumentError):
        parse_pptx(tmp_path / "file", "a.pptx", LIMITS)


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([], []),
        ([(0, 0, 1, 1), (0, 0, 1, 1)], [0, 1]),
        # A comparison: two headers that touch their columns.
        ([(60, 0, 100, 10), (60, 10, 100, 50), (0, 0, 40, 10), (0, 10, 40, 50)], [2, 3, 0, 1]),
        # Cards, two by two, with equal gaps.
        ([(60, 60, 100, 100), (0, 60, 40, 100), (60, 0, 100, 40), (0, 0, 40, 40)], [3, 2, 1, 0]),
    ],
)
def test_reading_order_tells_columns_from_rows(boxes: list[tuple[int, int, int, int]], order: list[int]) -> None:
    assert reading_order(boxes) == order


def test_math_text_is_linear() -> None:
    m = f'xmlns:m="{MATH[1:-1]}"'
    run = "<m:r><m:t>{}</m:t></m:r>".format
    square = f"<m:sSup><m:e>{run('b')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{square}{run('-4ac')}</m:e></m:rad>"
    formula = (
        f"<m:oMath {m}>{run('x=')}<m:f><m:num>{run('-b±')}{root}</m:num><m:den>{run('2a')}</m:den></m:f></m:oMath>"
    )
    assert math_text(parse_xml(formula)) == "x=(-b±√(b^2-4ac))/2a"


def test_pptx_tables_of_reports_come_back_cell_by_cell(tmp_path: Path, eval_data: Path) -> None:
    contexts = [json.loads(line) for line in _lines(eval_data / "tatqa" / "dev_contexts.jsonl", 12)]
    source = pptx.Presentation()
    tables = [context["table"] for context in contexts]
    for table in tables:
        frame = add_slide(source, BLANK).shapes.add_table(len(table), len(table[0]), 0, 0, Inches(6), Inches(3))
        for row, line in enumerate(table):
            for column, text in enumerate(line):
                frame.table.cell(row, column).text = text
    blocks = parsed(tmp_path, source).blocks
    assert [block.rows for block in blocks] == [_as_read(table) for table in tables]


def _as_read(table: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    """What is promised of a table without merged cells: all of it but rows and columns without any text."""
    rows = [tuple(" ".join(cell.split()) for cell in row) for row in table if any(cell.strip() for cell in row)]
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return tuple(tuple(row[column] for column in kept) for row in rows)


def _lines(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [line for _, line in zip(range(count), file, strict=False)]


def _png() -> bytes:
    return bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000005"
        "0001a5f645400000000049454e44ae426082"
    )
