"""Dates and periods in English: 1 July 2024, third quarter of 2024, first nine months of 2024, fiscal 2024."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.values.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.values.times import TO, YEAR, Time, in_word

_MONTHS = {name: i + 1 for i, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))}  # fmt: skip
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "final": 4,
             "last": 4}  # fmt: skip
_COUNTS = {"two": 2, "three": 3, "six": 6, "nine": 9}

# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_MONTH = (
    r"(?:[JFMASONDjfmasond](?i:an(?:uary)?|eb(?:ruary)?|ar(?:ch)?|pr(?:il)?|ay|une?|uly?|ug(?:ust)?|ept?(?:ember)?"
    r"|ct(?:ober)?|ov(?:ember)?|ec(?:ember)?)(?![A-Za-z])\.?)"
)
_DAY = r"[0-3]?[0-9](?i:st|nd|rd|th)?"
_TAILS = {
    "Jj": "an(?:uary)?|une?|uly?", "Ff": "eb(?:ruary)?", "Mm": "ar(?:ch)?|ay", "Aa": "pr(?:il)?|ug(?:ust)?",
    "Ss": "ept?(?:ember)?", "Oo": "ct(?:ober)?", "Nn": "ov(?:ember)?", "Dd": "ec(?:ember)?",
}  # fmt: skip
# With a branch for each letter, so that only one is tried where a word begins like a month.
_ANY_MONTH = re.compile(
    f"(?:{'|'.join(f'{letter}(?i:{tails})' for letters, tails in _TAILS.items() for letter in letters)})(?![A-Za-z])"
)
_DAY_BEFORE = re.compile(rf"(?<![0-9A-Za-z]){_DAY}(?:\s(?i:of))?[\s-]\Z")
_DAY_FIRST = re.compile(
    rf"(?P<d>{_DAY})(?:\s(?i:of))?[\s-](?P<m>{_MONTH})"
    rf"(?:(?i:{TO})(?P<db>{_DAY})(?:\s(?i:of))?\s(?P<mb>{_MONTH}))?[,\s-]{{1,2}}(?P<y>{YEAR})(?![0-9])"
)
_MONTH_FIRST = re.compile(
    rf"(?P<m>{_MONTH})\s(?P<d>{_DAY})(?:(?i:{TO})(?:(?P<mb>{_MONTH})\s)?(?P<db>{_DAY}))?,?\s{{1,2}}(?P<y>{YEAR})(?![0-9])"
)
_MONTH_ONLY = re.compile(
    rf"(?P<m>{_MONTH})(?:(?i:{TO})(?P<mb>{_MONTH}))?(?:,\s?|\s(?i:of)\s|[\s-])(?P<y>{YEAR})(?![0-9])"
)
_EN_YEAR = rf"(?P<y>{YEAR})|(?P<relative>last|this|next|the\sprevious|the\sprior|the\scurrent|the\ssame)\syear"
_EN_PART = re.compile(
    r"(?P<n>[FfSsTtLl1-4](?i:irst|econd|hird|ourth|inal|ast|st|nd|rd|th))(?i:[\s-]"
    r"(?:(?P<count>two|three|six|nine|[236789])\s)?(?:(?:fiscal|financial|calendar)\s)?(?P<unit>quarters?|half|months)"
    rf",?(?:\s(?:of|in))?(?:\sthe)?(?:\s(?:fiscal|financial|calendar))?(?:\syear)?,?\s(?:{_EN_YEAR}))(?![0-9A-Za-z])"
)
_EN_FULL = re.compile(
    r"[FfCcTt](?i:(?:iscal|inancial|alendar|ull)[\s-]?(?:year)?|(?:he|ull)\syear)\s(?i:of\s)?"
    rf"({YEAR})(?![0-9])(?![/-][0-9]{{2}})"
)
_HAS_YEAR = re.compile(YEAR)
# Without one of these a pattern need not be tried; no letter that has another form where case is ignored.
_PARTS = ("quarter", "half", "month")
_FULL = ("cal", "nanc", "alend", "ull", "year")


def read_english(text: str, base_date: date | None) -> Iterator[Time]:
    """Yield the dates and periods of a folded text; a relative year only with a base date."""
    lowered = text.lower()
    has_year = _HAS_YEAR.search(text) is not None
    if has_year:
        yield from _dates(text)
    if (has_year or (base_date is not None and "year" in lowered)) and any(word in lowered for word in _PARTS):
        for match in _EN_PART.finditer(text):
            span = _en_part(match, base_date)
            if span is not None and not in_word(text, match.start()):
                yield Time(span, match.start(), match.end())
    if not has_year or not any(word in lowered for word in _FULL):
        return
    for match in _EN_FULL.finditer(text):
        span = whole_year(int(match.group(1)))
        if span is not None and not in_word(text, match.start()):
            yield Time(span, match.start(), match.end())


def _dates(text: str) -> Iterator[Time]:
    for name in _ANY_MONTH.finditer(text):
        start = name.start()
        before = _DAY_BEFORE.search(text[max(0, start - 10) : start])
        match = _DAY_FIRST.match(text, start - len(before.group())) if before else None
        if match is None and not in_word(text, start):
            match = _MONTH_FIRST.match(text, start) or _MONTH_ONLY.match(text, start)
        span = _en_date(match.groupdict()) if match else None
        if match is not None and span is not None:
            yield Time(span, match.start(), match.end())


def _en_date(group: dict[str, str | None]) -> Span | None:
    year, first_month = int(group["y"] or 0), _month_number(group["m"] or "")
    last_month = _month_number(group["mb"] or "") if group["mb"] else first_month
    if not group.get("d"):
        return months(year, first_month, last_month) if first_month and last_month else None
    last = day(year, last_month, _number(group["db"] or group["d"] or ""))
    if not group["db"] or last is None:
        return last
    # 1 December to 31 January 2025 begins in the year before.
    first = day(year - (last_month < first_month), first_month, _number(group["d"] or ""))
    return Span(first.first, last.last) if first and first.first < last.last else None


def _en_part(match: re.Match[str], base_date: date | None) -> Span | None:
    g = match.groupdict()
    year, n, unit = _en_year(g, base_date), _ORDINALS.get(g["n"].lower()), g["unit"].lower()
    if year is None or n is None:
        return None
    if unit in ("months", "quarters"):
        word = (g["count"] or "0").lower()
        count = _COUNTS.get(word) or int(word)
        last = count * (3 if unit == "quarters" else 1)
        return months(year, 1, last) if n == 1 and count else None
    if g["count"]:
        return None
    if unit == "half":
        n = 2 if g["n"].lower() in ("last", "final") else n
        return half(year, n) if n <= 2 else None
    return quarter(year, n)


def _en_year(g: dict[str, str | None], base_date: date | None) -> int | None:
    if g["y"]:
        return int(g["y"])
    word = (g["relative"] or "").lower().removeprefix("the ")
    if base_date is None or word == "same":
        return None
    return base_date.year + {"last": -1, "previous": -1, "prior": -1, "next": 1}.get(word, 0)


def _month_number(name: str) -> int:
    """Return the month's number; 0 where the letters that begin months were mixed (`Jeb`)."""
    return _MONTHS.get(name[:3].lower(), 0)


def _number(text: str) -> int:
    return int("".join(c for c in text if c in "0123456789"))
