"""The chunker's result, and the one form in which a chunk is measured and encoded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Literal

from retrieval.types import Box, Value

_HEADING_UNITS = 48.0
"""Longest heading in the index text, in Han characters (a Latin letter counts 0.4)."""


class DraftChunk(Value):
    """A chunk before symbolisation.

    Its text is `repeated_chars` characters that also stand elsewhere (table header, speaker
    name), then exactly `document_text[start_char:end_char]`.
    """

    ordinal: int
    text: str
    heading_path: tuple[str, ...] = ()
    """Headings above the chunk, outermost first. The heading that opens a section stands
    in the text of its first chunk too, once."""
    page_start: int | None = None
    page_end: int | None = None
    section_number: int | None = None
    """1-based ordinal of the section (of the turn in a transcript); None where there are pages."""
    start_char: int
    end_char: int
    repeated_chars: int = 0
    boxes: tuple[Box, ...] = ()
    kind: Literal["text", "table", "turn"] = "text"
    speaker: str | None = None
    """Who says most of it, where turns were merged."""
    start_s: float | None = None
    end_s: float | None = None


def index_prefix(title: str, heading_path: Sequence[str], text: str) -> str:
    """Return what is encoded before the text: title and headings, less those that open the text itself."""
    heads: list[str] = []
    for head in (title, *heading_path):
        short = _shorten(" ".join(head.split()))
        if short and short not in heads[-1:]:
            heads.append(short)
    lines = (" ".join(line.split()) for line in text[:2000].split("\n"))
    opening = [_shorten(line) for line in islice((line for line in lines if line), len(heads))]
    for count in range(len(opening), 0, -1):
        if heads[-count:] == opening[:count]:
            del heads[-count:]
            break
    return " > ".join(heads) + "\n" if heads else ""


def index_source(title: str, heading_path: Sequence[str], text: str) -> str:
    """Return what the symbol language turns into the index text, and what token budgets are about."""
    return index_prefix(title, heading_path, text) + text


def _shorten(text: str) -> str:
    units = 0.0
    for at, char in enumerate(text):
        units += 1.0 if char >= "\u2e80" else 0.4
        if units > _HEADING_UNITS:
            return text[:at].rstrip() + "…"
    return text
