"""Names of sources and titles, fit to be stored and shown: text only, never a path on disk."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_NAME = 255
MAX_TITLE = 300
_DIGEST = 8
_SUFFIX = re.compile(r"(?<=[^/.])\.[A-Za-z0-9]{1,10}\Z")
"""What some formats are told by; it stays at the end."""
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Fillers and selectors that Unicode counts as letters and marks."""
_READ = 10_000
"""Characters of a name or title that are looked at: a hostile file has one of millions."""


def source_name(given: str, fallback: str) -> str:
    """Return a name fit to be stored and shown, at most 255 characters; of such a name, the name itself.

    Control, format (bidirectional overrides) and surrogate characters and line separators
    become `_`, blanks around it go, of a long name the end. A name that lost something so gets
    a digest of the whole before its suffix, so that two different names stay two. Composed and
    decomposed accents are one name. Blank, or nothing but what becomes `_`: `fallback`.
    """
    composed = unicodedata.normalize("NFC", given[:_READ])
    clean = "".join(_shown(char) for char in composed).strip()
    if not clean.strip("_"):
        return fallback
    if clean == composed and len(clean) <= MAX_NAME and len(given) <= _READ:
        return clean
    whole = composed + given[_READ:]
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    found = _SUFFIX.search(clean) if len(given) <= _READ else None
    ending = f"~{digest}{found.group() if found else ''}"
    stem = clean[: found.start()] if found else clean
    return stem[: MAX_NAME - len(ending)] + ending


def title_of(given: str) -> str:
    """Return a title on one line, at most 300 characters; blank stays blank."""
    clean = " ".join("".join(" " if char.isspace() else _shown(char) for char in given.lstrip()[:_READ]).split())
    return clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1].rstrip() + "…"


def without_unseen(text: str) -> str:
    """Return a text without the characters that take no room on a screen: joiners, marks of direction, selectors."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if not _unseen(char))


def _unseen(char: str) -> bool:
    return _IGNORABLE.match(char) is not None or (
        unicodedata.category(char) in {"Cc", "Cf", "Cs"} and not char.isspace()
    )


def _shown(char: str) -> str:
    return "_" if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else char
