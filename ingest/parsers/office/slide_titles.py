"""The title of a slide that has no title of its own: its first line, where that reads like one.

Without it the slide's text would be cited under the title of the slide before.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingest.parsers.text.joining import is_cjk
from ingest.parsers.text.numbering import reads_like_heading
from ingest.types import Block

_MIN_LETTERS = 4
"""Letters of a title, a CJK character counted as two: labels of drawings (`A`, `B2`) are shorter."""


def leads_as_title(blocks: Sequence[Block]) -> bool:
    """Tell whether the first block of an untitled slide stands over the others as their title."""
    if len(blocks) < 2 or blocks[0].kind != "paragraph" or "\n" in blocks[0].text:
        return False
    text = blocks[0].text
    letters = sum(2 if is_cjk(character) else 1 for character in text if character.isalpha())
    return letters >= _MIN_LETTERS and not text.endswith(".") and reads_like_heading(text)
