"""What an Office or OpenDocument container may be before it is read: no bombs, no entities, one set of namespaces.

The libraries inflate every member into memory, so sizes are checked first: as the
directory declares them, then as they inflate.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from ingest.errors import CorruptDocumentError, DocumentTooLargeError
from ingest.settings import ParserSettings

_MAX_MEMBERS = 20_000
_MAX_RATIO = 400
"""Text-heavy XML seldom packs better than 1:50; deflate's own limit is about 1:1000."""
_RATIO_FREE_BYTES = 16 * 1024 * 1024
_CHUNK = 256 * 1024
_MEGABYTE = 1024 * 1024
_STRICT = b"http://purl.oclc.org/ooxml/"
_NAMESPACES = (
    (_STRICT + b"wordprocessingml/main", b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    (_STRICT + b"officeDocument/relationships", b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
    (_STRICT + b"officeDocument/math", b"http://schemas.openxmlformats.org/officeDocument/2006/math"),
    (_STRICT + b"drawingml/main", b"http://schemas.openxmlformats.org/drawingml/2006/main"),
    (_STRICT + b"drawingml/chart", b"http://schemas.openxmlformats.org/drawingml/2006/chart"),
    (_STRICT + b"drawingml/diagram", b"http://schemas.openxmlformats.org/drawingml/2006/diagram"),
    (_STRICT + b"presentationml/main", b"http://schemas.openxmlformats.org/presentationml/2006/main"),
)


def check_package(
    path: Path, display_name: str, limits: ParserSettings, kind: str = "DOCX", *, streamed: bool = False
) -> None:
    """Refuse a container that would exhaust the worker; `kind` is what messages call it.

    An lxml tree takes about ten times its XML, so XML may be a sixteenth of the memory limit and everything a half;
    with `streamed`, for parsers that never hold the tree of a large part, XML counts like everything else.

    Raises:
        DocumentTooLargeError: too much uncompressed content, or a ratio no document has.
        CorruptDocumentError: a damaged container, or XML with a document type (ECMA-376 part 2 forbids it).
    """
    try:
        with zipfile.ZipFile(path) as package:
            _check_declared(package, path.stat().st_size, display_name, limits, kind, streamed)
            for member in package.infolist():
                if _is_xml(member.filename):
                    _check_xml(package, member, display_name, kind)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as exc:
        raise CorruptDocumentError(f"{display_name}: the {kind} container is damaged; save it again") from exc


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels"))


def _check_declared(
    package: zipfile.ZipFile, packed: int, display_name: str, limits: ParserSettings, kind: str, streamed: bool
) -> None:
    members = package.infolist()
    total = sum(member.file_size for member in members)
    xml = sum(member.file_size for member in members if _is_xml(member.filename))
    most, most_xml = limits.memory_mb // 2, limits.memory_mb // 16
    fault = ""
    if len(members) > _MAX_MEMBERS:
        fault = f"has {len(members)} members, the limit is {_MAX_MEMBERS}"
    elif total > most * _MEGABYTE:
        fault = f"unpacks to {_megabytes(total)} MB, the limit is {most} MB"
    elif xml > most_xml * _MEGABYTE and not streamed:
        fault = f"unpacks to {_megabytes(xml)} MB of XML, the limit is {most_xml} MB"
    elif total > _RATIO_FREE_BYTES and total > packed * _MAX_RATIO:
        fault = f"unpacks from {packed} bytes to {_megabytes(total)} MB, the limit is {_MAX_RATIO} times its size"
    if fault:
        raise DocumentTooLargeError(f"{display_name}: the {kind} {fault}")


def _megabytes(size: int) -> int:
    """Round up, so that what is above a limit never reads as the limit."""
    return -(-size // _MEGABYTE)


def _check_xml(package: zipfile.ZipFile, member: zipfile.ZipInfo, display_name: str, kind: str) -> None:
    """Inflate a member to its end, so that a size that lies fails here, and look at its prolog."""
    with package.open(member) as stream:
        prolog = stream.read(_CHUNK)
        size = len(prolog)
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > member.file_size:
                raise DocumentTooLargeError(f"{display_name}: a member of the {kind} is larger than it declares")
    # Early OpenDocument files name a document type in their manifest, which is searched but never parsed.
    parsed = member.filename != "META-INF/manifest.xml"
    if parsed and re.search(rb"<!\s*(?:DOCTYPE|ENTITY)", prolog.replace(b"\x00", b""), re.I):
        raise CorruptDocumentError(f"{display_name}: the {kind} declares XML entities, which no valid {kind} does")


def read_package(path: Path) -> BinaryIO:
    """Open a checked container; one in the Strict form of the standard is given in the Transitional form.

    python-docx knows only the namespaces of Transitional (ISO/IEC 29500-4); Strict
    ones differ in their addresses alone as far as text is concerned.
    """
    with zipfile.ZipFile(path) as package:
        if _STRICT not in package.read("_rels/.rels"):
            return path.open("rb")
        rewritten = io.BytesIO()
        with zipfile.ZipFile(rewritten, "w", zipfile.ZIP_STORED) as target:
            for member in package.infolist():
                content = package.read(member)
                target.writestr(member.filename, _transitional(content) if _is_xml(member.filename) else content)
    rewritten.seek(0)
    return rewritten


def _transitional(xml: bytes) -> bytes:
    for strict, transitional in _NAMESPACES:
        xml = xml.replace(strict, transitional)
    return xml
