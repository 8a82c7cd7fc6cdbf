"""Reads figures with scale, currency and unit in an expression, in the words of the symbol language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from agent.tools.measures import ExpressionError, Kind, Measure, Units, joined
from retrieval.symbols.values.currencies import currency_after, currency_before
from retrieval.symbols.values.units import UNIT_WRITINGS, factor_of

_SCALES: Final = {
    **{"千": 3, "万": 4, "十万": 5, "百万": 6, "千万": 7, "亿": 8, "十亿": 9, "百亿": 10, "千亿": 11, "万亿": 12},
    **{"thousand": 3, "million": 6, "mn": 6, "mm": 6, "billion": 9, "bn": 9, "trillion": 12, "tn": 12},
}
_LETTERS: Final = {"k": 3, "m": 6, "b": 9}
"""Scales beside a currency only: by itself `5m` may be metres."""
_SHARES: Final[tuple[tuple[str, Fraction, Kind], ...]] = (
    (r"个?\s?百分点|percentage[\s-]points?|pp(?![a-z])|%\s?points?", Fraction(1, 100), "points"),
    (r"个?\s?基点|basis\spoints?|bps?(?![a-z])", Fraction(1, 10_000), "points"),
    (r"%|percent(?![a-z])|per\scent(?![a-z])", Fraction(1, 100), "percent"),
    (r"‰", Fraction(1, 1000), "percent"),
)
_TIMES: Final = {
    **dict.fromkeys(("秒", "秒钟", "s", "sec", "second", "seconds"), ("s", 1)),
    **dict.fromkeys(("分钟", "min", "minute", "minutes"), ("s", 60)),
    **dict.fromkeys(("小时", "个小时", "h", "hour", "hours"), ("s", 3600)),
    **dict.fromkeys(("天", "日", "day", "days"), ("s", 86_400)),
    **dict.fromkeys(("周", "星期", "week", "weeks"), ("s", 604_800)),
    **dict.fromkeys(("个月", "月", "month", "months"), ("month", 1)),
    **dict.fromkeys(("个季度", "季度", "quarter", "quarters"), ("month", 3)),
    **dict.fromkeys(("年", "year", "years"), ("month", 12)),
}
_NUMBER_RE = re.compile(r"(?<![A-Za-z0-9_.])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\d_])")
_SHARE_RES: Final[tuple[tuple[re.Pattern[str], Fraction, Kind], ...]] = tuple(
    (re.compile(rf"\s*(?:{p})", re.IGNORECASE), factor, kind) for p, factor, kind in _SHARES
)


def _words(names: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(
        re.escape(name) + (r"(?![A-Za-z0-9])" if name[-1].isascii() and name[-1].isalnum() else "")
        for name in sorted(names, key=len, reverse=True)
    )
    return re.compile(rf"\s*({either})", re.IGNORECASE)


_SCALE_RE: Final = _words(tuple(_SCALES))
_LETTER_RE: Final = re.compile(r"\s?([kmb])(?![A-Za-z0-9])", re.IGNORECASE)
_UNIT_RE: Final = _words(tuple(name for name in UNIT_WRITINGS if name != "m"))
_METRE_RE: Final = re.compile(r"\s*m(?![A-Za-z0-9²³])")
_TIME_RE: Final = re.compile(_words(tuple(_TIMES)).pattern + r"(?!\s*\()", re.IGNORECASE)  # min( is a function
_PER_RE: Final = re.compile(r"\s*/\s*(?=[^\s\d(])|\s*每|\s+per\s+", re.IGNORECASE)
_COUNTED_RE: Final = re.compile(r"\s*个(?!百分点|基点|月|季度|小时|工作日)")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of an expression."""

    measure: Measure
    written: str
    start: int
    end: int


def read_figures(text: str) -> list[Figure]:
    """Return the figures of a folded expression, in order.

    Raises:
        ExpressionError: it is not clear what a unit means.
    """
    figures: list[Figure] = []
    for match in _NUMBER_RE.finditer(text):
        if figures and match.start() < figures[-1].end:
            continue  # a digit inside the unit before it (m2)
        figures.append(_figure(text, match))
    return figures


