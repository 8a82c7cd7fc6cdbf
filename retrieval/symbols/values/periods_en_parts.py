"""Parts of years in English words: third quarter of 2024, first nine months of fiscal 2024, fiscal 2024, first half."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.values.calendar import Span
from retrieval.symbols.values.fiscal import CALENDAR_YEAR, FiscalYear
from retrieval.symbols.values.times import YEAR, Time, full_year, in_word
from retrieval.symbols.words import SPACES, Words

_CONFIDENCE = 0.9
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "final": 4,
             "last": 4}  # fmt: skip
_COUNTS = {"two": 2, "three": 3, "six": 6, "nine": 9}
# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_YEAR = (
    rf"(?:FY\s?)?(?P<y>{YEAR})|FY\s?'?(?P<y2>[0-9]{{2}})"
    r"|(?P<relative>last|this|next|the\sprevious|the\sprior|the\scurrent|the\ssame)\s(?:(?:fiscal|financial)\s)?year"
)
# The word for the unit is what the engine looks for; an ordinal must stand before it.
_UNIT = re.compile(
    r"[QqHhMm](?<=[a-z0-9A-Z][\s-].)(?i:(?:(?<=q)uarters?|(?<=h)alf|(?<=m)onths)"
    rf"(?P<year>,?(?:\s(?:of|in))?(?:\s(?:the|our|its))?(?:\s(?:fiscal|financial|calendar))?(?:\syear)?,?\s(?:{_YEAR}))?)"
    r"(?![0-9A-Za-z])"
)
_ORDINAL = re.compile(
    r"(?<![0-9A-Za-z_])(?P<n>first|second|third|fourth|final|last|1st|2nd|3rd|4th)[\s-]"
    r"(?:(?P<count>two|three|six|nine|[236789])\s)?(?:(?:fiscal|financial|calendar)\s)?\Z",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"[FfCcTt](?<![A-Za-z].)(?i:(?:iscal|inancial|alendar|ull)[\s-]?(?:years?)?|(?:he|ull)\syear)\s(?i:of\s)?"
    rf"(?P<y>{YEAR})(?![0-9])(?:[/–-](?P<end>[0-9]{{2}}|{YEAR})(?![0-9]))?"
)
_FISCAL_BEFORE = re.compile(r"(?<![A-Za-z])(?:[Ff]iscal|[Ff]inancial)[\s-]\Z")
_IS_FISCAL = re.compile(r"(?i:fiscal|financial)|FY")
_UNITS = Words(["quarter", "half", "months"])
_FULL_YEARS = Words(["fiscal", "financial", "calendar", "full", *(f"the{space}year" for space in SPACES)])
_OF_SOMETHING = re.compile(r"\s(?:of|in)\s(?!the\s(?:year|period)\b)|[\s-](?:[0-9]|FY)")
_HAS_YEAR = re.compile(rf"{YEAR}|FY")
# Without one of these a pattern need not be tried; no letter that has another form where case is ignored.
_PARTS = ("quarter", "half", "month")
_FULLS = ("cal", "nanc", "alend", "ull", "year")


def read_parts(text: str, base_date: date | None, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield parts of years and years named as such; without a written year only with a base date."""
    lowered = text.lower()
    has_year = _HAS_YEAR.search(text) is not None
    if (has_year or base_date is not None) and any(word in lowered for word in _PARTS):
        yield from _parts(text, base_date, fiscal)
    if has_year and any(word in lowered for word in _FULLS):
        yield from _full_years(text, fiscal)


def _parts(text: str, base_date: date | None, fiscal: FiscalYear) -> Iterator[Time]:
    for unit in _UNITS.matches(text, _UNIT):
        window = text[max(0, unit.start() - 32) : unit.start()]
        ordinal = _ORDINAL.search(window)
        if ordinal is None:
            continue
        start = unit.start() - len(ordinal.group())
        if in_word(text, start):
            continue
        g = {**unit.groupdict(), **ordinal.groupdict(), "unit": unit.group().split()[0].rstrip(",").lower()}
        before = _FISCAL_BEFORE.search(text[max(0, start - 12) : start])
        by = fiscal if before or _IS_FISCAL.search(text, start, unit.end()) else CALENDAR_YEAR
        free = not g["year"]
        if free and (base_date is None or not _stands_alone(text, g, start, unit.end())):
            continue
        year = _year(g, base_date, by)
        span = _span(g, year, by) if year else None
        if span is not None:
            written = not (free or g["relative"])
            confidence = 1.0 if written else _CONFIDENCE
            start -= len(before.group()) if before else 0
            yield Time(span, start, unit.end(), confidence, free and by is CALENDAR_YEAR, written)
            yield from _listed_before(text, start, year or 0, g["unit"] or "", by)


