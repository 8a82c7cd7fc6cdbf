"""Percentages and percentage points, signed by the word that directly governs them.

Normal forms: `-5.2%` and `-0.5pp` (a basis point is 0.01pp, a per mille 0.1%).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from retrieval.symbols.found import Found
from retrieval.symbols.values.directions import is_fall, shares_sign
from retrieval.symbols.values.numerals import Numeral, parse_chinese, plain
from retrieval.symbols.values.ranges import RANGE, is_range
from retrieval.symbols.values.signs import sign_before

# Longest first within one first character. Group 1: points, 2: basis points, 3: per mille, 4: tenths, 5: percent.
_UNIT = re.compile(
    r"\s{0,2}(?:"
    r"((?:个\s?)?百分点|percentage[\s-]points?|%[\s-]?points?|pct(?=[\u4e00-\u9fff])|(?:pct\s)?p\.?pts?(?![A-Za-z])|pp(?![A-Za-z]))"
    r"|((?:个\s?)?基点|basis\spoints?|bps?(?![A-Za-z]))"
    r"|(‰)"
    r"|(成(?![立功为本长果员交品就份年都熟千百人语绩套对型因见败群行双像效衣形家才书文片色军亲婚分]))"
    r"|(%|(?:percent|per\scent|pct)(?![A-Za-z])))",
    re.IGNORECASE,
)
_UNITS = ("points", "basis", "mille", "tenths", "percent")
_HUNDREDTHS = re.compile(r"(百|千|万)分之\s?([-负]?\s?)\Z")


def find_percents(text: str, numerals: Sequence[Numeral]) -> list[Found]:
    """Return the percentages and percentage points of a folded text."""
    found = list(_emit(text, numerals))
    if _ALL in text:
        found += [_found("percent", Decimal(100), m.start(), m.end()) for m in re.finditer(_ALL, text)]
    return found


_ALL = "百分之百"  # 百 alone is no numeral


def _emit(text: str, numerals: Sequence[Numeral]) -> Iterator[Found]:
    fractions = "分之" in text
    carried = False  # the sign of the range's first end, for the second
    for index, numeral in enumerate(numerals):
        if numeral.alone and not fractions:
            carried = False
            continue
        following = numerals[index + 1] if index + 1 < len(numerals) else None
        fraction = _HUNDREDTHS.search(text[max(0, numeral.start - 6) : numeral.start]) if fractions else None
        unit, end = _unit_of(text, numeral, following)
        if fraction is not None and unit is None:
            unit, end = _FRACTIONS[fraction.group(1)], numeral.end
        if unit is None or numeral.scale:
            carried = False
            continue
        start, negative = (numeral.start, True) if numeral.wrapped else sign_before(text, numeral.start)
        if fraction is not None:
            start -= len(fraction.group())
            negative = bool(fraction.group(2).strip())
        if not negative and text[start : start + 1] != "+":
            negative = carried or is_fall(text, start, end)
        value, end = _value(text, numeral, unit, end)
        yield _found(unit, -value if negative else value, start, end)
        carried = negative and following is not None and _goes_on(text, numeral, unit, end, following)


def _goes_on(text: str, numeral: Numeral, unit: str, end: int, following: Numeral) -> bool:
    """Tell whether the next figure falls as well: the other end of a range, or the next of a list."""
    if shares_sign(text, end, following.start):
        return True
    between = RANGE.fullmatch(text, end, following.start)
    if between is None or end == numeral.end:
        return between is not None
    # 下降5%至6% is a range; `fell 0.9 percentage points to 51%`, 下降1.2个百分点至61.5% end at a level.
    word = between.group().strip()
    if word not in ("至", "到"):
        return word != "to"
    return _unit_of(text, following, None)[0] == unit and following.value <= _WIDEST_RANGE * numeral.value


_WIDEST_RANGE = 3
_AND_A_HALF = re.compile(r"[一二三四五六七八九](?![十百千万])")
_SHIFT = {"points": 0, "basis": -2, "mille": -1, "myriad": -2, "tenths": 1, "percent": 0}
_FRACTIONS = {"百": "percent", "千": "mille", "万": "myriad"}


def _value(text: str, numeral: Numeral, unit: str, end: int) -> tuple[Decimal, int]:
    value = numeral.value.scaleb(_SHIFT[unit])
    if unit == "tenths" and end > numeral.end:  # 三成五 is 35%
        match = _AND_A_HALF.match(text, end)
        if match is not None:
            return value + (parse_chinese(match.group()) or (0, 0))[0], match.end()
    return value, end


_UNIT_HEADS = frozenset("%‰个百基成pPbB")


def _may_have_unit(text: str, end: int) -> bool:
    head = text[end : end + 1]
    return (text[end : end + 3].lstrip()[:1] if head.isspace() else head) in _UNIT_HEADS


def _unit_of(text: str, numeral: Numeral, following: Numeral | None) -> tuple[str | None, int]:
    match = _UNIT.match(text, numeral.end) if _may_have_unit(text, numeral.end) else None
    if match is not None:
        unit = _UNITS[(match.lastindex or 5) - 1]
        possible = unit not in _REFUSED.get(numeral.written, ()) and (unit != "tenths" or _is_tenths(text, numeral))
        return (unit, match.end()) if possible else (None, numeral.end)
    # 5-6%: the unit is written once for both ends of the range.
    if following is not None and not numeral.scale and is_range(text, numeral.start, numeral.end, following.start):
        match = _UNIT.match(text, following.end)
        if match is not None and not following.scale:
            return _UNITS[(match.lastindex or 5) - 1], numeral.end
    return None, numeral.end


_REFUSED = {"chinese": ("mille",)}


def _is_tenths(text: str, numeral: Numeral) -> bool:
    return (
        numeral.written in ("chinese", "integer")
        and numeral.value < 10
        and text[numeral.start - 1 : numeral.start] != "第"
    )


def _found(unit: str, value: Decimal, start: int, end: int) -> Found:
    number = plain(value)
    if unit in ("points", "basis"):
        return Found("value", "percent_points", f"{number}pp", f"[PP_{number}]", start, end)
    return Found("value", "percent", f"{number}%", f"[PCT_{number}]", start, end)
