"""Arabic ligatures of PDFs: MuPDF turns right-to-left text round, and with it the letters of one glyph.

A lam-alef is one glyph that stands for two letters. They come in the order of the
glyph, not of the line: `الإنتاج` reads `اإلنتاج`. The second letter of such a glyph has
no width, which tells the pair from letters that stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

_ARABIC = re.compile(r"[\u0600-\u06ff]")
_LAM = "ل"
_ALEFS = frozenset("اأإآ")
_NO_WIDTH = 0.1


def has_arabic(text: str) -> bool:
    """Tell whether ligatures may have to be mended."""
    return _ARABIC.search(text) is not None


def with_ligatures(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks of PyMuPDF's `rawdict` output as those of `dict`, ligatures put right."""
    mended = list(blocks)
    for block in mended:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                span["text"] = _text(span.pop("chars"))
    return mended


def _text(characters: Sequence[dict[str, Any]]) -> str:
    letters = [str(character["c"]) for character in characters]
    for index in range(len(letters) - 1):
        if letters[index + 1] == _LAM and letters[index] in _ALEFS:
            x0, _, x1, _ = characters[index]["bbox"]
            if x1 - x0 < _NO_WIDTH:
                letters[index], letters[index + 1] = letters[index + 1], letters[index]
    return "".join(letters)
