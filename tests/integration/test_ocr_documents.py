"""F17, S3 and garbled text layers: what is only a picture is read from it, with its page and its boxes."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, IngestError, NoTextError
from ingest.parsers.pdf.document import parse_pdf
from ingest.parsers.pictures.image import parse_image
from ingest.sandbox import ParserPool
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
CHINESE = "合同总额为2.38亿元，同比增长12.5%。"
ENGLISH = "Total revenue was $1,234.56 million."


def written(*, turn: int = 0, lines: tuple[str, ...] = (CHINESE, ENGLISH)) -> pymupdf.Pixmap:
    """A small page's picture with a title and two lines."""
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=150)
        page.insert_text((30, 40), "采购合同", fontname="china-s", fontsize=22)
        for index, line in enumerate(lines):
            font = "helv" if line.isascii() else "china-s"
            page.insert_text((30, 80 + 30 * index), line, fontname=font, fontsize=13)
        page.set_rotation(turn)
        return page.get_pixmap(dpi=150)


def text_of(document: ParsedDocument) -> str:
    return "".join("".join(block.text.split()) for block in document.blocks)


def plain(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_ocr_reads_an_image_only_pdf_however_it_lies(tmp_path: Path, turn: int) -> None:
    with pymupdf.open() as document:
        sideways = turn in (90, 270)
        page = document.new_page(width=150 if sideways else 420, height=420 if sideways else 150)
        page.insert_image(page.rect, pixmap=written(turn=turn))
        document.save(str(tmp_path / "scan.pdf"))
    parsed = parse_pdf(tmp_path / "scan.pdf", "scan.pdf", LIMITS)
    assert text_of(parsed) == plain("采购合同" + CHINESE + ENGLISH)
    assert (parsed.blocks[0].kind, parsed.title) == ("heading", "采购合同")
    assert parsed.pages[0].ocr
    assert parsed.notes == ("read by OCR: pages 1",)
    box = parsed.blocks[0].boxes[0]
    centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    # The title stands at (74, 33) of the upright page; the scan is that page turned clockwise.
    expected = {0: (74, 33), 90: (150 - 33, 74), 180: (420 - 74, 150 - 33), 270: (33, 420 - 74)}[turn]
    assert centre == pytest.approx(expected, abs=8)


def test_ocr_reads_the_one_scanned_page_and_only_it(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number in range(1, 5):
            page = document.new_page(width=420, height=150)
            if number == 3:
                page.insert_image(page.rect, pixmap=written())
                page.insert_text((380, 140), "Copy A", fontsize=7)
            elif number != 4:
                page.insert_text((30, 50), f"This is the text of page {number}.")
        document.save(str(tmp_path / "mixed.pdf"))
    parsed = parse_pdf(tmp_path / "mixed.pdf", "mixed.pdf", LIMITS)
    assert [page.ocr for page in parsed.pages] == [False, False, True, False]
    assert [page.characters > 0 for page in parsed.pages] == [True, True, True, False]
    third = text_of(parsed.model_copy(update={"blocks": tuple(b for b in parsed.blocks if b.page_number == 3)}))
    assert plain(CHINESE) in third
    assert plain(ENGLISH) in third
    assert third.count("CopyA") == 1
    off = parse_pdf(tmp_path / "mixed.pdf", "mixed.pdf", ParserSettings(ocr="off"))
    assert not any(page.ocr for page in off.pages)
    assert CHINESE not in text_of(off)


def test_ocr_of_pictures_beside_text_only_where_the_settings_say(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=400)
        for index in range(5):
            page.insert_text((30, 40 + 14 * index), f"Line {index} of the report's running text, as it is.")
        page.insert_image(pymupdf.Rect(0, 200, 420, 350), pixmap=written())
        document.save(str(tmp_path / "picture.pdf"))
    usual = parse_pdf(tmp_path / "picture.pdf", "picture.pdf", LIMITS)
    assert "合同" not in text_of(usual)
    images = parse_pdf(tmp_path / "picture.pdf", "picture.pdf", ParserSettings(ocr="images"))
    assert plain(CHINESE) in text_of(images)
    assert text_of(images).count("Line0") == 1
    assert "pictures read by OCR: pages 1" in images.notes


def without_map(lines: tuple[str, ...]) -> bytes:
    """A page that shows the lines, whose font does not say which characters its glyphs are."""
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=30 * len(lines) + 30)
        writer = pymupdf.TextWriter(page.rect)
        for index, line in enumerate(lines):
            writer.append((20, 40 + 30 * index), line, font=pymupdf.Font("cjk"), fontsize=14)
        writer.write_text(page)
        saved = document.tobytes()
    with pymupdf.open(stream=saved, filetype="pdf") as document:
        for xref in range(1, document.xref_length()):
            if document.xref_get_key(xref, "ToUnicode")[0] == "xref":
                document.xref_set_key(xref, "ToUnicode", "null")
        return document.tobytes()


@pytest.mark.parametrize(
    "lines",
    [
        (CHINESE, "主要由于新产品的销售收入有所增加。"),
        (
            "The audited revenue of the company rose by a tenth in",
            "the second quarter, as the notes to the accounts say.",
        ),
    ],
)
def test_ocr_replaces_a_text_layer_without_character_map(tmp_path: Path, lines: tuple[str, ...]) -> None:
    path = tmp_path / "garbled.pdf"
    path.write_bytes(without_map(lines))
    with pymupdf.open(str(path)) as saved:
        assert lines[0] not in saved[0].get_text()
    parsed = parse_pdf(path, "garbled.pdf", LIMITS)
    assert text_of(parsed) == plain("".join(lines))
    assert parsed.notes == ("garbled text layer, read by OCR instead: pages 1",)
    assert (parsed.pages[0].ocr, parsed.pages[0].garbled_ratio) == (True, 0.0)


@pytest.mark.parametrize("suffix", ["jpg", "webp"])
def test_image_documents_are_read(tmp_path: Path, suffix: str) -> None:
    pixmap = written(lines=(CHINESE,))
    image = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    path = tmp_path / f"receipt.{suffix}"
    image.save(path)
    parsed = parse_image(path, path.name, LIMITS)
    assert (parsed.format, parsed.page_count) == ("image", 1)
    assert text_of(parsed) == plain("采购合同" + CHINESE)


def test_image_of_several_pages_turned_by_its_own_mark(tmp_path: Path) -> None:
    pixmap = written(lines=(CHINESE,))
    image = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    image.save(tmp_path / "pages.tiff", save_all=True, append_images=[Image.new("RGB", (300, 200), "white"), image])
    parsed = parse_image(tmp_path / "pages.tiff", "pages.tiff", LIMITS)
    assert [(block.text, block.page_number) for block in parsed.blocks if block.kind == "heading"] == [
        ("采购合同", 1),
        ("采购合同", 3),
    ]
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise by a quarter
    image.rotate(90, expand=True).save(tmp_path / "phone.jpg", exif=exif)
    parsed = parse_image(tmp_path / "phone.jpg", "phone.jpg", LIMITS)
    box = parsed.blocks[0].boxes[0]
    assert (box.x0, box.y0) == pytest.approx((62, 37), abs=15)


def test_image_without_text_and_broken_images(tmp_path: Path) -> None:
    Image.new("L", (300, 200), 250).save(tmp_path / "blank.png")
    with pytest.raises(NoTextError, match="blank"):
        parse_image(tmp_path / "blank.png", "blank.png", LIMITS)
    with pytest.raises(NoTextError, match="switched off"):
        parse_image(tmp_path / "blank.png", "blank.png", ParserSettings(ocr="off"))
    (tmp_path / "cut.png").write_bytes((tmp_path / "blank.png").read_bytes()[:60])
    with pytest.raises(CorruptDocumentError, match="damaged"):
        parse_image(tmp_path / "cut.png", "cut.png", LIMITS)


def huge_png() -> bytes:
    """A PNG that says it has 50,000 x 50,000 pixels."""
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(1_000_000))
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def huge_picture_pdf(*, box: int = 500) -> bytes:
    """A page whose picture says it has 50,000 x 50,000 pixels."""
    with pymupdf.open() as document:
        page = document.new_page(width=box, height=box)
        page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 10, 10), False))
        xref = page.get_images()[0][0]
        document.xref_set_key(xref, "Width", "50000")
        document.xref_set_key(xref, "Height", "50000")
        document.new_page().insert_text((50, 50), "The next page is read.")
        return document.tobytes()


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    pool = ParserPool(ParserSettings(timeout_s=60, memory_mb=1024))
    yield pool
    asyncio.run(pool.close())


async def test_sandbox_survives_pictures_that_explode(pool: ParserPool, tmp_path: Path) -> None:
    (tmp_path / "huge.png").write_bytes(huge_png())
    with pytest.raises(DocumentTooLargeError, match="50000 x 50000"):
        await pool.parse(tmp_path / "huge.png", "huge.png")
    (tmp_path / "huge.pdf").write_bytes(huge_picture_pdf())
    parsed = await pool.parse(tmp_path / "huge.pdf", "huge.pdf")
    assert [block.text for block in parsed.blocks] == ["The next page is read."]
    assert any("too large" in note for note in parsed.notes)


async def test_sandbox_reads_a_poster_within_its_memory(pool: ParserPool, tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=14_400, height=14_400)
        page.insert_image(pymupdf.Rect(0, 0, 14_400, 5_143), pixmap=written())
        document.save(str(tmp_path / "poster.pdf"))
    try:
        parsed = await pool.parse(tmp_path / "poster.pdf", "poster.pdf")
    except IngestError as error:
        pytest.fail(f"{error}")
    assert "采购合同" in text_of(parsed)
