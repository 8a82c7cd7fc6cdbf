"""Drawn pages hide every secret that can be read on them, however the page lies and whatever it stands in."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray
from PIL import Image

from ingest.errors import EncryptedDocumentError, UnsupportedDocumentError
from ingest.parsers.drawing import draw_page
from ingest.settings import ParserSettings

PHONE = "13800138000"


class Session:
    """Keeps the picture."""

    def __init__(self, password: str | None = None, **instructions: Any) -> None:
        self.password = password
        self.instructions = {"page_number": 1, "dpi": 72, **instructions}
        self.png = b""

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        self.png = b"".join(pieces)
        return True


def drawn(tmp_path: Path, content: bytes, password: str | None = None, **instructions: Any) -> NDArray[np.uint8]:
    path = tmp_path / "upload"
    path.write_bytes(content)
    session = Session(password, **instructions)
    draw_page(path, "upload", ParserSettings(), session)  # type: ignore[arg-type]
    return np.asarray(Image.open(io.BytesIO(session.png)).convert("RGB"))


def black_area(image: NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """The box of the solid black area: rows and columns where black stands in runs longer than letters have."""
    black = image.max(axis=2) < 30
    solid = np.lib.stride_tricks.sliding_window_view(black, (6, 6)).all(axis=(2, 3))
    places = np.argwhere(solid)
    assert places.size, "nothing is blackened"
    (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0)
    return int(left), int(top), int(right) + 6, int(bottom) + 6


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("shifted", [False, True])
def test_secret_is_black_where_it_stands_on_cropped_and_turned_pages(
    tmp_path: Path, rotation: int, shifted: bool
) -> None:
    document = pymupdf.open()
    page = document.new_page(width=600, height=700)
    page.insert_text((150, 300), PHONE, fontsize=14)
    if shifted:
        page.set_mediabox(pymupdf.Rect(-50, -20, 600, 700))
        page.set_cropbox(pymupdf.Rect(100, 150, 500, 500))
    page.set_rotation(rotation)
    shown = document.tobytes()
    box = pymupdf.open("pdf", shown)[0].search_for(PHONE)[0]
    seen = (box * pymupdf.open("pdf", shown)[0].rotation_matrix).normalize()
    found = black_area(drawn(tmp_path, shown))
    assert found == pytest.approx((seen.x0, seen.y0, seen.x1, seen.y1), abs=4)
    clear = drawn(tmp_path, shown, hides_secrets=False)
    with pytest.raises(AssertionError, match="nothing is blackened"):
        black_area(clear)


def test_secrets_in_form_fields_and_annotations_are_black(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name, widget.field_value = pymupdf.PDF_WIDGET_TYPE_TEXT, "phone", PHONE
    widget.rect, widget.fill_color = pymupdf.Rect(50, 50, 200, 80), (1, 1, 0)
    page.add_widget(widget)
    page.add_freetext_annot(pymupdf.Rect(50, 150, 250, 180), PHONE, text_color=(1, 0, 0), fill_color=(1, 1, 1))
    image = drawn(tmp_path, document.tobytes())
    for rows in (slice(40, 90), slice(140, 190)):
        left, _, right, _ = black_area(image[rows])
        assert right - left > 40


def scan(turn: int) -> pymupdf.Pixmap:
    page = pymupdf.open().new_page(width=360, height=120)
    page.insert_text((30, 50), "Contact of the customer", fontsize=16)
    page.insert_text((30, 90), f"Phone {PHONE}", fontsize=16)
    page.set_rotation(turn)
    return page.get_pixmap(dpi=150)


def test_secret_in_a_sideways_scan_beside_upright_text_is_black(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=500, height=600)
    page.insert_text((40, 60), "The letter below came by fax and was filed sideways.", fontsize=12)
    page.insert_image(pymupdf.Rect(100, 120, 220, 480), pixmap=scan(90))
    left, top, right, bottom = black_area(drawn(tmp_path, document.tobytes()))
    assert left >= 95
    assert top >= 115
    assert right <= 225
    assert bottom <= 485
    assert bottom - top > 100


def test_picture_document_is_drawn_with_marks_and_without_its_secrets(tmp_path: Path) -> None:
    picture = scan(0)
    box = (20.0, 10.0, 300.0, 60.0)
    plain = drawn(tmp_path, picture.tobytes("png"), hides_secrets=False)
    marked = drawn(tmp_path, picture.tobytes("png"), boxes=[box])
    scale = plain.shape[1] / picture.width
    _, top, _, bottom = black_area(marked)
    assert top > 60 * scale
    assert bottom <= plain.shape[0]
    x, y = int(25 * scale), int(15 * scale)
    assert tuple(plain[y, x]) == (255, 255, 255)
    assert marked[y, x, 2] < 200


def test_page_opens_with_the_password_that_opened_the_document(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "secret plan", fontsize=12)
    content = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="pässwört")
    assert drawn(tmp_path, content, "pa\u0308sswo\u0308rt").shape[2] == 3
    with pytest.raises(EncryptedDocumentError, match="wrong"):
        drawn(tmp_path, content, "nonsense")


def test_page_that_is_not_there_is_refused(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page()
    with pytest.raises(UnsupportedDocumentError, match="no page 2"):
        drawn(tmp_path, document.tobytes(), page_number=2)
    with pytest.raises(UnsupportedDocumentError, match="only pages"):
        drawn(tmp_path, b"plain text")


def test_name_that_only_the_tenant_calls_secret_is_black(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page(width=400, height=200).insert_text((50, 100), "we met Oswin Farrowby", fontsize=20)
    content = document.tobytes()
    plain = drawn(tmp_path, content)
    solid = np.lib.stride_tricks.sliding_window_view(plain.max(axis=2) < 30, (6, 6)).all(axis=(2, 3))
    assert not solid.any()
    hidden = drawn(tmp_path, content, persons=[{"names": ["Oswin Farrowby", "法罗比"]}])
    left, _, right, _ = black_area(hidden)
    assert 90 < left < 140
    assert right > 200
