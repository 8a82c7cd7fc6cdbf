"""Numbers as people write them: Arabic digits, Chinese or English numerals, with or without a scale word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from retrieval.symbols.values.currencies import CURRENCIES_AFTER
from retrieval.symbols.values.numerals_en import read_english
from retrieval.symbols.values.units import UNIT_WRITINGS

_ROWS = ("零一二三四五六七八九", "〇壹贰叁肆伍陆柒捌玖")
_DIGITS = {char: i for row in _ROWS for i, char in enumerate(row)} | {"两": 2}
_SMALL = {"十": 1, "拾": 1, "百": 2, "佰": 2, "千": 3, "仟": 3}
_BIG = {"万": 4, "亿": 8}

CHINESE_DIGIT = "".join(_DIGITS)
_CHINESE_CHAR = "".join((*_DIGITS, *_SMALL, *_BIG))

# Longest first: the alternation takes the first that fits.
_SCALES: dict[str, int] = {
    "万亿": 12, "千亿": 11, "百亿": 10, "十亿": 9, "亿": 8, "千万": 7, "百万": 6, "十万": 5, "万": 4, "千": 3,
    "hundred billion": 11, "hundred million": 8, "hundred thousand": 5, "ten thousand": 4, "trillion": 12,
    "billion": 9, "million": 6, "thousand": 3, "mln": 6, "bln": 9, "mn": 6, "bn": 9, "tn": 12, "crores": 7, "crore": 7,
    "lakhs": 5, "lakh": 5,
}  # fmt: skip
_LETTERS = {"k": 3, "m": 6, "mm": 6, "b": 9}
# 千克, 千米, 万能 … are words of their own, not scales.
_ZH_SCALE = r"(?:万亿|千亿|百亿|十亿|亿|千万|百万|十万|万(?![一能分科])|千(?![克米瓦卡赫伏焦帕字古禧]))"
_EN_SCALE = "|".join(k.replace(" ", r"\s") for k in _SCALES if k.isascii())
_SCALE = re.compile(rf"[余多]?\s{{0,2}}({_ZH_SCALE})|[\s-]{{0,2}}((?i:{_EN_SCALE}))(?![A-Za-z])")
_LETTER = re.compile(r"\s?((?i:mm|k|m|b))(?![A-Za-z0-9])")

_TAIL = re.compile(rf"([0-9]{{1,4}})(?![0-9.,])({_ZH_SCALE}|百)?")
_CHINESE_RUN = re.compile(
    rf"[{CHINESE_DIGIT}十拾][{_CHINESE_CHAR}]{{0,30}}+(?:点[{CHINESE_DIGIT}]{{1,10}}+[万亿]{{0,2}}+)?"
)

# How all begins that gives meaning to a figure before it: scales, units, currencies, the second end of a range.
_UNIT_BEGINNINGS = ("percent", "pct", "pp", "ppt", "p.", "basis", "bp", "bps", "to", "times", *"个百基‰%至到-–—~比倍成")
_LETTER_BEGINNINGS = ("k", "m", "b", "g", "t", "l", "x")


def _beginnings() -> str:
    """Write as a pattern what may begin where a figure ends: three letters of a Latin word, one other character."""
    names = {*_UNIT_BEGINNINGS, *_SCALES, *CURRENCIES_AFTER, *(w.lower() for w in UNIT_WRITINGS), *"余多块元圆毛/每"}
    latin = sorted(name for name in names if name[0].isascii() and name[0].isalpha() and len(name) > 1)
    others = "".join(sorted({name[0] for name in names if not (name[0].isascii() and name[0].isalpha())}))
    letters = "|".join(f"{head}(?:{_seconds(head, latin)})" for head in sorted({name[0] for name in latin}))
    colon_or_and = r"[:∶][0-9]|and\s[0-9$€£¥]|[和与][0-9]|an?\s[a-z]"  # of a ratio, of a range, of a price
    letter = "".join(_LETTER_BEGINNINGS)
    return rf"[{re.escape(others)}]|{colon_or_and}|(?i:{letters}|[{letter}](?![A-Za-z0-9]))"


def _seconds(head: str, names: list[str]) -> str:
    """Write the second and third letters of the words that begin with `head`."""
    thirds: dict[str, set[str]] = {}
    for name in names:
        if name[0] == head:
            thirds.setdefault(name[1], set()).add(name[2:3])
    return "|".join(
        rf"{re.escape(second)}(?:[{re.escape(''.join(sorted(found)))}]{'|(?![a-z])' if '' in found else ''})"
        if found != {""}
        else rf"{re.escape(second)}(?![a-z])"
        for second, found in sorted(thirds.items())
    )


_NOTHING = rf"(?:\s{{0,2}}+(?:[|,.;)]|(?!{_beginnings()})\S|\Z)|\s{{3}})"
_ALONE = re.compile(_NOTHING)
# Digits and what of dots, commas and digits hangs on them: head, thousands, fraction, what makes it no number;
# the last group takes part where nothing that follows gives the figure a meaning.
_RUN = re.compile(
    rf"([0-9]++)((?:,[0-9]{{3}}(?![0-9]))*+)((?:\.[0-9]++)?+)((?:(?!,[0-9]{{4}}[-/][0-9])(?!(?<=\.[0-9]{{2}}),)[.,][0-9]++)*+)(?:(?={_NOTHING})())?"
)


class Numeral(NamedTuple):
    """A number in a text, with the scale word that follows it.

    `value` and `place` include the scale; `place` is the power of ten of the last digit written
    (`2.38 亿` → 6). In accounting a parenthesised number is negative: where nothing but the digits
    stands in parentheses, `wrapped` is true and they belong to the span; the value stays positive.
    """

    start: int
    digits_end: int
    end: int
    digits: Decimal
    value: Decimal
    scale: int
    place: int
    wrapped: bool
    written: str
    """`grouped` (thousands separators), `decimal`, `integer`, `chinese` or `english`."""
    alone: bool
    """Whether nothing that follows can be a scale, a unit, a currency or the word of a range."""


def plain(value: Decimal) -> str:
    """Return the shortest writing of a decimal without an exponent: equal values, equal text."""
    text = str(value)
    if "E" in text:
        text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def scan_numerals(text: str) -> list[Numeral]:
    """Return every number of a folded text, ordered by start, not overlapping."""
    found, words = _scan_arabic(text), [*_scan_chinese(text), *_scan_english(text)]
    if not words:
        return found
    found += words
    found.sort(key=attrgetter("start"))
    kept: list[Numeral] = []
    for numeral in found:  # a composite such as 2亿三千万 may reach over its neighbour
        if not kept or numeral.start >= kept[-1].end:
            kept.append(numeral)
    return kept


def read_letter_scale(text: str, numeral: Numeral) -> tuple[int, int] | None:
    """Return (power of ten, end) of a one-letter scale (`5m`, `3k`): only a currency makes it one."""
    match = None if numeral.scale else _LETTER.match(text, numeral.digits_end)
    return (_LETTERS[match.group(1).lower()], match.end()) if match else None


def parse_chinese(run: str) -> tuple[Decimal, int] | None:
    """Return value and place of a Chinese numeral (`壹佰贰拾叁万`, `二〇二四`, `一点五亿`); None if it is none."""
    if not run:
        return None
    whole, point, rest = run.partition("点")
    if not point:
        return _chinese_integer(whole)
    fraction = rest.rstrip("万亿")
    scale = sum(_BIG[c] for c in rest[len(fraction) :])
    head = _chinese_integer(whole)
    if head is None or not fraction:
        return None
    digits = "".join(str(_DIGITS[c]) for c in fraction)
    return (head[0] + Decimal(f"0.{digits}")).scaleb(scale), scale - len(digits)


def _scan_arabic(text: str) -> list[Numeral]:
    found: list[Numeral] = []
    done = 0
    for match in _RUN.finditer(text):
        head, thousands, fraction, rest, followed_by_nothing = match.groups()
        start, end = match.span()
        if rest or start < done or len(fraction) > 21:
            continue
        if thousands:
            if len(head) > 3 or len(thousands) > 32:
                continue
            digits, written = Decimal(f"{head}{thousands.replace(',', '')}{fraction}"), "grouped"
        elif fraction:
            if len(head) > 30:
                continue
            digits, written = Decimal(head + fraction), "decimal"
        elif len(head) > 30:
            continue
        else:
            digits, written = Decimal(head), "integer"
        place = 1 - len(fraction) if fraction else 0
        alone, wrapped = followed_by_nothing is not None, False
        if text[end : end + 1] == ")" and text[start - 1 : start] == "(":
            start, end, wrapped = start - 1, end + 1, True
            alone = _ALONE.match(text, end) is not None
        scaled = None if alone else _SCALE.match(text, end)
        if scaled is None:
            # A table makes one for each figure: `tuple.__new__` takes half the time of the constructor.
            found.append(_new(Numeral, (start, end, end, digits, digits, 0, place, wrapped, written, alone)))
            continue
        scale = _scale_of(scaled.group(1) or scaled.group(2))
        value, place, done = _extend(text, digits.scaleb(scale), scale, place + scale, scaled.end())
        found.append(Numeral(start, end, done, digits, value, scale, place, wrapped, written, False))
    return found


_new = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _extend(text: str, value: Decimal, scale: int, place: int, end: int) -> tuple[Decimal, int, int]:
    """Read on in `2亿3800万5千`: each part smaller than the scale before it."""
    while text[end - 1] in "万亿千":
        match = _TAIL.match(text, end)
        if match is None:
            break
        word = match.group(2)
        lower = 2 if word == "百" else _SCALES[word] if word else 0
        if lower >= scale or len(match.group(1)) + lower > scale:
            break
        value, place, scale, end = value + Decimal(match.group(1)).scaleb(lower), lower, lower, match.end()
        if not lower:
            break
    return value, place, end


def _scale_of(word: str) -> int:
    return _SCALES[" ".join(word.lower().split())]


def _scan_chinese(text: str) -> Iterator[Numeral]:
    if text.isascii():
        return
    for match in _CHINESE_RUN.finditer(text):
        # A last 两 is the ounce or a measure: 八万两.
        run = match.group()
        if len(run) > 1:
            run = run.rstrip("两")
        if not run:  # 两两
            continue
        if run in _ABOUT_SO_MANY or (run[0] in "十拾" and text[match.start() - 1 : match.start()] in ("几", "数")):
            continue  # 两三家, 几十万元
        parsed = _ONE_CHARACTER.get(run) or parse_chinese(run)
        if parsed is not None:
            value, place = parsed
            start, end = match.start(), match.start() + len(run)
            scale = 8 if "亿" in run else 4 if "万" in run else 0
            alone = not scale and _ALONE.match(text, end) is not None
            yield Numeral(start, end, end, value, value, scale, place, False, "chinese", alone)


def _scan_english(text: str) -> Iterator[Numeral]:
    for start, end, value, scale, place in read_english(text):
        if _ALONE.match(text, end) is None:  # by itself a word is no figure
            yield Numeral(start, end, end, value, value, scale, place, False, "english", False)


# Two or three, not 23.
_ABOUT_SO_MANY = frozenset({"两三", *(a + b for a, b in pairwise("一二三四五六七八九"))})


def _chinese_integer(run: str) -> tuple[Decimal, int] | None:
    if all(c in _DIGITS for c in run):
        return Decimal("".join(str(_DIGITS[c]) for c in run)), 0
    reader = _ChineseReader()
    for char in run:
        if not reader.feed(char):
            return None
    return reader.result()


class _ChineseReader:
    """Adds up a Chinese numeral character by character."""

    def __init__(self) -> None:
        self._total = 0
        self._section = 0
        self._digit: int | None = None
        self._unit = 9  # small units fall within a section
        self._last = 0  # power of ten of the unit read last
        self._zero = False

    def feed(self, char: str) -> bool:
        if char in _DIGITS:
            return self._feed_digit(_DIGITS[char])
        if char in _SMALL:
            return self._feed_small(_SMALL[char])
        return self._feed_big(_BIG[char])

    def _feed_digit(self, digit: int) -> bool:
        if self._digit is not None:
            return False
        if digit == 0:
            self._zero = True
        else:
            self._digit = digit
        return True

    def _feed_small(self, unit: int) -> bool:
        if self._digit is None:
            if unit != 1 or self._section:
                return False
            self._digit = 1
        if unit >= self._unit:
            return False
        self._section += self._digit * 10**unit
        self._digit, self._unit, self._last, self._zero = None, unit, unit, False
        return True

    def _feed_big(self, unit: int) -> bool:
        section = self._section + (self._digit or 0)
        if not section and not (unit == 8 and self._total):
            return False
        place = self._last if self._digit is None else 0
        if unit == 8:
            if self._total >= 10**8:
                return False
            self._total = (self._total + section) * 10**8
        else:
            if self._total % 10**8:
                return False
            self._total += section * 10**4
        self._section, self._digit, self._unit, self._zero = 0, None, 9, False
        self._last = unit + place
        return True

    def result(self) -> tuple[Decimal, int]:
        value, place = self._total + self._section, self._last
        if self._digit is not None:
            # 两万五 is 25,000: a last digit right after a unit counts in the next lower place.
            place = 0 if self._zero or self._last < 2 else self._last - 1
            value += self._digit * 10**place
        return Decimal(value), place


_ONE_CHARACTER = {char: parsed for char in _CHINESE_CHAR if (parsed := parse_chinese(char))}
