"""Plain numbers: figures without a unit that the language knows.

They stay as written in `index_text` (a table would otherwise be all tokens); the auditor compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from retrieval.symbols.found import Found
from retrieval.symbols.values.numerals import Numeral, plain
from retrieval.symbols.values.signs import sign_before

_IN_WORDS = frozenset({"chinese", "english"})
_LONGEST_INTEGER = 15
_PROPER_INTEGER = 5
_SIGNS = frozenset("+-–")
_JOINING = frozenset(f"-–#/_{ascii_letters}")
"""What may join digits to an identifier before them."""


def find_numbers(text: str, numerals: Sequence[Numeral], *, integers: bool = False) -> list[Found]:
    """Return the plain numbers of a folded text.

    Args:
        text: The folded text.
        numerals: Its numerals.
        integers: Take every integer; otherwise one needs a thousands separator, a decimal point or
            at least five digits to count as a figure (years, page and item numbers are none).
    """
    found: list[Found] = []
    for start, end, _, _, value, scale, _, wrapped, written, _ in numerals:
        if scale or written in _IN_WORDS:
            continue
        if written == "integer" and not _counts(text, start, end, wrapped, integers):
            continue
        before = text[start - 1 : start]
        if before in _JOINING and _in_word(text, start):
            continue
        if wrapped:
            # (1,234) is negative in accounts; (12) is a note or a list item.
            if written == "integer":
                start, end = start + 1, end - 1
            else:
                value = -value
        elif before in _SIGNS:
            start, negative = sign_before(text, start)
            value = -value if negative else value
        normal = plain(value)
        # A table makes one for each figure: `tuple.__new__` takes half the time of the constructor.
        found.append(_new(Found, ("value", "number", normal, f"[NUM_{normal}]", start, end, 1.0, "")))
    return found


_new = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _counts(text: str, start: int, end: int, wrapped: bool, integers: bool) -> bool:
    first, length = start + wrapped, end - start - 2 * wrapped
    if length > _LONGEST_INTEGER or (length > 1 and text[first] == "0"):
        return False
    return integers or length >= _PROPER_INTEGER


def _in_word(text: str, start: int) -> bool:
    """Tell whether the digits end an identifier: `doc_7`, `A1`, `GPT-4.5`."""
    before = text[max(0, start - 2) : start]
    if before[-1] in "-–#/":
        return before[0].isascii() and before[0].isalnum()
    return before[-1].isascii() and (before[-1].isalpha() or before[-1] == "_")
