"""What a file is, by its content: signatures, ZIP members, OLE streams, the look of markup and of text.

The display name only breaks ties between text formats; a PDF called `notes.txt` is a PDF.
A format counts as supported as soon as the registry has a parser for it.
"""

from __future__ import annotations

import re
from pathlib import Path

from ingest.detect_archive import is_tar
from ingest.detect_binary import binary_kind, name_of
from ingest.detect_kinds import KINDS, Kind
from ingest.detect_package import ole_kind, zip_kind
from ingest.detect_text import suffix_of, text_kind
from ingest.errors import UnsupportedDocumentError
from ingest.parsers.registry import PARSERS
from ingest.parsers.text.decoding import decode
from ingest.types import Format

_HEAD = 64 * 1024
_TEXT_SAMPLE = 4 * 1024 * 1024
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_OBJECT = re.compile(rb"^\s*(?:%[^\r\n]*[\r\n]+\s*)?\d+\s+\d+\s+obj\b")


def detect(path: Path, display_name: str) -> Format:
    """Tell the format of a file by its content.

    Args:
        path: the file.
        display_name: the upload's name, for messages and for ties between text formats; never opened.

    Raises:
        UnsupportedDocumentError: no parser reads this content; says what was seen and what is supported.
        CorruptDocumentError: it claims to be a container that cannot be opened.
        EncryptedDocumentError: an Office file that is encrypted as a whole.
    """
    kind = kind_of(path, display_name)
    if kind.format is None or kind.format not in PARSERS:
        supported = ", ".join(KINDS[format].label for format in PARSERS if format in KINDS)
        raise UnsupportedDocumentError(f"{display_name}: this is {kind.words}; supported are {supported}")
    return kind.format


def kind_of(path: Path, display_name: str) -> Kind:
    """Tell what a file is, whether a parser reads it or not.

    Raises:
        UnsupportedDocumentError: binary content that nothing is known of.
        CorruptDocumentError: it claims to be a container that cannot be opened.
        EncryptedDocumentError: an Office file that is encrypted as a whole.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        # Before PDF: the first member of an archive may well be one.
        if is_tar(head):
            return KINDS["archive"]
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return zip_kind(path, display_name)
        if b"%PDF-" in head[:1024] or _PDF_OBJECT.match(head):
            return KINDS["pdf"]
        if head.startswith(_OLE):
            return ole_kind(path, display_name)
        binary = binary_kind(head)
        if binary is not None:
            return binary
        raw = head + file.read(_TEXT_SAMPLE - len(head))
    try:
        text = decode(raw, display_name).text
    except UnsupportedDocumentError:
        name = name_of(head)
        if name is None:
            raise
        return Kind(None, f"binary content ({name})")
    return text_kind(text, suffix_of(display_name))
