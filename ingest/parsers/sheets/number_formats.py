"""Numbers as a spreadsheet shows them: the format codes of Excel (ECMA-376 part 1, 18.8.31) applied to values.

Dates come out in ISO form at the precision that the format shows; everything else as on the
sheet. A code that is not understood gives the plain number: a value is never lost to its look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

BUILTIN_DATES = {
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}
"""Format numbers that East Asian locales give to dates and times; their codes stand in no file."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?'
    r"|\\(?P<escaped>.)"
    r"|(?P<fill>[_*].)"
    r"|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<general>General)"
    r"|(?P<ampm>AM/PM|A/P|上午/下午)"
    r"|(?P<exponent>[Ee][+-][0#?]+)"
    r"|(?P<plain>.)",
    re.I | re.S,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_ELAPSED = re.compile(r"(?:h+|m+|s+)", re.I)
_PLACES = frozenset("0#?")
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 (a sheet's dates have no zone)
_DAYS_TO_1904 = 1462
_MAX_SERIAL = 2_958_466
"""The day after 9999-12-31, counted from 1900."""
_MAX_EXACT = 2**53
"""Below it a float holds every whole number; from there on its last digits are an accident."""
_WHOLE = re.compile(r"-?[0-9]{1,30}")
_LAST_SECOND = _MAX_SERIAL * 86400 - 1


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of a code: literals and placeholders in order, and what they amount to."""

    integer: tuple[str, ...]
    """Single placeholders and literals before the point, in order."""
    fraction: str
    suffix: str
    grouped: bool
    percents: int
    thousands: int
    """Commas after the last placeholder: each divides by a thousand."""
    exponent: bool
    condition: tuple[str, float] | None
    letters: str
    """Letters of dates and times, lower case, in order; empty for numbers."""
    elapsed: bool
    general: bool


def shown(value: float, code: str, epoch_1904: bool = False) -> str:
    """Return what the sheet shows for a number.

    Args:
        value: the stored number; for dates the days since the epoch. An `int` is shown to its last digit.
        code: the cell's number format, `General` where it has none.
        epoch_1904: days count from 1904 instead of 1900.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    sections = _sections(code)
    section, magnitude = _choose(sections, value)
    if section is None or section.general:
        return plain_number(value)
    if section.letters:
        return _moment(value, section, epoch_1904)
    if not section.integer and not section.fraction:
        return section.suffix.strip() or plain_number(value)
    return _number(magnitude, section).strip()


def stored_number(text: str) -> float:
    """Read a number as a file stores it; digits alone give an `int`, which keeps those that a float would round.

    Raises:
        ValueError: no number.
    """
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def plain_number(value: float) -> str:
    """Return a number without a format: whole numbers exactly, others with 15 digits, no exponent if short."""
    if _is_exact(value):
        return str(int(value))
    text = f"{value:.15g}"
    if "e" in text and 1e-10 < abs(value) < 1e21:
        text = format(Decimal(text), "f")
    return text


def _is_exact(value: float) -> bool:
    """Tell whether every digit of a number stands for itself: card and identity numbers have 16 to 19 of them."""
    return isinstance(value, int) or (abs(value) < _MAX_EXACT and value.is_integer())


def _choose(sections: Sequence[_Section], value: float) -> tuple[_Section | None, float]:
    """Pick the section for a value, and the value as that section shows it (without a sign it implies)."""
    if not sections:
        return None, value
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _holds(value, *section.condition):
                return section, value
        return sections[-1], value
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    if value == 0 and len(sections) > 2:
        return sections[2], value
    return sections[0], value


def _holds(value: float, operator: str, bound: float) -> bool:
    return {
        "<": value < bound,
        ">": value > bound,
        "=": value == bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "<>": value != bound,
    }[operator]


@lru_cache(maxsize=4096)
def _sections(code: str) -> Sequence[_Section]:
    if len(code) > 1000:
        return ()
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token.group("plain") == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(_section(part) for part in parts[:3])


def _section(tokens: list[re.Match[str]]) -> _Section:
    integer: list[str] = []
    fraction = suffix = letters = ""
    percents = commas = 0
    grouped = exponent = elapsed = general = seen_point = False
    condition: tuple[str, float] | None = None
    placed = False
    for token in tokens:
        literal = token.group("quoted") or token.group("escaped") or ""
        plain = token.group("plain") or ""
        bracket = token.group("bracket")
        if bracket is not None:
            found = _CONDITION.fullmatch(bracket)
            if found:
                condition = (found.group(1), float(found.group(2)))
            elif bracket.startswith("$"):
                literal = bracket[1:].split("-")[0]
            elif _ELAPSED.fullmatch(bracket):
                elapsed = True
                letters += bracket.lower()
        elif token.group("general"):
            general = True
        elif token.group("exponent"):
            exponent = True
        elif token.group("ampm"):
            letters += "h"
        if plain in _PLACES and plain:
            grouped, commas = grouped or commas > 0, 0
            placed = True
            if seen_point:
                fraction += plain
            else:
                integer.append(plain)
        elif plain == "." and not seen_point:
            seen_point = True
        elif plain == "," and placed:
            commas += 1
        elif plain == "%":
            percents += 1
            literal = "%"
        elif plain and plain in "yYmMdDhHsSgGeEbB":
            letters += plain.lower()
        elif plain == "/" and placed:
            general = True
        elif plain and plain != "@":
            literal = plain
        if literal:
            if fraction or seen_point or (placed and percents):
                suffix += literal
            else:
                integer.append(literal if len(literal) > 1 or literal not in _PLACES else f"\\{literal}")
    if not placed:
        suffix = "".join(part.removeprefix("\\") if len(part) == 2 else part for part in integer) + suffix
        integer = []
    return _Section(
        tuple(integer), fraction, suffix, grouped, percents, commas, exponent, condition, letters, elapsed, general
    )


def _number(value: float, section: _Section) -> str:
    try:
        exact = Decimal(int(value) if _is_exact(value) else f"{value:.15g}") * (Decimal(100) ** section.percents)
    except InvalidOperation:
        return plain_number(value)
    if section.exponent:
        return f"{value:.{len(section.fraction)}E}"
    exact /= Decimal(1000) ** section.thousands
    if abs(exact) >= Decimal(10) ** 20:
        return plain_number(value)
    try:
        rounded = abs(exact).quantize(Decimal(1).scaleb(-len(section.fraction)), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return plain_number(value)  # more digits in all than a sheet shows
    digits, _, decimals = format(rounded, "f").partition(".")
    while decimals and section.fraction[len(decimals) - 1] in "#?" and decimals.endswith("0"):
        decimals = decimals[:-1]
    body = _fill(digits.lstrip("0"), section)
    sign = "-" if exact < 0 and rounded else ""
    point = "." if decimals else ""
    return f"{sign}{body}{point}{decimals}{section.suffix}"


def _fill(digits: str, section: _Section) -> str:
    """Put digits into the placeholders from the right; the leftmost takes what is left over."""
    out: list[str] = []
    places = sum(1 for part in section.integer if part in _PLACES)
    count = 0
    for part in reversed(section.integer):
        if part not in _PLACES:
            out.append(part.removeprefix("\\") if len(part) == 2 else part)
            continue
        places -= 1
        taken = digits if places == 0 else digits[-1:]
        digits = "" if places == 0 else digits[:-1]
        if not taken and part == "0":
            taken = "0"
        for digit in reversed(taken):
            if section.grouped and count and count % 3 == 0:
                out.append(",")
            out.append(digit)
            count += 1
    return "".join(reversed(out))


def _moment(value: float, section: _Section, epoch_1904: bool) -> str:
    if section.elapsed:
        return _elapsed(value, section.letters)
    if not 0 <= value < _MAX_SERIAL:
        return plain_number(value)
    letters = section.letters
    moment = _datetime(value, epoch_1904)
    has_time = "h" in letters or "s" in letters
    has_date = any(letter in letters for letter in "ydge") or not has_time
    time = moment.strftime("%H:%M:%S" if "s" in letters or moment.second else "%H:%M") if has_time else ""
    return " ".join(part for part in (_date(moment, letters) if has_date else "", time) if part)


def _datetime(value: float, epoch_1904: bool) -> datetime:
    """Convert a serial number; day 60 of the 1900 count is the leap day that 1900 did not have."""
    shift = _DAYS_TO_1904 if epoch_1904 else 0 if value >= 60 else 1
    return _EPOCH + timedelta(seconds=min(round((value + shift) * 86400), _LAST_SECOND))


def _date(moment: datetime, letters: str) -> str:
    if "d" in letters or ("m" in letters and not any(letter in letters for letter in "yge")):
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%Y-%m") if "m" in letters else moment.strftime("%Y")


def _elapsed(value: float, letters: str) -> str:
    seconds = round(abs(value) * 86400)
    sign = "-" if value < 0 else ""
    if "h" not in letters:
        return f"{sign}{seconds // 60}:{seconds % 60:02d}"
    tail = f":{seconds % 60:02d}" if "s" in letters or seconds % 60 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}{tail}"
