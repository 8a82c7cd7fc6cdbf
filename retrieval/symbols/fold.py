"""Fold a text to one writing without moving a single character.

Every recogniser reads the folded text; because folding replaces characters one by one, the
spans it finds are spans of the text as given. What is encoded is folded too, its letters and
digits only, so that a question finds a document whichever way either is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from opencc import OpenCC

MASK = "\ufffc"
"""Stands where a recogniser must not look: no digit, no letter, no space."""

# What a reader does not see: it stands between two characters without setting them apart.
_JOINERS = (
    *map(ord, "\u00ad\u034f\u061c\u180e\ufeff"),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0x0300, 0x0370),  # marks on the character before, here and in the ranges that follow
    *range(0x1AB0, 0x1B00),
    *range(0x1DC0, 0x1E00),
    *range(0x20D0, 0x2100),
    *range(0xFE00, 0xFE10),
    *range(0xFE20, 0xFE30),
    *range(0x80, 0x85),
    *range(0x86, 0xA0),
    *range(0xE0000, 0xE01F0),  # tags, selectors of variants
)
JOINER = "\u200b"
"""What all of them are folded to."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_CONTROLS = {code: JOINER for code in (*range(9), *range(0x0E, 0x1C), 0x7F)}
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# Only minus signs; dashes stay what they are, because a dash before a figure is punctuation.
_MINUSES = "\u2212\ufe63\uff0d\u2796"
_WIDE = range(0xFF01, 0xFF5F)
_IDEOGRAPHS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0x20000, 0x323B0))
# Radicals and compatibility forms, which PDF files hold in place of the characters they look like.
_LOOKALIKES = (range(0x2E80, 0x2FD6), range(0xF900, 0xFB00), range(0x2F800, 0x2FA20))
_TABLE_SIZE = 0xE01F0

# Patterns that begin with a character are skipped to; a lookbehind in front of it would be tried everywhere.
_WIDE_COMMA = re.compile(r"，(?<=[０-９]，)(?=[０-９]{3})")
# 參 is the three of sums in words (參佰), and a syllable of other words everywhere else.
_CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨"
_RAISED_AND_LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
_SMALL_DIGITS = {char: str(unicodedata.digit(char)) for char in _CIRCLED + _RAISED_AND_LOWERED}
# A long row of them is a number; fewer are notes, powers and items (m², ①②③), and so is a row that counts up from 1.
_SMALL_NUMBER = re.compile(rf"[{''.join(_SMALL_DIGITS)}](?:[ \-]?[{''.join(_SMALL_DIGITS)}]){{7,}}+")
_THREE = re.compile(r"参(?:(?=[佰仟拾万亿元圆])|(?<=[佰仟拾零]参))")


def fold(text: str) -> str:
    """Return `text` in half-width forms, plain spaces and simplified characters; the length is unchanged."""
    if "\r" in text:
        text = text.replace("\r\n", " \n")
    if text.isascii():
        return text if _CONTROL.search(text) is None else text.translate(_CONTROLS)
    # A full-width comma is a thousands separator only in a number that is itself full-width.
    if "，" in text:
        text = _WIDE_COMMA.sub(",", text)
    text = _replaced(text, _reading_table())
    text = _SMALL_NUMBER.sub(_in_plain_digits, text)
    return _THREE.sub("叁", text) if "参" in text else text


def fold_letters(text: str) -> str:
    """Return `text` in simplified characters, half-width letters and digits; punctuation and the length are unchanged.

    Folding the result by `fold` gives what folding the text gives.
    """
    return text if text.isascii() else _replaced(text, _letter_table())


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """Return `text` with every span (ordered, not overlapping) overwritten by `MASK`."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], MASK * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def _in_plain_digits(number: re.Match[str]) -> str:
    written = number.group()
    counted = [_SMALL_DIGITS.get(char, char) for char in written]
    return written if "".join(counted[:3]) == "123" else "".join(counted)


def _replaced(text: str, table: NDArray[np.uint32]) -> str:
    """Look every character up in a table; 7 ns each, however many change (a pattern or `translate`: 45 to 180)."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    if int(codes.max()) < _TABLE_SIZE:
        found = table[codes]
    else:
        found = codes.copy()
        inside = codes < _TABLE_SIZE
        found[inside] = table[codes[inside]]
    return found.tobytes().decode("utf-32-le", "surrogatepass")


class _Converter(Protocol):
    """What is used of OpenCC, which declares types in part only."""

    def convert(self, text: str, /) -> str: ...


@cache
def _letter_table() -> NDArray[np.uint32]:
    """Return the table of `fold_letters`."""
    letters = {code: chr(code - 0xFEE0) for code in _WIDE if chr(code - 0xFEE0).isalnum()}
    return _filled({**_simplified(), **letters, **_digits()})


@cache
def _reading_table() -> NDArray[np.uint32]:
    """Return the table of `fold`."""
    table = {**_simplified(), **{code: chr(code - 0xFEE0) for code in _WIDE}, **_digits()}
    del table[ord("，")]  # a comma between clauses; see `fold` for the one between digits
    table.update({ord(c): " " for c in _SPACES})
    table.update({**dict.fromkeys(_JOINERS, JOINER), **_CONTROLS})
    table.update({ord(c): "-" for c in _MINUSES})
    table.update({ord("￥"): "¥", ord("￡"): "£", ord("○"): "〇", ord("﹪"): "%", ord("〜"): "~", ord("∼"): "~"})
    # Patterns that ignore case take these for the plain letters; tables of words would not know them.
    table.update({ord(a): b for a, b in zip("ſıİ\u212a", "siIK", strict=True)})
    table[ord(MASK)] = " "
    return _filled(table)


@cache
def _digits() -> Mapping[int, str]:
    """Return the digits of all scripts."""
    every = ((code, unicodedata.decimal(chr(code), None)) for code in range(0x80, 0x20000))
    return {code: str(digit) for code, digit in every if digit is not None}


def _filled(replacements: Mapping[int, str]) -> NDArray[np.uint32]:
    table = np.arange(_TABLE_SIZE, dtype="<u4")
    for code, char in replacements.items():
        table[code] = ord(char)
    table.setflags(write=False)
    return table


@cache
def _simplified() -> Mapping[int, str]:
    """Return the ideographs whose simplified form is another single character, by OpenCC's table."""
    plain = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in _all(_LOOKALIKES)}
    before = [chr(code) for code in _all(_IDEOGRAPHS)]
    before += [char for char, form in plain.items() if len(form) == 1 and form != char]
    forms = [plain.get(char, char) for char in before]
    converter = cast("_Converter", OpenCC("t2s"))
    for _ in range(2):  # a few forms have a form of their own
        forms = converter.convert("\n".join(forms)).split("\n")
    return {ord(char): form for char, form in zip(before, forms, strict=True) if len(form) == 1 and form != char}


def _all(ranges: Iterable[range]) -> Iterable[int]:
    return (code for each in ranges for code in each)
