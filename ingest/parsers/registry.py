"""Which parser reads which format. Parsers are imported when first needed."""

from __future__ import annotations

from pathlib import Path

from ingest.errors import DocumentTooLargeError, NoTextError, SourceUnavailableError
from ingest.settings import ParserSettings
from ingest.types import Format, ParsedDocument


def parse(path: Path, format: Format, display_name: str, limits: ParserSettings) -> ParsedDocument:
    """Parse one file in this process. Untrusted files go through `ingest.sandbox` instead.

    Raises:
        NoTextError: nothing readable came out; an empty document is never returned.
        DocumentTooLargeError: above `limits.max_bytes` or `limits.max_pages`.
        SourceUnavailableError: the file cannot be read just now.
        IngestError: what the parser found wrong.
    """
    try:
        size = path.stat().st_size
        if size > limits.max_bytes:
            raise DocumentTooLargeError(f"{display_name}: {size} bytes, the limit is {limits.max_bytes}")
        parsed = _dispatch(path, format, display_name, limits)
    except OSError as exc:
        raise SourceUnavailableError(f"{display_name}: the file cannot be read ({type(exc).__name__})") from exc
    if not any(block.text.strip() for block in parsed.blocks):
        raise NoTextError(f"{display_name}: the document has no text")
    return parsed


def _dispatch(path: Path, format: Format, display_name: str, limits: ParserSettings) -> ParsedDocument:
    match format:
        case "pdf":
            from ingest.parsers.pdf import parse_pdf

            return parse_pdf(path, display_name, limits)
        case "docx":
            from ingest.parsers.docx import parse_docx

            return parse_docx(path, display_name, limits)
        case "markdown":
            from ingest.parsers.markdown import parse_markdown

            return parse_markdown(path, display_name, limits)
        case "html":
            from ingest.parsers.html import parse_html

            return parse_html(path, display_name, limits)
        case "srt" | "vtt":
            from ingest.parsers.subtitles import parse_subtitles

            return parse_subtitles(path, display_name, limits, format)
        case "transcript":
            from ingest.parsers.transcript import parse_transcript

            return parse_transcript(path, display_name, limits)
        case "text":
            from ingest.parsers.text import parse_text

            return parse_text(path, display_name, limits)
