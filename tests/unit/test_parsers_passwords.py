"""Passwords of PDFs and Office files: right, wrong and missing are three different answers."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import openpyxl
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msoffcrypto.format.ooxml import OOXMLFile

from ingest.detect import detect
from ingest.errors import EncryptedDocumentError
from ingest.parsers.office.office_decryption import decrypted
from ingest.parsers.pdf.document import parse_pdf
from ingest.parsers.pdf.password import spellings
from ingest.parsers.registry import parse
from ingest.parsers.session import QuietSession
from ingest.settings import ParserSettings

LIMITS = ParserSettings(ocr="off")


def locked_pdf(folder: Path, password: str, encryption: int) -> Path:
    path = folder / "locked.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((50, 50), "Only for those who know.")
        document.save(str(path), encryption=encryption, user_pw=password, owner_pw=f"{password}!owner")
    return path


@pytest.mark.parametrize("encryption", [pymupdf.PDF_ENCRYPT_RC4_128, pymupdf.PDF_ENCRYPT_AES_256])
@pytest.mark.parametrize("password", ["abc", "pässwört", "æøå"])
@pytest.mark.parametrize("suffix", ["", "!owner"])
def test_pdf_opens_by_either_password(tmp_path: Path, encryption: int, password: str, suffix: str) -> None:
    path = locked_pdf(tmp_path, password, encryption)
    parsed = parse_pdf(path, "locked.pdf", LIMITS, QuietSession(password + suffix))
    assert [block.text for block in parsed.blocks] == ["Only for those who know."]


def test_pdf_opens_by_a_password_that_was_prepared(tmp_path: Path) -> None:
    # What SASLprep makes of it is what the key was derived from: no soft hyphen, ª as a.
    path = locked_pdf(tmp_path, "SaSLprep", pymupdf.PDF_ENCRYPT_AES_256)
    assert parse_pdf(path, "locked.pdf", LIMITS, QuietSession("S\u00aaSL\u00adprep")).blocks
    path = locked_pdf(tmp_path, "密码".encode("gb18030").decode("latin-1"), pymupdf.PDF_ENCRYPT_AES_256)
    assert parse_pdf(path, "locked.pdf", LIMITS, QuietSession("密码")).blocks


@given(st.text(min_size=1, max_size=20))
def test_pdf_password_is_tried_as_typed_first(password: str) -> None:
    assert next(iter(spellings(password))) == password
    assert all(isinstance(spelling, str) for spelling in spellings(password))


def test_pdf_tells_a_missing_from_a_wrong_password(tmp_path: Path) -> None:
    path = locked_pdf(tmp_path, "abc", pymupdf.PDF_ENCRYPT_AES_256)
    for missing in (None, ""):
        with pytest.raises(EncryptedDocumentError, match=r"locked\.pdf: .*a password is needed"):
            parse_pdf(path, "locked.pdf", LIMITS, QuietSession(missing))
    with pytest.raises(EncryptedDocumentError, match="the password is wrong") as caught:
        parse_pdf(path, "locked.pdf", LIMITS, QuietSession("guess"))
    assert "guess" not in str(caught.value)


def locked_office(folder: Path, plain: bytes, password: str) -> Path:
    path = folder / "locked"
    with path.open("wb") as file:
        OOXMLFile(io.BytesIO(plain)).encrypt(password, file)
    return path


def document_bytes() -> bytes:
    buffer = io.BytesIO()
    source = docx.Document()
    source.add_paragraph("Only for those who know.")
    source.save(buffer)
    return buffer.getvalue()


def test_office_file_is_decrypted_without_a_name_on_disk(tmp_path: Path) -> None:
    path = locked_office(tmp_path, document_bytes(), "pässwört 密码")
    with decrypted(path, "locked.docx", "pässwört 密码") as plain:
        assert plain != path
        assert plain.read_bytes().startswith(b"PK")
        parsed = parse(plain, detect(plain, "locked.docx"), "locked.docx", LIMITS)
    assert [block.text for block in parsed.blocks] == ["Only for those who know."]
    assert not plain.exists()
    assert list(tmp_path.iterdir()) == [path]


def test_office_workbook_that_is_only_protected_needs_no_password(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["revenue", 42])
    book.save(buffer)
    path = locked_office(tmp_path, buffer.getvalue(), "VelvetSweatshop")
    with decrypted(path, "book.xlsx", None) as plain:
        assert detect(plain, "book.xlsx") == "xlsx"


def test_office_file_tells_a_missing_from_a_wrong_password(tmp_path: Path) -> None:
    path = locked_office(tmp_path, document_bytes(), "abc")
    with pytest.raises(EncryptedDocumentError, match="a password is needed"), decrypted(path, "x.docx", None):
        pass
    with pytest.raises(EncryptedDocumentError, match="the password is wrong"), decrypted(path, "x.docx", "guess"):
        pass


@pytest.mark.parametrize("content", [b"", b"plain words", document_bytes(), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 40])
def test_other_files_are_left_as_they_are(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with decrypted(path, "file", "abc") as plain:
        assert plain == path
