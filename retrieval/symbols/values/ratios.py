"""Ratios: 3:2, 3比2, 1.5倍, 1.5x, twofold.

Normal forms: `3:2` in lowest whole terms, and `1.5x`. Times of day, scores and places in a file are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from retrieval.symbols.found import Found
from retrieval.symbols.values.numerals import Numeral, plain
from retrieval.symbols.values.numerals_en import SMALL
from retrieval.symbols.values.ranges import is_range
from retrieval.symbols.values.signs import sign_before

_TIMES = re.compile(
    r"\s?[余多]?倍(?![数感增率频速加受镜径])|[xX](?![A-Za-z0-9])"
    r"|\s(?i:times)(?![A-Za-z])(?!\s(?:an?|per|each|every|this|last|in|during|daily|weekly|monthly|yearly|annually)\b)"
)
_TIMES_HEADS = frozenset(" 余多倍xX\u3000\t")
_COMPARED = re.compile(
    r"\s(?i:as|more|less|higher|lower|larger|bigger|greater|the|that|its|their|earnings|book|faster|over)\b"
)
_COLON = re.compile(r"[:∶]|\s[:∶]\s|\s?比\s?")
_CLOCK = re.compile(r"(?:[01]?[0-9]|2[0-4]):[0-5][0-9]")
_RATIO_BEFORE = re.compile(r"(?:比例|比率|配比|占比|之比|比值|杠杆|(?i:ratios?|proportions?))[^0-9。；;\n]{0,12}\Z")
_RATIO_AFTER = re.compile(r"\s?的?(?:比例|比率|配比|之比|(?i:ratio)\b|(?i:split)\b)")
_SCORE_BEFORE = re.compile(
    r"(?:比分[^0-9，。；,;]{0,6}|[以胜负平领先战](?:为|是)?|(?<![A-Za-z])(?i:won|win|wins|lost|lose|beat|beaten|score|scored|led|drew|draw|victory|defeat)"
    r"(?:\s[A-Za-z]{1,12}){0,3})\s?\Z|[A-Za-z0-9_./:-]\Z"
)
_SCORE_AFTER = re.compile(
    r"\s?(?:[:/]|战胜|获胜|取胜|击败|领先|险胜|大胜|完胜|负于|落败|逆转|战平|(?i:win|victory|defeat|lead|loss|draw|score)\b|(?i:am|pm|a\.m\.|p\.m\.)(?![a-z]))"
)
_FOLD = re.compile(r"[\s-]?fold(?![a-z])", re.IGNORECASE)
_FOLD_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9.,])(?:({'|'.join(SMALL)})|([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?))\Z", re.IGNORECASE
)
_IN_ADDRESS = re.compile(r"[A-Za-z][0-9A-Za-z]*[:\-]|[A-Fa-f](?![0-9A-Za-z])")
_HEX_BEFORE = re.compile(r"[0-9A-Fa-f]{2}[:-]\Z")
_LEAST_MODEL = 100
_WINDOW = 24


def find_ratios(text: str, numerals: Sequence[Numeral]) -> list[Found]:
    """Return the ratios of a folded text."""
    found = [*_pairs_and_multiples(text, numerals)]
    if "fold" in text:
        found += _folds(text)
    return found


def _pairs_and_multiples(text: str, numerals: Sequence[Numeral]) -> Iterator[Found]:
    for index, numeral in enumerate(numerals):
        if numeral.alone or numeral.wrapped:
            continue
        following = numerals[index + 1] if index + 1 < len(numerals) else None
        end = _multiple_end(text, numeral, following)
        if end is not None:
            start, negative = sign_before(text, numeral.start)
            if text[start - 1 : start] != "第" and not _is_label(text, start) and not _is_model(text, numeral, end):
                yield _multiple(plain(-numeral.value if negative else numeral.value), start, end)
        elif following is not None and not numeral.scale and not following.scale and not following.wrapped:
            between = _COLON.fullmatch(text, numeral.end, following.start)
            if between is not None and _is_ratio(text, numeral.start, following.end):
                yield from _pair(numeral, following)


def _multiple_end(text: str, numeral: Numeral, following: Numeral | None) -> int | None:
    head = text[numeral.end : numeral.end + 1]
    match = _TIMES.match(text, numeral.end) if head in _TIMES_HEADS else None
    if match is not None:
        small = numeral.written == "english" and _COMPARED.match(text, match.end()) is None
        return None if small else match.end()
    # 2-3倍: the word is written once for both ends of the range.
    if following is not None and is_range(text, numeral.start, numeral.end, following.start):
        return numeral.end if _TIMES.match(text, following.end) else None
    return None


def _is_model(text: str, numeral: Numeral, end: int) -> bool:
    """Tell a steel or a model (304X) from a multiple (10X)."""
    return text[end - 1] == "X" and numeral.written == "integer" and numeral.value >= _LEAST_MODEL


def _is_label(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return before.isascii() and (before.isalnum() or before == "_")


def _is_ratio(text: str, start: int, end: int) -> bool:
    """Tell a ratio from a time of day, a score and a place in a file."""
    before = text[max(0, start - _WINDOW) : start]
    if before[-1:] == "第" or _is_label(text, start) or _IN_ADDRESS.match(text, end) or _HEX_BEFORE.search(before):
        return False
    if _RATIO_BEFORE.search(before) or _RATIO_AFTER.match(text, end):
        return True
    if _CLOCK.fullmatch(text, start, end):
        return False
    return _SCORE_BEFORE.search(before) is None and _SCORE_AFTER.match(text, end) is None


def _pair(left: Numeral, right: Numeral) -> Iterator[Found]:
    if not right.value:
        return
    ratio = Fraction(left.value) / Fraction(right.value)
    normal = f"{ratio.numerator}:{ratio.denominator}"
    if len(normal) <= 30:
        yield Found("value", "ratio", normal, f"[RATIO_{normal}]", left.start, right.end)


def _folds(text: str) -> Iterator[Found]:
    for match in _FOLD.finditer(text):
        start = max(0, match.start() - _WINDOW)
        before = _FOLD_BEFORE.search(text[start : match.start()])
        if before is not None:
            word, figure = before.groups()
            number = Decimal(SMALL[word.lower()]) if word else Decimal(figure)
            yield _multiple(plain(number), start + before.start(), match.end())


def _multiple(number: str, start: int, end: int) -> Found:
    return Found("value", "ratio", f"{number}x", f"[RATIO_{number}X]", start, end)
