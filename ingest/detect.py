"""What a file is, by its content: signatures, ZIP members, the look of markup and of text.

The display name only breaks ties between text formats; a PDF called `notes.txt` is a PDF.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from pathlib import Path

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, UnsupportedDocumentError
from ingest.parsers.decoding import decode
from ingest.parsers.transcript import looks_like_transcript
from ingest.types import Format

SUPPORTED = "PDF, DOCX, Markdown, HTML, plain text, SRT, WebVTT and plain-text transcripts"
_HEAD = 64 * 1024
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"ID3", "MP3 audio"),
    (b"\xff\xfb", "MP3 audio"),
    (b"\xff\xf3", "MP3 audio"),
    (b"OggS", "Ogg audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "a Matroska video"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"(\xb5/\xfd", "a zstd archive"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"%!PS", "PostScript"),
    (b"{\\rtf", "RTF"),
    (b"wOFF", "a font"),
    (b"\x00\x01\x00\x00\x00", "a font"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS: tuple[tuple[str, str], ...] = (
    ("__substg1.0_", "an Outlook message (MSG)"),
    ("WordDocument", "a legacy Word document (DOC)"),
    ("PowerPoint Document", "a legacy PowerPoint file (PPT)"),
    ("Workbook", "a legacy Excel workbook (XLS)"),
    ("Book", "a legacy Excel workbook (XLS)"),
)
_PACKAGE_PARTS: tuple[tuple[str, str], ...] = (
    ("ppt/", "a PowerPoint presentation"),
    ("xl/", "an Excel workbook"),
    ("visio/", "a Visio drawing"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
)
_WORD_MAIN = re.compile(
    rb"(?:wordprocessingml|ms-word)\.(?:document|template)(?:\.macroEnabled(?:Template)?)?\.main\+xml"
)
_PDF_OBJECT = re.compile(rb"^\s*(?:%[^\r\n]*[\r\n]+\s*)?\d+\s+\d+\s+obj\b")
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_ELEMENT = re.compile(
    r"</?(?:p|div|span|table|tr|td|th|ul|ol|li|h[1-6]|a|br|script|style|section|article|main|nav|header|footer)\b[^>]*>",
    re.I,
)
_SRT = re.compile(r"(?:^|\n)\s*\d+[ \t]*\n\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}\s*-->\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}")
_MAIL_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]{1,40}):[ \t]?.*$")
_MAIL_SURE = frozenset({"received", "mime-version", "message-id", "return-path", "dkim-signature", "delivered-to"})
_MARKDOWN_SIGNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.M),
    re.compile(r"^ {0,3}(?:```|~~~)", re.M),
    re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*$", re.M),
    re.compile(r"!?\[[^\]\n]+\]\([^)\s]+[^)\n]*\)"),
    re.compile(r"(?:\*\*|__)\S[^\n*_]*\S(?:\*\*|__)"),
    re.compile(r"^[ \t]*[-*+][ \t]+\S", re.M),
    re.compile(r"\A---\n(?:[^\n]*\n){1,40}?---\n"),
)
_MARKDOWN_NAMES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"})


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
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if b"%PDF-" in head[:1024] or _PDF_OBJECT.match(head):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _detect_package(path, display_name)
    if head.startswith(_OLE):
        raise _compound_file_error(path, display_name)
    _refuse_binary(head, display_name)
    return _detect_text(path, display_name)


def _unsupported(display_name: str, seen: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError(f"{display_name}: this is {seen}; supported are {SUPPORTED}")


def _refuse_binary(head: bytes, display_name: str) -> None:
    for signature, seen in _SIGNATURES:
        if head.startswith(signature):
            raise _unsupported(display_name, seen)
    if head[4:8] == b"ftyp":
        raise _unsupported(display_name, "MP4 audio or video")
    if head[:4] == b"RIFF" and head[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        raise _unsupported(display_name, f"a {head[8:12].decode('ascii').strip()} file")
    if head[:2] == b"BM" and head[6:10] == b"\x00\x00\x00\x00":
        raise _unsupported(display_name, "a BMP image")


def _detect_package(path: Path, display_name: str) -> Format:
    try:
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
            types = _read_small(package, "[Content_Types].xml")
            mimetype = _read_small(package, "mimetype").decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as exc:
        raise CorruptDocumentError(f"{display_name}: the ZIP container cannot be read; upload the file again") from exc
    if _WORD_MAIN.search(types) or (not types and "word/document.xml" in names):
        return "docx"
    if mimetype == "application/epub+zip":
        raise _unsupported(display_name, "an EPUB book")
    if mimetype.startswith("application/vnd.oasis.opendocument"):
        raise _unsupported(display_name, f"an OpenDocument {mimetype.rsplit('.', 1)[-1]}")
    for part, seen in _PACKAGE_PARTS:
        if any(name.startswith(part) for name in names):
            raise _unsupported(display_name, seen)
    raise _unsupported(display_name, "a ZIP archive")


def _read_small(package: zipfile.ZipFile, name: str) -> bytes:
    """Read at most 1 MB of a member; empty when it is not there or is damaged."""
    try:
        with package.open(name) as member:
            return member.read(1024 * 1024)
    except (KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError):
        return b""


def _compound_file_error(path: Path, display_name: str) -> Exception:
    with path.open("rb") as file:
        directory = file.read(8 * 1024 * 1024)
    if "EncryptedPackage".encode("utf-16-le") in directory:
        return EncryptedDocumentError(f"{display_name}: this Office file is encrypted; save it without a password")
    for stream, seen in _OLE_STREAMS:
        if stream.encode("utf-16-le") in directory:
            return _unsupported(display_name, seen)
    return _unsupported(display_name, "an OLE compound file")


def _detect_text(path: Path, display_name: str) -> Format:
    with path.open("rb") as file:
        raw = file.read(4 * 1024 * 1024)
    text = decode(raw, display_name).text
    suffix = Path(display_name).suffix.lower()
    start = text.lstrip()
    if re.match(r"WEBVTT(?:[ \t\n]|$)", start):
        return "vtt"
    if _SRT.match(start):
        return "srt"
    markup = _detect_markup(start, display_name, suffix)
    if markup is not None:
        return markup
    _refuse_structured(start, display_name, suffix)
    if looks_like_transcript(text):
        return "transcript"
    return "markdown" if _is_markdown(text, suffix) else "text"


def _detect_markup(start: str, display_name: str, suffix: str) -> Format | None:
    if _HTML_START.match(start[:_HEAD]):
        return "html"
    if start.startswith("<?xml"):
        root = re.search(r"<(?![?!])([A-Za-z_][\w:.-]*)", start)
        name = root.group(1) if root else "?"
        if name.lower().split(":")[-1] == "html":
            return "html"
        raise _unsupported(display_name, f"XML with the root element {name!r}")
    if re.match(r"<svg\b", start, re.I):
        raise _unsupported(display_name, "an SVG image")
    root = re.match(r"<([A-Za-z_][\w:.-]*)", start)
    if root and not _ELEMENT.match(start) and start.rstrip().endswith(f"</{root.group(1)}>"):
        raise _unsupported(display_name, f"XML with the root element {root.group(1)!r}")
    if suffix in _MARKDOWN_NAMES:
        return "markdown"
    sample = start[:_HEAD]
    elements = len(_ELEMENT.findall(sample))
    if start.startswith("<") and elements >= 2:
        return "html"
    return "html" if suffix in (".html", ".htm", ".xhtml") and elements else None


def _refuse_structured(start: str, display_name: str, suffix: str) -> None:
    """Refuse text that a parser of its own will read: JSON, e-mail, delimited tables."""
    if start[:1] in ("{", "[") and _is_json(start):
        raise _unsupported(display_name, "JSON")
    if _is_mail(start):
        raise _unsupported(display_name, "an e-mail message (EML)")
    if suffix in (".csv", ".tsv", ".tab"):
        raise _unsupported(display_name, "a delimited table (CSV or TSV)")


def _is_json(start: str) -> bool:
    candidates = (start, start.split("\n", 1)[0])
    for candidate in candidates:
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return isinstance(value, dict | list) and len(candidate) > 2
    return re.match(r'[\[{]\s*(?:\{\s*)?"[^"\n]*"\s*:', start) is not None


def _is_mail(start: str) -> bool:
    names: list[str] = []
    for line in start.split("\n", 60)[:60]:
        if not line.strip():
            break
        if line[:1] in (" ", "\t") and names:
            continue
        match = _MAIL_HEADER.match(line)
        if match is None:
            return False
        names.append(match.group(1).lower())
    return len(names) >= 3 and any(name in _MAIL_SURE for name in names)


def _is_markdown(text: str, suffix: str) -> bool:
    if suffix in _MARKDOWN_NAMES:
        return True
    signs = [bool(pattern.search(text)) for pattern in _MARKDOWN_SIGNS]
    strong = signs[0] + signs[1] + signs[2] + signs[6]
    return strong >= 2 or (strong >= 1 and sum(signs) >= 2 and suffix != ".txt") or (strong >= 1 and sum(signs) >= 3)