_LISTED = re.compile(
    r"(?<![A-Za-z])(?P<n>first|second|third)(?:,\s(?P<n2>second|third),?)?\s(?:and|or)\s\Z", re.IGNORECASE
)


def _listed_before(text: str, start: int, year: int, unit: str, by: FiscalYear) -> Iterator[Time]:
    """Yield the others of the first and second quarters of 2024, whose last one begins at `start`."""
    before = _LISTED.search(text[max(0, start - 24) : start])
    if before is None or not unit.lower().startswith("quarter"):
        return
    offset = max(0, start - 24)
    for name in ("n", "n2"):
        span = by.quarter(year, _ORDINALS[before.group(name).lower()]) if before.group(name) else None
        if span is not None:
            yield Time(span, offset + before.start(name), offset + before.end(name))


def _stands_alone(text: str, g: dict[str, str | None], start: int, end: int) -> bool:
    """The third quarter, the first half, the first nine months: no `third quarter of the game`, no `last months`."""
    word, unit = (g["n"] or "").lower(), g["unit"]
    if word in ("last", "final") or _OF_SOMETHING.match(text, end) or (unit == "quarters" and not g["count"]):
        return False
    if unit == "half":
        return word in ("first", "second", "1st", "2nd") and text[max(0, start - 4) : start].lower() == "the "
    return unit != "months" or (word in ("first", "1st") and g["count"] is not None)


def _full_years(text: str, fiscal: FiscalYear) -> Iterator[Time]:
    for match in _FULL_YEARS.matches(text, _FULL):
        if in_word(text, match.start()):
            continue
        year, end = int(match.group("y")), match.group("end")
        by = fiscal if _IS_FISCAL.search(match.group()) else CALENDAR_YEAR
        span = two_years(year, end, fiscal) if end else by.whole(year)
        if span is not None:
            yield Time(span, match.start(), match.end())
        if by is fiscal and not end:
            yield from _listed_after(text, match.end(), fiscal)


_NEXT_YEAR = re.compile(rf"(?:,?\s(?:and|or|to)|,)\s(?P<y>{YEAR})(?![0-9/–-]|,[0-9]|\.[0-9])")


def _listed_after(text: str, end: int, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield the others of fiscal years 2024, 2023 and 2022, whose first one ends at `end`."""
    while (match := _NEXT_YEAR.match(text, end)) is not None:
        end = match.end()
        span = fiscal.whole(int(match.group("y")))
        if span is not None:
            yield Time(span, match.start("y"), end)


def two_years(first: int, second: str, fiscal: FiscalYear) -> Span | None:
    """Return the fiscal year 2023/24: whatever it is named by, it begins in the first; None for calendar years."""
    if fiscal.start == 1 or (first + 1) % (100 if len(second) == 2 else 10_000) != int(second):
        return None
    return FiscalYear(fiscal.start, "start").whole(first)


def _span(g: dict[str, str | None], year: int, by: FiscalYear) -> Span | None:
    n, unit = _ORDINALS.get((g["n"] or "").lower()), (g["unit"] or "").lower()
    if n is None:
        return None
    if unit in ("months", "quarters"):
        word = (g["count"] or "0").lower()
        last = (_COUNTS.get(word) or int(word)) * (3 if unit == "quarters" else 1)
        if not last and unit == "quarters":
            return by.quarter(year, n)
        return by.months(year, 1, last) if n == 1 and last else None
    if g["count"]:
        return None
    if unit == "half":
        n = 2 if (g["n"] or "").lower() in ("last", "final") else n
        return by.half(year, n) if n <= 2 else None
    return by.quarter(year, n)


def _year(g: dict[str, str | None], base_date: date | None, by: FiscalYear) -> int | None:
    if g["y"] or g["y2"]:
        return full_year(g["y"] or g["y2"] or "")
    word = (g["relative"] or "").lower().removeprefix("the ")
    if base_date is None or word == "same":
        return None
    return by.of(base_date) + {"last": -1, "previous": -1, "prior": -1, "next": 1}.get(word, 0)
