"""Containers: ZIP packages by their members, OLE compound files by their streams."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from pathlib import Path

import olefile

from ingest.detect_kinds import KINDS, Kind
from ingest.errors import CorruptDocumentError, EncryptedDocumentError
from ingest.types import Format

_OLE_STREAMS: tuple[tuple[str, Format], ...] = (
    ("__properties_version1.0", "msg"),
    ("__substg1.0_", "msg"),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
)
_MAIN_PARTS: tuple[tuple[re.Pattern[bytes], Format, str], ...] = (
    (
        re.compile(rb"(?:wordprocessingml|ms-word)\.(?:document|template)(?:\.macroEnabled(?:Template)?)?\.main\+xml"),
        "docx",
        "word/document.xml",
    ),
    (
        re.compile(
            rb"(?:presentationml|ms-powerpoint)\.(?:presentation|slideshow|template)(?:\.macroEnabled)?\.main\+xml"
        ),
        "pptx",
        "ppt/presentation.xml",
    ),
    (
        re.compile(rb"(?:spreadsheetml|ms-excel)\.(?:sheet|template)(?:\.macroEnabled)?\.main\+xml"),
        "xlsx",
        "xl/workbook.xml",
    ),
)
_OPEN_DOCUMENT: dict[str, Format] = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_OTHER_PARTS: tuple[tuple[str, str], ...] = (
    ("xl/workbook.bin", "a binary Excel workbook (XLSB)"),
    ("visio/", "a Visio drawing"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
)
_MEDIA_TYPE = re.compile(rb"application/vnd\.oasis\.opendocument\.[a-z-]+")
_SMALL = 1024 * 1024


def zip_kind(path: Path, display_name: str) -> Kind:
    """Tell what a ZIP container is; one that is no known package is an archive.

    Raises:
        CorruptDocumentError: its directory cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as package:
            names = frozenset(package.namelist())
            types = _read_small(package, "[Content_Types].xml")
            mimetype = _read_small(package, "mimetype").decode("ascii", "replace").strip()
            if not mimetype and "content.xml" in names:
                found = _MEDIA_TYPE.search(_read_small(package, "META-INF/manifest.xml"))
                mimetype = found.group().decode("ascii") if found else ""
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as exc:
        raise CorruptDocumentError(f"{display_name}: the ZIP container cannot be read; upload the file again") from exc
    for main_type, format, part in _MAIN_PARTS:
        if main_type.search(types) or (not types and part in names):
            return KINDS[format]
    if mimetype == "application/epub+zip" or "META-INF/container.xml" in names:
        return KINDS["epub"]
    if mimetype.startswith("application/vnd.oasis.opendocument."):
        flavour = mimetype.rsplit(".", 1)[-1].removesuffix("-template").removesuffix("-master")
        format = _OPEN_DOCUMENT.get(flavour)
        return KINDS[format] if format else Kind(None, f"an OpenDocument {flavour}")
    for part, words in _OTHER_PARTS:
        if any(name.startswith(part) for name in names):
            return Kind(None, words)
    return KINDS["archive"]


def ole_kind(path: Path, display_name: str) -> Kind:
    """Tell what an OLE compound file is by the streams in its root.

    Raises:
        EncryptedDocumentError: an Office file that is encrypted as a whole.
        CorruptDocumentError: its directory is damaged, and nothing known is found in it.
    """
    names = _root_streams(path)
    if "EncryptedPackage" in names:
        raise EncryptedDocumentError(f"{display_name}: this Office file is encrypted; save it without a password")
    for stream, format in _OLE_STREAMS:
        if any(name == stream or (stream.endswith("_") and name.startswith(stream)) for name in names):
            return KINDS[format]
    if names:
        return Kind(None, "an OLE compound file of no known Office program")
    raise CorruptDocumentError(
        f"{display_name}: this is a damaged, cut off or unknown Office file (DOC, XLS, PPT, MSG); upload it again"
    )


def _root_streams(path: Path) -> frozenset[str]:
    try:
        with olefile.OleFileIO(str(path)) as container:
            return frozenset(entry[0] for entry in container.listdir(streams=True, storages=True))
    except (OSError, ValueError, IndexError, RecursionError, TypeError, AttributeError, struct.error):
        return _names_in_damaged(path)


def _names_in_damaged(path: Path) -> frozenset[str]:
    """Look for the known names as bytes, so that a damaged file is still refused by its own parser."""
    with path.open("rb") as file:
        content = file.read(8 * _SMALL)
    known = ("EncryptedPackage", *(stream for stream, _ in _OLE_STREAMS))
    return frozenset(name for name in known if name.encode("utf-16-le") in content)


def _read_small(package: zipfile.ZipFile, name: str) -> bytes:
    """Read at most 1 MB of a member; empty when it is not there or is damaged."""
    try:
        with package.open(name) as member:
            return member.read(_SMALL)
    except (KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError):
        return b""
