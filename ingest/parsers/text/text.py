"""Plain text: encodings by content, headings by number, paragraphs by blank lines."""

from __future__ import annotations

from pathlib import Path

from ingest.errors import NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import DecodedText, decode
from ingest.parsers.text.lines import blocks_of_text
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument


def parse_text(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a plain text file.

    Raises:
        NoTextError: nothing but white space.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    blocks = blocks_of_text(decoded.text)
    if not blocks:
        raise NoTextError(f"{display_name}: the file is empty")
    title = blocks[0].text if blocks[0].kind == "heading" else ""
    return ParsedDocument(
        format="text", blocks=blocks, title=title, encoding=decoded.encoding, notes=damage_notes(decoded)
    )


def damage_notes(decoded: DecodedText) -> tuple[str, ...]:
    """Say in the admission report what could not be decoded."""
    if not decoded.damaged:
        return ()
    return (f"{decoded.damaged} byte sequences have no meaning in {decoded.encoding} and became U+FFFD",)
