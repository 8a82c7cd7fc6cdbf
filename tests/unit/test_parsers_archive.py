"""Archives: what is listed, what is handed on, names in any encoding, passwords, bombs."""

from __future__ import annotations

import base64
import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from ingest.detect import detect
from ingest.errors import CorruptDocumentError, DocumentTooLargeError, EncryptedDocumentError, UnsupportedDocumentError
from ingest.parsers.registry import parse
from ingest.parsers.session import QuietSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

# Written by pyzipper with the password `open sesame`: AES-256 and deflated, AES-128 and stored.
AES = base64.b64decode(
    "UEsDBBQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAZGVmbGF0ZWQudHh0AZkHAAIAQUUDCADRGC4SWgF7ASNtP0pNLyWn+6WhbdQBU1c2HNx1qLSf"
    "pI/q0XjGPeJ2lRVua+0FdBcqifa//mouX+REwQIOiG+IkPmDDFZ/FRZiUEsDBBQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAc3RvcmVkLnR4dAGZ"
    "BwACAEFFAQAA1x9Aspbpk/7QV9NWEcoTOZNjTSmx5F1TlaFkZibDwlBLAQIUAxQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAAAAAAAAAAACAAQAA"
    "AABkZWZsYXRlZC50eHQBmQcAAgBBRQMIAFBLAQIUAxQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAAAAAAAAAAACAAX4AAABzdG9yZWQudHh0AZkH"
    "AAIAQUUBAABQSwUGAAAAAAIAAgCIAAAA0AAAAAAA"
)
# Written by Info-ZIP with `-P sesame`.
ZIP_CRYPTO = base64.b64decode(
    "UEsDBBQACQAIAPWDfl2qSP61OQAAALwCAAAMAAAAZGVmbGF0ZWQudHh0L5Dowoa01XAUPS5nnS5GbnV21nAKrxWSkAqEEi7CHTdfRFkBLpGk4LJB"
    "HMgfoCd+pMQOY60an/KTUEsHCKpI/rU5AAAAvAIAAFBLAwQKAAkAAAD1g35dtQGvDxcAAAALAAAACgAAAHN0b3JlZC50eHRhHnV8YPXeQ7Qx5qe1"
    "4iNhF8Ybd8fSv1BLBwi1Aa8PFwAAAAsAAABQSwECHgMUAAkACAD1g35dqkj+tTkAAAC8AgAADAAAAAAAAAABAAAApIEAAAAAZGVmbGF0ZWQudHh0"
    "UEsBAh4DCgAJAAAA9YN+XbUBrw8XAAAACwAAAAoAAAAAAAAAAQAAAKSBcwAAAHN0b3JlZC50eHRQSwUGAAAAAAIAAgByAAAAwgAAAAAA"
)


class Collecting(QuietSession):
    """Keeps what is handed on."""

    def __init__(self, password: str | None = None) -> None:
        super().__init__(password)
        self.found: dict[str, bytes] = {}

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        self.found[name] = b"".join(pieces)
        return True


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def read(
    folder: Path, content: bytes, password: str | None = None, limits: ParserSettings | None = None
) -> tuple[ParsedDocument, dict[str, bytes]]:
    path = folder / "file"
    path.write_bytes(content)
    session = Collecting(password)
    parsed = parse(path, detect(path, "a.bin"), "a.bin", limits or ParserSettings(), session)
    return parsed, session.found


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archive_zip_lists_its_members_and_hands_them_on(tmp_path: Path, method: int) -> None:
    members = {"b.txt": b"beta" * 100_000, "below/a.txt": b"alpha"}
    parsed, found = read(tmp_path, zipped(members, method))
    assert parsed.format == "archive"
    assert [block.rows for block in parsed.blocks] == [(("File", "Bytes"), ("b.txt", "400000"), ("below/a.txt", "5"))]
    assert found == members
    assert parsed.notes == ()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_archive_tar_lists_its_members_and_hands_them_on(tmp_path: Path, mode: str) -> None:
    members = {"./b.txt": b"beta" * 100_000, "资料/a.txt": b"alpha"}
    parsed, found = read(tmp_path, tarred(members, mode))
    assert [row[0] for row in parsed.blocks[0].rows] == ["File", "b.txt", "资料/a.txt"]
    assert found == {"b.txt": members["./b.txt"], "资料/a.txt": b"alpha"}


