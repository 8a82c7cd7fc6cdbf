"""Replacements in a text, and spans moved back over them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval.types import Symbol


@dataclass(frozen=True, slots=True)
class Edit:
    """A replaced stretch of the text as given."""

    start: int
    end: int
    replacement: str


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with its edits (ordered, not overlapping) made."""
    if not edits:
        return text
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.replacement)
        at = edit.end
    return "".join((*parts, text[at:]))


def moved(symbols: Sequence[Symbol], edits: Sequence[Edit]) -> Iterable[Symbol]:
    """Move spans from the text without secrets back to the text as given."""
    starts: list[int] = []  # of each replacement in the text without secrets
    shift = 0
    for edit in edits:
        starts.append(edit.start + shift)
        shift += len(edit.replacement) - (edit.end - edit.start)
    for symbol in symbols:
        index = bisect_right(starts, symbol.start) - 1
        if index < 0:
            yield symbol
            continue
        edit, begin = edits[index], starts[index]
        if symbol.start == begin:
            yield symbol.model_copy(update={"start": edit.start, "end": edit.end})
            continue
        offset = edit.end - (begin + len(edit.replacement))
        yield symbol.model_copy(update={"start": symbol.start + offset, "end": symbol.end + offset})
