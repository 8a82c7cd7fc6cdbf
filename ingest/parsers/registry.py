"""Which parser reads which format. Parsers are imported when first needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from ingest.errors import DocumentTooLargeError, NoTextError, SourceUnavailableError, UnsupportedDocumentError
from ingest.parsers.session import QUIET, ParseSession
from ingest.settings import ParserSettings
from ingest.types import Format, ParsedDocument

Parser = Callable[[Path, str, ParserSettings, ParseSession], ParsedDocument]

PARSERS: dict[Format, str] = {
    "pdf": "ingest.parsers.pdf.document:parse_pdf",
    "image": "ingest.parsers.pictures.image:parse_image",
    "docx": "ingest.parsers.office.docx:parse_docx",
    "pptx": "ingest.parsers.office.pptx:parse_pptx",
    "doc": "ingest.parsers.office.legacy:parse_doc",
    "rtf": "ingest.parsers.office.legacy:parse_rtf",
    "ppt": "ingest.parsers.office.legacy:parse_ppt",
    "odt": "ingest.parsers.opendocument.odt:parse_odt",
    "odp": "ingest.parsers.opendocument.odp:parse_odp",
    "xlsx": "ingest.parsers.sheets.xlsx:parse_xlsx",
    "xls": "ingest.parsers.sheets.xls:parse_xls",
    "ods": "ingest.parsers.sheets.ods:parse_ods",
    "csv": "ingest.parsers.sheets.delimited:parse_csv",
    "html": "ingest.parsers.web.html:parse_html",
    "epub": "ingest.parsers.web.epub:parse_epub",
    "eml": "ingest.parsers.mail.eml:parse_eml",
    "msg": "ingest.parsers.mail.msg:parse_msg",
    "feed": "ingest.parsers.web.feed:parse_feed",
    "xml": "ingest.parsers.data.xmlfile:parse_xml",
    "markdown": "ingest.parsers.text.markdown:parse_markdown",
    "text": "ingest.parsers.text.text:parse_text",
    "srt": "ingest.parsers.text.subtitles:parse_srt",
    "vtt": "ingest.parsers.text.subtitles:parse_vtt",
    "transcript": "ingest.parsers.text.transcript:parse_transcript",
    "rst": "ingest.parsers.text.rst:parse_rst",
    "org": "ingest.parsers.text.org:parse_org",
    "notebook": "ingest.parsers.data.notebook:parse_notebook",
    "json": "ingest.parsers.data.jsonfile:parse_json",
    "sqlite": "ingest.parsers.data.sqlite:parse_sqlite",
    "archive": "ingest.parsers.archives.archive:parse_archive",
}
"""Format → `module:function`. A parser is called with the file, its display name, the limits and the session."""


def parse(
    path: Path, format: Format, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
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
        parsed = _load(format, display_name)(path, display_name, limits, session)
    except OSError as exc:
        raise SourceUnavailableError(f"{display_name}: the file cannot be read ({type(exc).__name__})") from exc
    if not any(block.text.strip() for block in parsed.blocks):
        raise NoTextError(f"{display_name}: the document has no text")
    return parsed


def _load(format: Format, display_name: str) -> Parser:
    if format not in PARSERS:
        raise UnsupportedDocumentError(f"{display_name}: no parser reads {format!r}")
    module, _, function = PARSERS[format].partition(":")
    return getattr(importlib.import_module(module), function)
