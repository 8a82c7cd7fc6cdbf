"""Small numbers and names with digits, which the symbol language leaves alone: `17 个`, `thirty days`, `三十天`, `7A`.

In a search index they are noise; in an answer a changed one is a changed fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from retrieval.symbols.fold import fold
from retrieval.symbols.values.numerals import parse_chinese, plain
from retrieval.types import Symbol

IDENTIFIER = "identifier"
_MEASURE = r"(?i:km|cm|mm|kg|mg|ml|m|g|l|ha|kw|mw|gw|kwh|mb|gb|tb|hz|khz|mhz|ghz|h|s|min)"
_ARABIC = re.compile(
    r"(?<![A-Za-z0-9_.,#/])\d{1,15}(?:\.\d{1,9})?(?![0-9_]|[.,]\d)(?!-[A-Za-z])"
    rf"(?:(?![A-Za-z])|(?={_MEASURE}(?![A-Za-z0-9_])))"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_.#/-])"
    r"(?!(?:[Qq][1-4]|[Hh][12]|(?i:FY)\d{2,4})(?![A-Za-z0-9_]))"  # a quarter without its year is a period, not a name
    r"(?:[A-Za-z]{1,12}-?\d[A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)*|\d{1,6}[A-Z][A-Za-z0-9]*)(?![A-Za-z0-9_])"
)
"""Names with digits: `A-135`, `7A`, `ISO27001`, `UDDI2.0`."""
_ORDINAL_EN = re.compile(r"(?<![A-Za-z0-9_.])(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_UNIT_ZH = (
    "个|天|日|年|月|周|星期|小时|分钟|秒|人|次|倍|家|名|位|元|条|款|岁|吨|米|公里|公斤|千克|份|套|台|件|级|层|届|期|章|节"
    "|页|部|所|座|间|辆|只|场|集|季|成|折|步|类|种|项|轮|笔|户|县|省|国|字|点|号|班|队"
)
_YEAR = re.compile(r"(?:19[5-9]|20\d)\d")
_MEASURED = re.compile(rf"\s*(?:(?!年)(?:{_UNIT_ZH})|[%‰]|[A-Za-z]*[°])")
_MONEY_BEFORE = re.compile(r"[$€£¥]\s*\Z")
_CHINESE = re.compile(
    rf"(?<![零〇一二两三四五六七八九十百千万亿第])([零〇一二两三四五六七八九十百千]{{1,9}})(?=(?:{_UNIT_ZH}))"
)
_ORDINAL_ZH = re.compile(r"第([零〇一二两三四五六七八九十百]{1,6})(?![零〇一二两三四五六七八九十百千季])")
_WORDS_EN = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "twenty": 20, "twenty-four": 24, "thirty": 30, "forty": 40, "forty-five": 45,
    "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
_ENGLISH = re.compile(
    r"(?<![A-Za-z-])(" + "|".join(sorted(_WORDS_EN, key=len, reverse=True)) + r")(?![A-Za-z-])", re.IGNORECASE
)


def read_counts(text: str, taken: Sequence[Symbol]) -> list[Symbol]:
    """Return numbers, bare years and identifiers outside the symbols already `taken`, ordered by start.

    A written-out one (`一个`, `one`) is no figure: it is an article more often than a count.
    """
    folded = fold(text)
    covered = bytearray(len(text) + 1)
    for symbol in taken:
        covered[symbol.start : symbol.end] = b"\x01" * (symbol.end - symbol.start)
    found: dict[int, Symbol] = {}
    for start, end, value in _readings(folded):
        if 1 not in covered[start:end]:
            found.setdefault(start, _symbol(text, start, end, value))
            covered[start:end] = b"\x01" * (end - start)
    for start, symbol in found.items():
        if _is_year(folded, symbol):
            found[start] = symbol.model_copy(update={"kind": "period", "token": f"[PERIOD_{symbol.normal}]"})
    for match in _IDENTIFIER.finditer(folded):
        start, end = match.span()
        if 1 not in covered[start:end]:
            found[start] = _identifier(text, start, end)
    return [found[start] for start in sorted(found)]


def _is_year(folded: str, symbol: Symbol) -> bool:
    """A bare year (a table's column, `the 2019 budget`) is a period; `2019 个` is a count."""
    if not _YEAR.fullmatch(folded, symbol.start, symbol.end):
        return False
    return not _MEASURED.match(folded, symbol.end) and not _MONEY_BEFORE.search(folded, 0, symbol.start)


def _readings(folded: str) -> list[tuple[int, int, Decimal]]:
    readings: list[tuple[int, int, Decimal]] = []
    readings += [(m.start(), m.end(), Decimal(m.group())) for m in _ARABIC.finditer(folded)]
    readings += [(m.start(1), m.end(1), Decimal(m.group(1))) for m in _ORDINAL_EN.finditer(folded)]
    chinese = [*_CHINESE.finditer(folded), *_ORDINAL_ZH.finditer(folded)]
    readings += [(m.start(1), m.end(1), value) for m in chinese if (value := _chinese(m.group(1))) is not None]
    readings += [(m.start(1), m.end(1), Decimal(_WORDS_EN[m.group(1).lower()])) for m in _ENGLISH.finditer(folded)]
    return readings


def _chinese(run: str) -> Decimal | None:
    if run == "一":
        return None
    parsed = parse_chinese(run)
    return parsed[0] if parsed else None


def _symbol(text: str, start: int, end: int, value: Decimal) -> Symbol:
    normal = plain(value)
    return Symbol(
        cls="value",
        kind="number",
        normal=normal,
        token=f"[NUM_{normal}]",
        start=start,
        end=end,
        surface=text[start:end],
        confidence=0.5,
    )


def _identifier(text: str, start: int, end: int) -> Symbol:
    normal = fold(text[start:end]).casefold().replace("-", "").replace(" ", "")
    surface = text[start:end]
    return Symbol(
        cls="code", kind=IDENTIFIER, normal=normal, token=surface, start=start, end=end, surface=surface, confidence=0.5
    )


def is_spelled_out(symbol: Symbol) -> bool:
    """Tell whether a number is written in words (`三`, `three`)."""
    return not any(char.isdigit() for char in fold(symbol.surface))
