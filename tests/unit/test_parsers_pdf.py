"""PDF: reading order, headings, paragraphs over lines, columns and pages, furniture, tables; right pages always."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, EncryptedDocumentError, NoTextError
from ingest.parsers.pdf.document import parse_pdf
from ingest.parsers.pdf.lines import garbled_ratio
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

LIMITS = ParserSettings()
WIDTH, HEIGHT = 595, 842
Write = Callable[..., None]


class Draft:
    """A PDF under construction; text is placed by its baseline."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.page = None

    def new_page(self) -> Draft:
        self.page = self.document.new_page(width=WIDTH, height=HEIGHT)
        return self

    def text(self, x: float, y: float, text: str, size: float = 10, font: str = "helv") -> Draft:
        self.page.insert_text((x, y), text, fontsize=size, fontname=font)
        return self

    def lines(
        self, x: float, y: float, lines: list[str], size: float = 10, font: str = "helv", leading: float = 12
    ) -> Draft:
        for index, line in enumerate(lines):
            self.text(x, y + index * leading, line, size, font)
        return self

    def parsed(self, folder: Path, limits: ParserSettings = LIMITS, **saving: object) -> ParsedDocument:
        path = folder / "file"
        self.document.save(str(path), **saving)
        return parse_pdf(path, "a.pdf", limits)


def texts(document: ParsedDocument, *kinds: str) -> list[str]:
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


FILL = "The quarterly report covers revenue, cost and cash flow of all regions and"


def test_pdf_joins_lines_and_mends_hyphens(tmp_path: Path) -> None:
    draft = Draft().new_page()
    draft.lines(
        72,
        100,
        [FILL, "explains why the operating profit fell while the long-term infor-", "mation systems were renewed."],
    )
    draft.lines(72, 200, [FILL, "says more."])
    document = draft.parsed(tmp_path)
    assert texts(document) == [
        f"{FILL} explains why the operating profit fell while the long-term information systems were renewed.",
        f"{FILL} says more.",
    ]
    assert document.pages[0].characters > 100
    assert (document.page_count, document.blocks[0].page_number, document.blocks[0].page_end) == (1, 1, 1)


def test_pdf_joins_chinese_lines_without_space(tmp_path: Path) -> None:
    lines = [
        "本公司第三季度实现营业收入二点三八亿元较去年同期下滑百分之五点二主要原因是",
        "原材料价格上涨以及海外市场需求放缓。",
    ]
    document = Draft().new_page().lines(72, 100, lines, font="china-s", leading=15).parsed(tmp_path)
    assert texts(document) == ["".join(lines)]


def test_pdf_reads_two_columns_one_after_the_other(tmp_path: Path) -> None:
    draft = Draft().new_page().text(72, 80, "A title that stands over both of the columns of this page, in large", 14)
    left = [f"left column line {index} with words to fill" for index in range(8)]
    right = [f"right column line {index} and words to fill" for index in range(8)]
    draft.lines(72, 120, left).lines(320, 120, right)
    draft.text(72, 300, "A closing line that spans the whole width of the page below both of the two columns.")
    text = " ".join(texts(draft.parsed(tmp_path)))
    positions = [
        text.index(part)
        for part in (
            "A title",
            "left column line 0",
            "left column line 7",
            "right column line 0",
            "right column line 7",
            "A closing",
        )
    ]
    assert positions == sorted(positions)


def test_pdf_paragraph_that_goes_on_in_the_next_column_is_one_block_with_two_boxes(tmp_path: Path) -> None:
    left = ["the committee came to the conclusion that"] * 7 + ["the limit for a single transaction is not"]
    right = ["above two million, which was approved by"] * 8
    document = Draft().new_page().lines(72, 120, left).lines(320, 120, right).parsed(tmp_path)
    assert len(document.blocks) == 1
    assert [box.page_number for box in document.blocks[0].boxes] == [1, 1]
    assert document.blocks[0].boxes[0].x1 < 320 <= document.blocks[0].boxes[1].x0 + 1


