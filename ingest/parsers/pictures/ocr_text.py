"""Text as a recogniser writes it: full-width forms in figures are made plain, specks are told from words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ingest.parsers.text.joining import collapse, is_cjk

_ALPHANUMERIC = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s?([．。，：／－～])\s?(?=\d)")
_PLAIN = {"．": ".", "。": ".", "，": ",", "：": ":", "／": "/", "－": "-", "～": "~"}
_SIGNS = str.maketrans({
    "％": "%",
    "．": ".",
    "＄": "$",
    "＃": "#",
    "＆": "&",
    "＠": "@",
    "＋": "+",
    "＝": "=",
    "℃": "°C",
    "℉": "°F",
})
_NO_SPACE = re.compile(r"(?<=[a-z])(?=[$£€]\d)")
"""The recogniser leaves out the space before a sum of money."""
_BEFORE_DIGIT = re.compile(r"－(?=\d)")
_MIN_LETTERS = 2


def mend_forms(text: str) -> str:
    """Give figures the signs that readers of figures know: `2．38亿元` → `2.38亿元`, `１２，３００％` → `12,300%`.

    Chinese punctuation between words stays as it is.
    """
    plain = _ALPHANUMERIC.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    plain = _BETWEEN_DIGITS.sub(lambda match: _PLAIN[match.group(1)], plain)
    return collapse(_NO_SPACE.sub(" ", _BEFORE_DIGIT.sub("-", plain).translate(_SIGNS)))


def is_noise(lines: Sequence[str]) -> bool:
    """Tell whether a page's lines are specks and strokes that were taken for a character or two."""
    letters = sum(2 if is_cjk(character) else 1 for line in lines for character in line if character.isalnum())
    return letters < _MIN_LETTERS
