"""DOC, RTF and PPT: refused when encrypted, else converted by LibreOffice and read as DOCX or PPTX."""

from __future__ import annotations

import struct
from pathlib import Path

import olefile

from ingest.errors import EncryptedDocumentError
from ingest.parsers.office.docx import parse_docx
from ingest.parsers.office.office_conversion import converted
from ingest.parsers.office.pptx import parse_pptx
from ingest.parsers.session import QUIET, ParseSession
from ingest.settings import ParserSettings
from ingest.types import Format, ParsedDocument

_NOTE = "read through LibreOffice's conversion"
_WORD_ENCRYPTED = 0x0100
"""Bit `fEncrypted` of the flags at byte 10 of the file information block, [MS-DOC] 2.5.2."""
_CURRENT_USER_ENCRYPTED = 0xF3D1C4DF
"""`headerToken` of an encrypted presentation, [MS-PPT] 2.3.2."""
_DAMAGED = (OSError, ValueError, IndexError, RecursionError, TypeError, AttributeError, struct.error)
"""olefile answers a damaged container with whatever its code runs into; LibreOffice may still mend it."""


def parse_doc(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a Word 6 to 2003 document.

    Raises:
        EncryptedDocumentError: it is encrypted, which LibreOffice is given no password for.
        UnsupportedDocumentError: LibreOffice is not installed.
        IngestError: as `converted` and `parse_docx` raise them.
    """
    if _number(path, "WordDocument", 10, 2) & _WORD_ENCRYPTED:
        raise _encrypted(display_name, "DOCX")
    return _through_docx(path, display_name, "doc", limits, session)


def parse_rtf(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a rich text file.

    Raises:
        UnsupportedDocumentError: LibreOffice is not installed.
        IngestError: as `converted` and `parse_docx` raise them.
    """
    return _through_docx(path, display_name, "rtf", limits, session)


def parse_ppt(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a PowerPoint 97 to 2003 presentation.

    Raises:
        EncryptedDocumentError: it is encrypted, which LibreOffice is given no password for.
        UnsupportedDocumentError: LibreOffice is not installed.
        IngestError: as `converted` and `parse_pptx` raise them.
    """
    if _number(path, "Current User", 12, 4) == _CURRENT_USER_ENCRYPTED:
        raise _encrypted(display_name, "PPTX")
    with converted(path, display_name, "ppt", "pptx", limits) as result:
        parsed = parse_pptx(result, display_name, limits, session)
    return parsed.model_copy(update={"format": "ppt", "notes": (*parsed.notes, _NOTE)})


def _through_docx(
    path: Path, display_name: str, source: Format, limits: ParserSettings, session: ParseSession
) -> ParsedDocument:
    with converted(path, display_name, source, "docx", limits) as result:
        parsed = parse_docx(result, display_name, limits, session)
    return parsed.model_copy(update={"format": source, "notes": (*parsed.notes, _NOTE)})


def _encrypted(display_name: str, target: str) -> EncryptedDocumentError:
    return EncryptedDocumentError(f"{display_name}: this file is encrypted; save it as {target} without a password")


def _number(path: Path, stream: str, offset: int, size: int) -> int:
    """Return a little-endian number in a stream; 0 where it cannot be read."""
    try:
        with olefile.OleFileIO(str(path)) as container, container.openstream(stream) as opened:
            return int.from_bytes(opened.read(offset + size)[offset : offset + size], "little")
    except _DAMAGED:
        return 0