def test_archive_whose_first_member_is_a_pdf_is_an_archive(tmp_path: Path) -> None:
    pdf = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"
    for content in (zipped({"a.pdf": pdf}, zipfile.ZIP_STORED), tarred({"a.pdf": pdf})):
        assert read(tmp_path, content)[1] == {"a.pdf": pdf}


def test_archive_leaves_out_what_is_no_document(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.mkdir("folder")
        link = zipfile.ZipInfo("link.txt")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        junk = ("__MACOSX/._a.txt", "folder/.DS_Store", "Thumbs.db", ".git/config", "~$a.docx")
        for name in (*junk, "folder/a.txt", "empty.txt"):
            archive.writestr(name, b"" if name == "empty.txt" else b"text")
    parsed, found = read(tmp_path, file.getvalue())
    assert list(found) == ["folder/a.txt"]
    assert [row[0] for row in parsed.blocks[0].rows] == ["File", "folder/a.txt", "empty.txt"]
    assert sorted(parsed.notes) == [
        "empty files are listed only (1)",
        "hidden and temporary files are left out (2)",
        "links and special files are left out (1)",
        "system files (__MACOSX, .DS_Store, Thumbs.db) are left out (3)",
    ]


def test_archive_tar_follows_no_links(tmp_path: Path) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"special-{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        archive.addfile(tarfile.TarInfo("a.txt"))
        info = tarfile.TarInfo("b.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"beta"))
    parsed, found = read(tmp_path, file.getvalue())
    assert found == {"b.txt": b"beta"}
    assert "links and special files are left out (4)" in parsed.notes


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("gb18030", ["差旅报销制度.docx", "财务/第三季度预算.xlsx"]),
        ("big5", ["差旅報銷制度說明.docx", "財務報表與第三季預算.xlsx"]),
        ("cp932", ["出張旅費規程について.docx", "経理/第三四半期の予算.xlsx"]),
        ("utf-8", ["差旅.docx", "Übersicht.txt"]),
        ("cp437", ["résumé.txt", "naïve.txt"]),
    ],
)
def test_archive_names_without_the_utf8_flag_are_decoded(tmp_path: Path, encoding: str, names: list[str]) -> None:
    plain = ["XY"[number] * len(name.encode(encoding)) for number, name in enumerate(names)]
    content = zipped({name: b"text" for name in plain}, zipfile.ZIP_STORED)
    for short, name in zip(plain, names, strict=True):
        content = content.replace(short.encode(), name.encode(encoding))
    assert list(read(tmp_path, content)[1]) == names


def test_archive_unicode_path_field_names_the_member(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, checksum in (("plain", zlib.crc32(b"plain")), ("stale", 1)):
            info = zipfile.ZipInfo(name)
            body = b"\x01" + struct.pack("<I", checksum) + "资料.txt".encode()
            info.extra = struct.pack("<HH", 0x7075, len(body)) + body
            archive.writestr(info, b"text")
    assert list(read(tmp_path, file.getvalue())[1]) == ["资料.txt", "stale"]


@pytest.mark.parametrize(("content", "password"), [(AES, "open sesame"), (ZIP_CRYPTO, "sesame")])
def test_archive_encrypted_opens_with_its_password_alone(tmp_path: Path, content: bytes, password: str) -> None:
    with pytest.raises(EncryptedDocumentError, match="with its password"):
        read(tmp_path, content)
    with pytest.raises(EncryptedDocumentError, match="wrong"):
        read(tmp_path, content, "guess")
    _, found = read(tmp_path, content, password)
    assert found["stored.txt"] == b"stored text"
    assert found["deflated.txt"] == b"The meal allowance is 120 dollars. " * 20


def test_archive_encrypted_members_that_were_changed_are_left_out(tmp_path: Path) -> None:
    at = AES.index(b"deflated.txt") + 12 + 11 + 16 + 2 + 20
    changed = AES[:at] + bytes([AES[at] ^ 1]) + AES[at + 1 :]
    path = tmp_path / "file"
    path.write_bytes(changed)

    class Refusing(Collecting):
        def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
            content = b"".join(pieces)
            self.found[name] = content
            return True

    session = Refusing("open sesame")
    parsed = parse(path, "archive", "a.zip", ParserSettings(), session)
    assert list(session.found) == ["stored.txt"]
    assert parsed.notes == ("members that are damaged, or packed in a way that is not known, are listed only (1)",)


def test_archive_damaged_member_costs_that_member_alone(tmp_path: Path) -> None:
    content = zipped({"a.txt": b"alpha alpha", "b.txt": b"beta beta"}, zipfile.ZIP_STORED)
    parsed, found = read(tmp_path, content.replace(b"alpha alpha", b"alpha ALPHA"))
    assert list(found) == ["b.txt"]
    assert len(parsed.notes) == 1
    assert len(parsed.blocks[0].rows) == 3


def test_archive_damaged_as_a_whole_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocumentError):
        read(tmp_path, zipped({"a.txt": b"alpha"})[:-30])
    with pytest.raises(CorruptDocumentError):
        read(tmp_path, tarred({"a.txt": bytes(range(256)) * 400}, "w:gz")[:-200])


