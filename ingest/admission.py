"""The admission policy: how thin or garbled a document's text may be."""

from __future__ import annotations

from ingest.errors import AdmissionRejectedError
from ingest.settings import IngestSettings
from ingest.types import Document, ParsedDocument

_MEANINGLESS = (range(0xE000, 0xF900), range(0xFFFD, 0xFFFE), range(0x80, 0xA0), range(0xE, 0x20), range(0, 9))
"""Private use, U+FFFD, control characters but tab and line ends."""


def admit(parsed: ParsedDocument, document: Document, settings: IngestSettings) -> tuple[str, ...]:
    """Judge a parsed document.

    A yield is measured only where there are pages: the other formats have no size to measure it by.

    Returns:
        Warnings, each with the measured value and the limit; empty when the document is fit.

    Raises:
        AdmissionRejectedError: unfit, and the policy is `reject`.
    """
    warnings = tuple(_unfit(parsed, settings))
    if warnings and settings.admission == "reject":
        raise AdmissionRejectedError(
            f"{document.source}: {'; '.join(warnings)}. Upload a better copy (text instead of pictures, a higher "
            "resolution), or have the limits or the policy changed (ATTEST_INGEST_…)"
        )
    return warnings


def garbled_ratio(parsed: ParsedDocument) -> float:
    """Return the share of characters without meaning: by page where pages were measured, else over all text."""
    measured = sum(page.characters for page in parsed.pages)
    if measured:
        return sum(page.garbled_ratio * page.characters for page in parsed.pages) / measured
    visible = garbled = 0
    for block in parsed.blocks:
        for char in block.text:
            if not char.isspace():
                visible += 1
                garbled += not char.isascii() and any(ord(char) in each for each in _MEANINGLESS)
                garbled += char.isascii() and not char.isprintable()
    return garbled / visible if visible else 0.0


def _unfit(parsed: ParsedDocument, settings: IngestSettings) -> list[str]:
    found: list[str] = []
    pages = len(parsed.pages)
    if pages:
        per_page = sum(page.characters for page in parsed.pages) / pages
        if per_page < settings.min_yield:
            found.append(
                f"its {pages} {'page gives' if pages == 1 else 'pages give'} {per_page:.1f} characters a page, "
                f"the least is {settings.min_yield:g} (min_yield)"
            )
    garbled = garbled_ratio(parsed)
    if garbled > settings.max_garbled_ratio:
        found.append(
            f"{garbled:.0%} of its characters are garbled, the most is {settings.max_garbled_ratio:.0%} "
            "(max_garbled_ratio)"
        )
    return found
