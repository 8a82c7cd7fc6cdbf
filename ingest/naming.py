"""Names of sources and titles, fit to be stored and shown: text only, never a path on disk."""

from __future__ import annotations

import hashlib
import unicodedata

MAX_NAME = 255
MAX_TITLE = 300
_DIGEST = 8
_READ = 10_000
"""Characters of a name or title that are looked at: a hostile file has one of millions."""


def source_name(given: str, fallback: str) -> str:
    """Return a name fit to be stored and shown, at most 255 characters.

    Control, format (bidirectional overrides) and surrogate characters and line separators
    become `_`; composed and decomposed accents are one name. Of a longer name the end gives
    way to a digest of the whole, so that two long names stay two. Blank: `fallback`.
    """
    composed = unicodedata.normalize("NFC", given[:_READ])
    clean = "".join(_shown(char) for char in composed).strip()
    if not clean.strip("_"):
        return fallback
    if len(clean) <= MAX_NAME and len(given) <= _READ:
        return clean
    digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{clean[: MAX_NAME - _DIGEST - 1]}~{digest}"


def title_of(given: str) -> str:
    """Return a title on one line, at most 300 characters; blank stays blank."""
    clean = " ".join("".join(" " if char.isspace() else _shown(char) for char in given.lstrip()[:_READ]).split())
    return clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1].rstrip() + "…"


def _shown(char: str) -> str:
    return "_" if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else char