def test_archive_bombs_are_refused_by_ratio_and_by_total(tmp_path: Path) -> None:
    bomb = zipped({f"{number}.txt": bytes(16 * 1024 * 1024) for number in range(5)})
    with pytest.raises(DocumentTooLargeError, match="200 times") as caught:
        read(tmp_path, bomb)
    assert str(ParserSettings().max_attachments_bytes) not in str(caught.value)
    packed = gzip.compress(tarred({"a.txt": bytes(80 * 1024 * 1024)}), compresslevel=1)
    with pytest.raises(DocumentTooLargeError, match="200 times"):
        read(tmp_path, packed)
    small = ParserSettings(max_attachments_bytes=1000)
    for content in (zipped({"a": bytes(600), "b": bytes(600)}), tarred({"a": bytes(600), "b": bytes(600)})):
        with pytest.raises(DocumentTooLargeError, match=r"above the limit of 1000 bytes$"):
            read(tmp_path, content, limits=small)


def test_archive_with_too_many_members_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.parsers.archives.archive._MAX_MEMBERS", 3)
    with pytest.raises(DocumentTooLargeError, match="members"):
        read(tmp_path, zipped({str(number): b"x" for number in range(4)}))


def test_archive_size_that_lies_gives_no_more_than_it_declares(tmp_path: Path) -> None:
    content = bytearray(zipped({"a.txt": b"a" * 5000, "b.txt": b"beta"}))
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    parsed, found = read(tmp_path, bytes(content))
    assert list(found) == ["b.txt"]
    assert len(parsed.notes) == 1


def test_archive_members_above_the_document_limit_are_listed_only(tmp_path: Path) -> None:
    members = {"large": bytes(range(256)) * 40, "small": b"x"}
    parsed, found = read(tmp_path, zipped(members, zipfile.ZIP_STORED), limits=ParserSettings(max_bytes=10_500))
    assert list(found) == ["large", "small"]
    path = tmp_path / "file"
    parsed = parse(path, "archive", "a", ParserSettings(max_bytes=10_500), QuietSession())
    assert parsed.notes == ("members are listed only: nested too deep, or not asked for (2)",)
    path.write_bytes(zipped({"large": bytes(20_000), "small": b"x"}))
    session = Collecting()
    parsed = parse(path, "archive", "a", ParserSettings(max_bytes=10_500), session)
    assert list(session.found) == ["small"]
    assert parsed.notes == ("files above the size limit of a document are listed only (1)",)


def test_archive_listing_of_many_members_repeats_its_header(tmp_path: Path) -> None:
    parsed, _ = read(tmp_path, zipped({f"{number:04}.txt": b"x" for number in range(450)}))
    assert [len(block.rows) for block in parsed.blocks] == [201, 201, 51]
    assert {(block.rows[0], block.header_rows) for block in parsed.blocks} == {(("File", "Bytes"), 1)}


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"7z\xbc\xaf'\x1c" + bytes(100), "7z"), (b"Rar!\x1a\x07\x01\x00" + bytes(100), "RAR")],
)
def test_other_archives_are_refused_by_name(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(UnsupportedDocumentError, match=words):
        read(tmp_path, content)


def test_gzip_of_something_else_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedDocumentError, match="gzip"):
        read(tmp_path, gzip.compress(b"text " * 500))
