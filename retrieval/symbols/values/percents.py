"""Percentages and percentage points, signed by the word that directly governs them.

Normal forms: `-5.2%` and `-0.5pp` (a basis point is 0.01pp, a per mille 0.1%).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from retrieval.symbols.found import Found
from retrieval.symbols.values.amounts import RANGE
from retrieval.symbols.values.numerals import Numeral, plain
from retrieval.symbols.values.signs import sign_before

# Longest first within one first character. Group 1: points, 2: basis points, 3: per mille, 4: percent.
_UNIT = re.compile(
    r"\s{0,2}(?:"
    r"((?:个\s?)?百分点|percentage[\s-]points?|%[\s-]?points?|(?:pct\s)?p\.?pts?\b|pp\b)"
    r"|((?:个\s?)?基点|basis\spoints?|bps?\b)"
    r"|(‰)"
    r"|(%|(?:percent|per\scent|pct)\b))",
    re.IGNORECASE,
)
_HUNDREDTHS = re.compile(r"(百|千)分之\s?([-负]?\s?)\Z")

_ZH_DOWN = (
    "负增长|下滑|下降|下跌|下挫|下探|下浮|下调|下行|减少|减小|减低|缩减|缩小|缩水|收缩|收窄|萎缩|降低|跌落|回落|滑落|走低|锐减|骤降|骤减"
    "|暴跌|大跌|微降|微跌|略降|调降|调减|削减|贬值|压降|(?<![上最])跌|(?<![下升])降|(?<!加)减|(?<![最较偏极至])低"
)
_ZH_DOWN_NOUN = "降幅|跌幅|减幅|下降幅度|下跌幅度|下滑幅度|降低幅度|减少幅度|贬值幅度"
_ZH_FILLER = r"(?:了|约|近|超过|超|逾|达到?(?!至)|高达|不足|至少|大约|接近|将近|幅度|[\s(])"
_EN_DOWN = (
    r"fell|falls?|fallen|falling|drop(?:s|ped|ping)?|declin(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|down|downturn|slipp(?:ed|ing)"
    r"|slips?|slid|shr[aiu]nk(?:s|ing)?|contract(?:s|ed|ing|ion)|lower(?:ed|ing)?|reduc(?:es|ed|e|ing|tion)|plung(?:e|es|ed|ing)"
    r"|tumbl(?:e|es|ed|ing)|dip(?:s|ped)?|sank|slump(?:s|ed)?|cut\sby|negative\sgrowth"
)
_EN_PERIOD = r"(?:year|quarter|month)[\s-]o(?:n|ver)[\s-](?:year|quarter|month)|yoy|qoq|mom|y/y|q/q|m/m|y-o-y"
_EN_FILLER = (
    r"by|of|about|around|approximately|roughly|nearly|almost|some|an?|another|only|just|as\smuch\sas|more\sthan|over"
    r"|at\sleast|up\sto|sharply|slightly|significantly|modestly|further|an?\sestimated|estimated|" + _EN_PERIOD
)
_ZH_DOWN_BEFORE = re.compile(
    rf"(?:(?:{_ZH_DOWN}){_ZH_FILLER}{{0,4}}|(?:{_ZH_DOWN_NOUN})(?:{_ZH_FILLER}|为|是|在|:){{0,4}})\Z"
)
_EN_DOWN_BEFORE = re.compile(rf"(?<![A-Za-z])(?i:(?:{_EN_DOWN})(?:\s(?:{_EN_FILLER})){{0,4}}\s)\Z")
_DOWN_AFTER = re.compile(
    rf"\s?的?\s?(?:同比|环比)?(?:降幅|跌幅|减幅|下降|下滑|下跌|降低|减少)(?!至|到|为|了?\s?[0-9])"
    rf"|\s(?i:(?:(?:{_EN_PERIOD}|annual|quarterly|monthly)\s)?"
    r"(?:declines?|decreases?|drops?(?!\sout)|reductions?|contractions?|slumps?"
    r"|falls?(?!\s(?:into|under|within|between|below|short|on))"
    r"|lower(?!\s(?:bound|limit|tier|end|part))|down(?!\s?payment|\sto|\sthe)))(?![A-Za-z])"
)
_DOWN_WINDOW = 64


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
        unit, end = _unit_of(text, numeral, following)
        if unit is None or numeral.scale:
            carried = False
            continue
        start, negative = (numeral.start, True) if numeral.wrapped else sign_before(text, numeral.start)
        fraction = _HUNDREDTHS.search(text[max(0, start - 6) : start])
        if fraction is not None:
            start -= len(fraction.group())
            negative = bool(fraction.group(2).strip())
        if not negative and text[start : start + 1] != "+":
            negative = carried or _governed_down(text, start, end)
        value = numeral.value.scaleb(_SHIFT[unit])
        yield _found(unit, -value if negative else value, start, end)
        carried = negative and following is not None and RANGE.fullmatch(text, end, following.start) is not None


_SHIFT = {"points": 0, "basis": -2, "mille": -1, "percent": 0}


def _unit_of(text: str, numeral: Numeral, following: Numeral | None) -> tuple[str | None, int]:
    match = _UNIT.match(text, numeral.end)
    if match is not None:
        if numeral.written == "chinese" and match.group(3):
            return None, numeral.end
        return ("points", "basis", "mille", "percent")[(match.lastindex or 4) - 1], match.end()
    fraction = _HUNDREDTHS.search(text[max(0, numeral.start - 6) : numeral.start])
    if fraction is not None:
        return ("percent" if fraction.group(1) == "百" else "mille"), numeral.end
    # 5-6%: the unit is written once for both ends of the range.
    if following is not None and not numeral.scale and RANGE.fullmatch(text, numeral.end, following.start):
        match = _UNIT.match(text, following.end)
        if match is not None and not following.scale:
            return ("points", "basis", "mille", "percent")[(match.lastindex or 4) - 1], numeral.end
    return None, numeral.end


def _governed_down(text: str, start: int, end: int) -> bool:
    window = text[max(0, start - _DOWN_WINDOW) : start]
    if window[-1:].isspace() and window[-2:-1].isalpha() and _EN_DOWN_BEFORE.search(window):
        return True
    if not window.isascii() and _ZH_DOWN_BEFORE.search(window):
        return True
    return _DOWN_AFTER.match(text, end) is not None


def _found(unit: str, value: Decimal, start: int, end: int) -> Found:
    number = plain(value)
    if unit in ("points", "basis"):
        return Found("value", "percent_points", f"{number}pp", f"[PP_{number}]", start, end)
    return Found("value", "percent", f"{number}%", f"[PCT_{number}]", start, end)
