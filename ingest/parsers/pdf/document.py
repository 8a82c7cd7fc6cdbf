"""PDF through PyMuPDF: opening a document and reading its pages one by one.

The only importer of PyMuPDF, which knows no threads: it runs in the sandbox's
process alone. Nothing of PyMuPDF is left in what is returned.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError
from ingest.parsers.pdf.assembly import assemble
from ingest.parsers.pdf.headings import OutlineEntry
from ingest.parsers.pdf.lines import garbled_ratio
from ingest.parsers.pdf.ocr import read_page, turn_boxes_back
from ingest.parsers.pdf.page import PageContent, page_content, text_layer
from ingest.parsers.pdf.password import unlock
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.joining import collapse
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

_TOOL_TITLE = re.compile(
    r"(?:untitled|\(?anonymous\)?|unspecified|microsoft (?:word|powerpoint|excel)\b.*"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|odt))$",
    re.I,
)
"""Titles that programs write by themselves."""
_CUT = "the file's end is missing: what was left of it was read, pages may be lost"
_END_WITHIN = 2048
"""Bytes at the end in which the end mark stands; some programs write blanks after it."""
_SHRINK_EVERY = 64
"""Pages between two looks at MuPDF's cache of fonts and pictures, which grows to 256 MB otherwise."""


def parse_pdf(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a PDF.

    Raises:
        EncryptedDocumentError: it needs a password, or the one given is wrong.
        CorruptDocumentError: it cannot be opened or has no pages.
        DocumentTooLargeError: more pages than `limits.max_pages`.
        NoTextError: no page has text, in its text layer or in its picture.
    """
    try:
        with _pymupdf().open(str(path), filetype="pdf") as document:
            unlock(document, session.password, display_name)
            _check(document, display_name, limits)
            outline, title = _outline(document), _metadata_title(document)
            pages = _read_pages(document, limits, session)
            is_cut = bool(document.is_repaired) and not _has_end(path)
    except _vendor_errors() as exc:
        _raise_if_out_of_memory(exc)
        raise CorruptDocumentError(f"{display_name}: {_fault(exc, limits)}") from exc
    if not any(page.lines or page.tables for page in pages):
        raise NoTextError(f"{display_name}: none of its {len(pages)} pages has {_nothing(limits)}")
    parsed = turn_boxes_back(assemble(pages, outline, title), pages)
    return parsed.model_copy(update={"notes": (*parsed.notes, _CUT)}) if is_cut else parsed


def _has_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END_WITHIN))
        return b"%%EOF" in file.read()


def _nothing(limits: ParserSettings) -> str:
    return (
        "a text layer, and OCR is switched off" if limits.ocr == "off" else "text, and OCR found none in its pictures"
    )


def _fault(error: Exception, limits: ParserSettings) -> str:
    """Say what is wrong with a PDF; MuPDF refuses a page count that is negative or beyond its own bound."""
    if "number of pages" in str(error):
        return (
            f"the PDF's page tree is damaged, or it has far more pages than the limit of {limits.max_pages}; "
            "save it again, or in parts"
        )
    return f"the PDF is damaged or cut off and cannot be read ({type(error).__name__}); upload it again"


def _pymupdf() -> Any:
    """Import PyMuPDF (1.5 s) when the first PDF comes; its stubs leave most types unknown."""
    import pymupdf

    vendor: Any = pymupdf
    vendor.TOOLS.mupdf_display_errors(False)
    vendor.TOOLS.mupdf_display_warnings(False)
    return vendor


def _vendor_errors() -> tuple[type[Exception], ...]:
    """MuPDF's own errors, and what PyMuPDF's Python layer runs into on broken objects."""
    own: type[Exception] = _pymupdf().mupdf.FzErrorBase
    return (own, RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError)


def _raise_if_out_of_memory(error: Exception) -> None:
    if isinstance(error, _pymupdf().mupdf.FzErrorSystem) and "alloc" in str(error):
        raise MemoryError from error


def _check(document: Any, display_name: str, limits: ParserSettings) -> None:
    if document.page_count < 1:
        raise CorruptDocumentError(
            f"{display_name}: the PDF is damaged or cut off: no page is left of it; upload it again"
        )
    if document.page_count > limits.max_pages:
        raise DocumentTooLargeError(f"{display_name}: {document.page_count} pages, the limit is {limits.max_pages}")


def _read_pages(document: Any, limits: ParserSettings, session: ParseSession) -> list[PageContent]:
    total: int = document.page_count
    pages: list[PageContent] = []
    session.page_done(0, total)
    for index in range(total):
        # A page that is left out brought the process down before; the sandbox says so in the notes.
        pages.append(PageContent(index + 1) if session.skips(index + 1) else _read_page(document, index, limits))
        if index % _SHRINK_EVERY == _SHRINK_EVERY - 1:
            _pymupdf().TOOLS.store_shrink(100)
        session.page_done(index + 1, total)
    if all(page.is_damaged for page in pages):
        raise ValueError("no page could be read")
    return pages


def _read_page(document: Any, index: int, limits: ParserSettings) -> PageContent:
    number = index + 1
    try:
        page = document[index]
        reading = read_page(page, number, text_layer(page, number), limits)
        content = page_content(page, number, reading.text)
        content.remark = reading.remark
        return content
    except _vendor_errors() as exc:
        _raise_if_out_of_memory(exc)
        # One broken page costs that page, not the document; the report names it.
        return PageContent(number, is_damaged=True)


def _outline(document: Any) -> list[OutlineEntry]:
    try:
        return [OutlineEntry(level, title, page) for level, title, page, *_ in document.get_toc()]
    except _vendor_errors():
        return []


def _metadata_title(document: Any) -> str:
    metadata: dict[str, Any] = document.metadata or {}
    title = collapse(str(metadata.get("title") or ""))
    return "" if _TOOL_TITLE.match(title) or garbled_ratio(title) > 0 else title