def _figure(text: str, match: re.Match[str]) -> Figure:
    value, start = Fraction(match.group().replace(",", "")), match.start()
    before = currency_before(text, start)
    currency = None
    if before is not None:
        currency, start, _ = before
        start += text[start : start + 1] in "-−"
    for pattern, factor, kind in _SHARE_RES:
        if currency is None and (sign := pattern.match(text, match.end())):
            return Figure(Measure(value * factor, (), kind), text[start : sign.end()], start, sign.end())
    scale, end = _scale(text, match.end(), prefixed=currency is not None)
    after = currency_after(text, end)
    if after is not None:
        if currency is not None and currency != after[0]:
            raise ExpressionError(f"{text[start : after[1]]!r} names two currencies")
        currency, end = after
    value *= scale
    if currency is not None:
        units: Units = ((currency, 1),)
    else:
        units, factor, end = _unit_at(text, end)
        value *= factor
    if units:
        per, factor, end = _per(text, end)
        units, value = joined(units, per, -1), value / factor
    else:
        end = counted.end() if (counted := _COUNTED_RE.match(text, end)) else end
    return Figure(Measure(value, units), text[start:end], start, end)


def _scale(text: str, end: int, *, prefixed: bool) -> tuple[Fraction, int]:
    if match := _SCALE_RE.match(text, end):
        return Fraction(10) ** _SCALES[match.group(1).lower()], match.end()
    letter = _LETTER_RE.match(text, end)
    if letter and (prefixed or currency_after(text, letter.end())):
        return Fraction(10) ** _LETTERS[letter.group(1).lower()], letter.end()
    return Fraction(1), end


def _unit_at(text: str, end: int) -> tuple[Units, Fraction, int]:
    """Return the units written at `end`, the factor to those of the normal form, and where they end."""
    if _METRE_RE.match(text, end):
        raise ExpressionError("'m' may be million or metres; write which")
    unit = _UNIT_RE.match(text, end)
    time = _TIME_RE.match(text, end)
    if time and not (unit and unit.end() > time.end()):
        name, seconds = _TIMES[time.group(1).lower()]
        return ((name, 1),), Fraction(seconds), time.end()
    known = factor_of(unit.group(1)) if unit else None
    if unit is None or known is None:
        return (), Fraction(1), end
    return ((known[0], 1),), known[1], unit.end()


def _per(text: str, end: int) -> tuple[Units, Fraction, int]:
    """Read `/吨`, `每股`, `per share` behind a unit; a division by a figure is none."""
    match = _PER_RE.match(text, end)
    if match is None:
        return (), Fraction(1), end
    units, factor, stop = _unit_at(text, match.end())
    return (units, factor, stop) if units else ((), Fraction(1), end)


@dataclass(frozen=True, slots=True)
class Target:
    """What a result is asked for in: `in million CNY`, `换算成公里`, `in %`."""

    written: str
    size: Fraction
    """One of it, in the units of the normal form."""
    units: Units | None
    """None: a scale alone, for any unit."""
    kind: Kind | None = None


_TARGET_RE: Final = re.compile(r"\s*(?:\b(?:in|to|as)\s+|->\s*|→\s*|(?:换算|折合|换|折)[成为]?\s*)([^\d()]{1,40})\Z")


def read_target(text: str) -> tuple[str, Target | None]:
    """Split off what the result shall be written in.

    Raises:
        ExpressionError: the unit is not known.
    """
    match = _TARGET_RE.search(text)
    if match is None:
        return text, None
    written = match.group(1).strip()
    for pattern, factor, kind in _SHARE_RES:
        if pattern.fullmatch(written):
            return text[: match.start()], Target(written, factor, (), kind)
    # Read as it would be behind a figure, or before one.
    figure = next((f for each in (f"1 {written}", f"1{written}") if (f := _whole(each))), None) or _prefixed(written)
    if figure is None:
        raise ExpressionError(f"{written!r} is no known unit")
    bare = not figure.units
    return text[: match.start()], Target(written, figure.value, None if bare else figure.units)


def _whole(text: str) -> Measure | None:
    figures = read_figures(text)
    known = figures and figures[0].start == 0 and figures[0].end == len(text)
    return figures[0].measure if known else None


def _prefixed(written: str) -> Measure | None:
    """Read `CNY million`, `USD`."""
    name, _, scale = written.partition(" ")
    return _whole(f"{name} 1 {scale}".strip())