def test_pdf_paragraph_over_a_page_break_spans_both_pages_and_no_more(tmp_path: Path) -> None:
    draft = Draft()
    draft.new_page().lines(
        72, 700, [FILL, "goes on to describe the measures that the board of directors has decided on"]
    )
    draft.new_page().lines(72, 100, ["and that the auditor has checked.", "A new line that follows."])
    draft.new_page().lines(72, 100, ["Third page."])
    document = draft.parsed(tmp_path)
    assert (document.blocks[0].page_number, document.blocks[0].page_end) == (1, 2)
    assert {box.page_number for box in document.blocks[0].boxes} == {1, 2}
    assert max(block.page_end or 0 for block in document.blocks) == document.page_count == 3


def test_pdf_sentence_that_ended_does_not_go_on(tmp_path: Path) -> None:
    draft = Draft()
    draft.new_page().lines(
        72, 700, [FILL, "it ends here with the last of all the words that this page has to tell us."]
    )
    draft.new_page().lines(72, 100, ["and another one begins."])
    assert [(block.page_number, block.page_end) for block in draft.parsed(tmp_path).blocks] == [(1, 1), (2, 2)]


def test_pdf_running_headers_footers_and_page_numbers_are_left_out(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(1, 6):
        draft.new_page().text(72, 40, "ACME Annual Report 2024", 8).text(280, 815, f"Page {number} of 5", 8)
        draft.lines(72, 120, [f"Body of page number {number}."])
    document = draft.parsed(tmp_path)
    assert texts(document) == [f"Body of page number {number}." for number in range(1, 6)]
    assert any("10 lines of running headers" in note for note in document.notes)


def test_pdf_bare_page_numbers_count_with_the_pages(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(3):
        draft.new_page().text(290, 815, str(number + 7), 8).lines(72, 120, [f"Words of part {number}."])
    assert texts(draft.parsed(tmp_path)) == [f"Words of part {number}." for number in range(3)]


def test_pdf_figure_at_the_page_end_is_no_page_number(tmp_path: Path) -> None:
    draft = Draft()
    for figure in (412, 77, 9031):
        draft.new_page().lines(72, 120, [f"The result of this page was {figure}."]).text(290, 815, str(figure), 8)
    assert "9031" in texts(draft.parsed(tmp_path))


def test_pdf_text_repeated_in_the_body_is_kept(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(4):
        draft.new_page().text(72, 60, f"Clause number {'abcd'[number]} of the contract", 10).text(
            72, 75, "No warranty is given.", 10
        )
    assert "\n".join(texts(draft.parsed(tmp_path))).count("No warranty is given.") == 4


def test_pdf_headings_by_size_weight_and_number(tmp_path: Path) -> None:
    draft = Draft().new_page().text(72, 80, "Annual Report", 20)
    draft.text(72, 120, "1 Business", 14, "hebo").lines(72, 140, [FILL, "ends."])
    draft.text(72, 190, "1.1 Regions", 14, "hebo").lines(72, 210, [FILL, "ends."])
    draft.text(72, 260, "2 Risks", 14, "hebo").lines(72, 280, [FILL, "ends."])
    document = draft.parsed(tmp_path)
    assert [(block.level, block.text) for block in document.blocks if block.kind == "heading"] == [
        (1, "Annual Report"),
        (2, "1 Business"),
        (3, "1.1 Regions"),
        (2, "2 Risks"),
    ]
    assert document.title == "Annual Report"


def test_pdf_chinese_headings_by_number_at_body_size(tmp_path: Path) -> None:
    draft = Draft().new_page()
    body = "为了规范公司的费用报销行为加强内部控制根据国家有关规定结合公司实际情况制定本制度。"
    y = 80.0
    for line in ("第一章 总则", body, "一、适用范围", body, "（二）报销标准", body, "第二章 附则", body):
        draft.text(72, y, line, 10, "china-s")
        y += 16
    document = draft.parsed(tmp_path)
    assert [(block.level, block.text) for block in document.blocks if block.kind == "heading"] == [
        (1, "第一章 总则"),
        (2, "一、适用范围"),
        (3, "（二）报销标准"),
        (1, "第二章 附则"),
    ]
    assert texts(document, "paragraph") == [body] * 4


def test_pdf_outline_decides_over_type_size(tmp_path: Path) -> None:
    draft = Draft()
    draft.new_page().text(72, 80, "Small but first", 10).lines(72, 110, [FILL, "ends."])
    draft.new_page().text(72, 80, "Large but second", 18).lines(72, 110, [FILL, "ends."])
    draft.document.set_toc([[1, "Small but first", 1], [2, "Large but second", 2]])
    document = draft.parsed(tmp_path)
    assert [(block.level, block.text) for block in document.blocks if block.kind == "heading"] == [
        (1, "Small but first"),
        (2, "Large but second"),
    ]


def ruled(draft: Draft, columns: list[float], rows: list[float]) -> None:
    for x in columns:
        draft.page.draw_line((x, rows[0]), (x, rows[-1]))
    for y in rows:
        draft.page.draw_line((columns[0], y), (columns[-1], y))


def test_pdf_ruled_table_is_read_by_cells_in_its_place(tmp_path: Path) -> None:
    draft = Draft().new_page().lines(72, 80, ["Before the table."])
    ruled(draft, [72, 200, 300, 400], [100, 120, 140, 160])
    for row, cells in enumerate([["Region", "2023", "2024"], ["Asia", "1,200", "1,350"], ["Europe", "(80)", "95"]]):
        for column, cell in enumerate(cells):
            draft.text([76, 204, 304][column], 114 + row * 20, cell)
    draft.lines(72, 200, ["After the table."])
    document = draft.parsed(tmp_path)
    assert [block.kind for block in document.blocks] == ["paragraph", "table", "paragraph"]
    table = document.blocks[1]
    assert table.rows == (("Region", "2023", "2024"), ("Asia", "1,200", "1,350"), ("Europe", "(80)", "95"))
    assert (table.header_rows, table.page_number, table.page_end) == (1, 1, 1)
    assert table.boxes[0].y0 == pytest.approx(100, abs=3)


def test_pdf_merged_cells_are_expanded(tmp_path: Path) -> None:
    draft = Draft().new_page()
    page = draft.page
    for y in (100, 160):
        page.draw_line((72, y), (400, y))
    page.draw_line((172, 120), (400, 120))
    page.draw_line((72, 140), (400, 140))
    for x in (72, 172, 400):
        page.draw_line((x, 100), (x, 160))
    page.draw_line((286, 120), (286, 160))
    draft.text(76, 124, "Region").text(200, 114, "Year 2024").text(176, 134, "Q3").text(290, 134, "Q4")
    draft.text(76, 154, "Asia").text(176, 154, "11").text(290, 154, "12")
    tables = [block for block in draft.parsed(tmp_path).blocks if block.kind == "table"]
    assert tables[0].rows == (("Region", "Year 2024", "Year 2024"), ("Region", "Q3", "Q4"), ("Asia", "11", "12"))
    assert tables[0].header_rows == 2


def test_pdf_borderless_table_is_found_by_its_columns(tmp_path: Path) -> None:
    draft = Draft().new_page().lines(72, 80, [FILL, "shows this:"])
    for row, cells in enumerate([
        ["Item", "2023", "2024"],
        ["Revenue", "238", "226"],
        ["Cost", "120", "131"],
        ["Profit", "118", "95"],
    ]):
        for column, cell in enumerate(cells):
            draft.text([72, 300, 400][column], 140 + row * 14, cell)
    (table,) = [block for block in draft.parsed(tmp_path).blocks if block.kind == "table"]
    assert table.rows == (
        ("Item", "2023", "2024"),
        ("Revenue", "238", "226"),
        ("Cost", "120", "131"),
        ("Profit", "118", "95"),
    )


def test_pdf_no_text_of_a_page_is_lost_or_doubled(tmp_path: Path) -> None:
    draft = Draft().new_page()
    ruled(draft, [72, 200, 300], [100, 120, 140, 160])
    words = [f"word{index}x" for index in range(12)]
    for index, word in enumerate(words):
        draft.text(76 + 128 * (index % 2), 114 + 20 * (index // 2), word)
    text = "\n".join(texts(draft.parsed(tmp_path)))
    assert [text.count(word) for word in words] == [1] * len(words)


def test_pdf_rotated_page_reads_like_an_upright_one(tmp_path: Path) -> None:
    draft = Draft().new_page()
    draft.page.set_rotation(90)
    for index, line in enumerate(["First line of the rotated page.", "", "Second paragraph of it."]):
        point = pymupdf.Point(72, 100 + 30 * index) * draft.page.derotation_matrix
        if line:
            draft.page.insert_text(point, line, fontsize=10, rotate=90)
    document = draft.parsed(tmp_path)
    assert texts(document) == ["First line of the rotated page.", "Second paragraph of it."]
    assert document.blocks[0].boxes[0].y0 == pytest.approx(90, abs=5)


def test_pdf_lines_of_a_form_stay_apart(tmp_path: Path) -> None:
    lines = ["报告期：2024年7月1日至2024年9月30日", "对比期：2023年第三季度"]
    assert texts(Draft().new_page().lines(72, 80, lines, font="china-s").parsed(tmp_path)) == lines


def test_pdf_list_items_are_one_block(tmp_path: Path) -> None:
    draft = Draft().new_page().lines(72, 80, ["- the first item", "- the second item", "- the third item"])
    assert [(block.kind, block.text) for block in draft.parsed(tmp_path).blocks] == [
        ("list", "- the first item\n- the second item\n- the third item")
    ]


def test_pdf_mixed_document_names_the_pages_that_need_ocr(tmp_path: Path) -> None:
    draft = Draft().new_page().lines(72, 80, ["A page with text."])
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 50, 50))
    pixmap.clear_with(200)
    draft.new_page().page.insert_image(pymupdf.Rect(0, 0, WIDTH, HEIGHT), pixmap=pixmap)
    document = draft.parsed(tmp_path)
    assert [page.characters for page in document.pages] == [14, 0]
    assert "pictures without text: pages 2" in document.notes


def test_pdf_without_a_text_layer_says_ocr(tmp_path: Path) -> None:
    with pytest.raises(NoTextError, match="OCR"):
        Draft().new_page().parsed(tmp_path)


def test_pdf_with_a_password_is_encrypted(tmp_path: Path) -> None:
    draft = Draft().new_page().text(72, 80, "secret")
    with pytest.raises(EncryptedDocumentError, match="password"):
        draft.parsed(tmp_path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>", b"%PDF-1.7" + bytes(300)],
)
def test_pdf_that_is_broken_is_corrupt(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CorruptDocumentError, match=r"a\.pdf: the PDF is damaged or cut off.*upload it again"):
        parse_pdf(path, "a.pdf", LIMITS)


def test_pdf_without_its_end_is_read_and_noted(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(20):
        draft.new_page().text(72, 80, f"page {number}")
    content = draft.document.tobytes()
    path = tmp_path / "file"
    path.write_bytes(content)
    assert parse_pdf(path, "a.pdf", LIMITS).notes == ()
    path.write_bytes(content[: len(content) // 2])
    assert any("end is missing" in note for note in parse_pdf(path, "a.pdf", LIMITS).notes)


def test_pdf_that_declares_a_million_pages_is_refused(tmp_path: Path) -> None:
    draft = Draft().new_page().text(72, 80, "one")
    content = draft.document.tobytes().replace(b"/Count 1", b"/Count 1000000")
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CorruptDocumentError, match="page tree is damaged, or it has far more pages than the limit"):
        parse_pdf(path, "a.pdf", LIMITS)


def test_pdf_with_more_pages_than_allowed_is_too_large(tmp_path: Path) -> None:
    draft = Draft()
    for _ in range(3):
        draft.new_page().text(72, 80, "page")
    with pytest.raises(DocumentTooLargeError, match="3 pages"):
        draft.parsed(tmp_path, LIMITS.model_copy(update={"max_pages": 2}))


def test_pdf_blocks_have_boxes_inside_the_page(tmp_path: Path) -> None:
    document = Draft().new_page().lines(72, 80, [FILL, FILL]).parsed(tmp_path)
    (box,) = document.blocks[0].boxes
    assert 70 < box.x0 < box.x1 < WIDTH
    assert 65 < box.y0 < 80 < box.y1 < 100


@pytest.mark.parametrize(
    ("text", "ratio"), [("", 0.0), ("abc", 0.0), ("a\ufffd", 0.5), ("\ue001\ue002", 1.0), ("a b\x01", 1 / 3)]
)
def test_garbled_ratio_counts_characters_without_meaning(text: str, ratio: float) -> None:
    assert garbled_ratio(text) == pytest.approx(ratio)


def test_block_is_plain_data(tmp_path: Path) -> None:
    document = Draft().new_page().text(72, 80, "plain").parsed(tmp_path)
    assert ParsedDocument.model_validate_json(document.model_dump_json()) == document
    assert isinstance(document.blocks[0], Block)
