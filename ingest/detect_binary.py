"""Signatures of binary files, through puremagic; own rules only for what it does not know."""

from __future__ import annotations

from typing import NamedTuple

import puremagic

from ingest.detect_kinds import KINDS, Kind

_TEXT_CONTROLS = b"\t\n\r\f\x0b\x1a\x1b"
_BINARY_CONTROLS = bytes(code for code in range(0x20) if code not in _TEXT_CONTROLS)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_IMAGES = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/tiff": "TIFF",
    "image/webp": "WebP",
    "image/x-ms-bmp": "BMP",
    "image/bmp": "BMP",
}
_WORDS = {
    ".gz": "a gzip archive",
    ".bzip2": "a bzip2 archive",
    ".tar.bz2": "a bzip2 archive",
    ".xz": "an xz archive",
    ".7z": "a 7z archive",
    ".rar": "a RAR archive",
    ".zst": "a zstd archive",
    ".exe": "a program",
    ".eps": "PostScript",
    ".ps": "PostScript",
    ".woff": "a font",
    ".woff2": "a font",
    ".ttf": "a font",
    ".otf": "a font",
    ".class": "a Java class",
}
_MIN_SIGNATURE = 3
"""Two bytes are no evidence: `BM is a company` is no bitmap."""


class _Match(NamedTuple):
    """A signature of puremagic's that fits, in its order of fields."""

    signature: bytes
    offset: int
    extension: str
    mime_type: str
    name: str
    confidence: float


def binary_kind(head: bytes) -> Kind | None:
    """Name the binary format that `head` opens; None where it may be text, or nothing known.

    Text that only begins like a binary format (`ID3 tags are …`) stays text: but for RTF and
    PostScript, which are text themselves, a signature of letters counts only where control characters follow.
    """
    if head.startswith(_BYTE_ORDER_MARKS) and not head.startswith(b"\xff\xfe\x00\x00\x00"):
        return None
    if head.startswith(b"{\\rtf"):
        return KINDS["rtf"]
    if head.startswith(b"%!PS"):
        return Kind(None, "PostScript")
    has_controls = len(head.translate(None, _BINARY_CONTROLS)) < len(head)
    return _own_rules(head, has_controls=has_controls) or _known(head, has_controls=has_controls)


def name_of(head: bytes) -> str | None:
    """Return puremagic's name for content that turned out to be no text, for the message alone."""
    return next((match.name for match in _matches(head) if match.offset == 0 and match.name), None)


def _own_rules(head: bytes, *, has_controls: bool) -> Kind | None:
    if head[:2] == b"BM" and head[6:10] == b"\x00\x00\x00\x00":
        return Kind("image", "a BMP image")
    if head[:2] in (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"):
        return Kind(None, "MP3 audio")
    if head[:4] == b"PAR1" and has_controls:
        return Kind(None, "a Parquet file")
    if head[4:8] == b"ftyp" and has_controls:
        return Kind(None, "MP4 audio or video")
    return None


def _known(head: bytes, *, has_controls: bool) -> Kind | None:
    for match in _matches(head):
        if has_controls or not (match.signature.isascii() and match.signature.decode("ascii").isprintable()):
            kind = _kind_of(match)
            if kind is not None:
                return kind
    return None


def _kind_of(match: _Match) -> Kind | None:
    kind, _, subtype = match.mime_type.partition("/")
    if match.mime_type in _IMAGES:
        return Kind("image", f"a {_IMAGES[match.mime_type]} image")
    if "SQLite" in match.name:
        return KINDS["sqlite"]
    if match.extension in _WORDS:
        return Kind(None, _WORDS[match.extension])
    if "Matroska" in match.name or "executable" in match.name:
        return Kind(None, "a video" if "Matroska" in match.name else "a program")
    if kind in ("audio", "video"):
        return Kind(None, f"{subtype.removeprefix('x-').upper()} {kind}" if subtype else kind)
    return None


def _matches(head: bytes) -> list[_Match]:
    try:
        found = puremagic.magic_string(head[:4096])  # pyright: ignore[reportUnknownMemberType]
    except (puremagic.PureError, ValueError):
        return []
    matches = [_Match(*match) for match in found]
    return [match for match in matches if len(match.signature) >= _MIN_SIGNATURE and match.offset >= 0]
