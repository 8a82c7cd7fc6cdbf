"""Pages of PDFs that are not plain: turned, set sideways or vertically, with forms and notes."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingest.parsers.pdf.arabic import with_ligatures
from ingest.parsers.pdf.document import parse_pdf
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings(ocr="off")


def parsed(document: pymupdf.Document, folder: Path) -> ParsedDocument:
    path = folder / "file"
    document.save(str(path))
    return parse_pdf(path, "a.pdf", LIMITS)


def said(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_pdf_text_set_sideways_reads_in_order_and_has_boxes_on_the_page(tmp_path: Path, angle: int) -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    lines = ["The board met on the third day of May and approved", "the accounts of the year without any change."]
    for index, line in enumerate(lines):
        place = {
            90: (100 + 12 * index, 700),
            180: (500, 700 - 12 * index),
            270: (400 - 12 * index, 100),
        }[angle]
        page.insert_text(place, line, fontsize=10, rotate=angle)
    found = parsed(document, tmp_path)
    assert said(found) == [" ".join(lines)]
    (box,) = found.blocks[0].boxes
    drawn = pymupdf.Rect()
    for block in page.get_text("dict")["blocks"]:
        drawn |= pymupdf.Rect(block["bbox"])
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx(tuple(drawn), abs=1)


def test_pdf_table_set_sideways_is_read_by_its_cells(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    for x in (100, 120, 140):
        page.draw_line((x, 300), (x, 700))
    for y in (300, 500, 700):
        page.draw_line((100, y), (140, y))
    for row, cells in enumerate([("Region", "Sales of the year"), ("Asia", "1,250")]):
        for column, cell in enumerate(cells):
            page.insert_text((114 + 20 * row, 695 - 200 * column), cell, fontsize=9, rotate=90)
    page.insert_text((80, 695), "Sales by region, in millions", fontsize=9, rotate=90)
    found = parsed(document, tmp_path)
    assert [block.rows for block in found.blocks if block.kind == "table"] == [
        (("Region", "Sales of the year"), ("Asia", "1,250"))
    ]
    (box,) = next(block.boxes for block in found.blocks if block.kind == "table")
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx((100, 300, 140, 700), abs=2)


def test_pdf_label_at_the_margin_that_runs_up_stays_out_of_the_text(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((40, 500), "Confidential draft", fontsize=9, rotate=90)
    for index in range(4):
        page.insert_text(
            (72, 100 + 12 * index), "the committee came to the view that this limit should stay", fontsize=9
        )
    texts = said(parsed(document, tmp_path))
    assert texts[-1] == "Confidential draft"
    assert "Confidential" not in "".join(texts[:-1])


def vertical(columns: list[str]) -> bytes:
    """A page whose font writes downwards, as PyMuPDF itself cannot make one."""
    shows = "".join(
        f"BT /F1 12 Tf 1 0 0 1 {500 - 20 * index} 700 Tm <{column.encode('utf-16-be').hex()}> Tj ET\n"
        for index, column in enumerate(columns)
    )
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(shows)}>>\nstream\n{shows}endstream",
        "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-V/DescendantFonts[6 0 R]>>",
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>/FontDescriptor 7 0 R>>",
        "<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0"
        "/Ascent 800/Descent -200/CapHeight 700/StemV 80>>",
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R/Size 8>>\n%%EOF".encode()


def test_pdf_vertical_chinese_reads_down_and_from_right_to_left(tmp_path: Path) -> None:
    columns = ["本公司董事会于二零二四年五月三日召开会议审", "议通过年度报告并决定派发现金股利每股两元。"]
    path = tmp_path / "file"
    path.write_bytes(vertical(columns))
    found = parse_pdf(path, "a.pdf", LIMITS)
    assert said(found) == ["".join(columns)]
    (box,) = found.blocks[0].boxes
    assert 470 < box.x0 < 490 < box.x1 < 515


def test_pdf_form_values_are_read_whether_drawn_or_not(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Name of the applicant:", fontsize=9)
    widget = pymupdf.Widget()
    widget.field_type = pymupdf.PDF_WIDGET_TYPE_TEXT
    widget.field_name, widget.field_value = "name", "Ada Lovelace"
    widget.rect = pymupdf.Rect(180, 88, 320, 104)
    page.add_widget(widget)
    with_drawing = pymupdf.open("pdf", document.tobytes())
    assert "".join(said(parsed(with_drawing, tmp_path))).count("Ada Lovelace") == 1
    document.xref_set_key(next(iter(page.widgets())).xref, "AP", "null")
    without = pymupdf.open("pdf", document.tobytes())
    assert "".join(said(parsed(without, tmp_path))).count("Ada Lovelace") == 1


def test_pdf_typed_on_text_is_read(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Contract between the parties.", fontsize=9)
    page.add_freetext_annot(pymupdf.Rect(72, 200, 300, 230), "Agreed on 3 May", fontsize=9)
    assert said(parsed(document, tmp_path)) == ["Contract between the parties.", "Agreed on 3 May"]


def test_arabic_ligatures_come_in_the_order_of_the_line() -> None:
    widths = [("ا", 3.0), ("إ", 0.0), ("ل", 6.6), ("ن", 3.7), ("ا", 3.0), ("ل", 4.0)]
    characters = [{"c": letter, "bbox": (10.0, 0.0, 10.0 + width, 12.0)} for letter, width in widths]
    (block,) = with_ligatures([{"lines": [{"spans": [{"size": 9.0, "chars": characters}]}]}])
    assert block["lines"][0]["spans"] == [{"size": 9.0, "text": "الإنال"}]
