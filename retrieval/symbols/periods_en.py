"""Dates and periods in English: 1 July 2024, third quarter of 2024, first nine months of 2024, fiscal 2024."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.times import TO, YEAR, Time, in_word

_MONTHS = {name: i + 1 for i, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))}  # fmt: skip
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "final": 4,
             "last": 4}  # fmt: skip
_COUNTS = {"two": 2, "three": 3, "six": 6, "nine": 9}

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"[0-3]?[0-9](?:st|nd|rd|th)?"
_EN_DATE = re.compile(
    rf"(?P<d1>{_DAY})(?:\sof)?[\s-](?P<m1>{_MONTH})(?:{TO}(?P<d1b>{_DAY})(?:\sof)?\s(?P<m1b>{_MONTH}))?[,\s-]{{1,2}}(?P<y1>{YEAR})"
    rf"|(?P<m2>{_MONTH})\s(?P<d2>{_DAY})(?:{TO}(?:(?P<m2b>{_MONTH})\s)?(?P<d2b>{_DAY}))?,?\s{{1,2}}(?P<y2>{YEAR})"
    rf"|(?P<m3>{_MONTH})(?:{TO}(?P<m3b>{_MONTH}))?(?:,\s?|\sof\s|[\s-])(?P<y3>{YEAR})",
    re.IGNORECASE,
)
_EN_YEAR = rf"(?P<y>{YEAR})|(?P<relative>last|this|next|the\sprevious|the\sprior|the\scurrent|the\ssame)\syear"
_EN_PART = re.compile(
    r"(?P<n>first|second|third|fourth|final|last|1st|2nd|3rd|4th)[\s-]"
    r"(?:(?P<count>two|three|six|nine|[236789])\s)?(?:(?:fiscal|financial|calendar)\s)?(?P<unit>quarters?|half|months)"
    rf",?(?:\s(?:of|in))?(?:\sthe)?(?:\s(?:fiscal|financial|calendar))?(?:\syear)?,?\s(?:{_EN_YEAR})",
    re.IGNORECASE,
)
_EN_FULL = re.compile(
    rf"(?:(?:fiscal|financial|calendar|full)[\s-]?(?:year)?|(?:the|full)\syear)\s(?:of\s)?({YEAR})(?![0-9])(?![/-][0-9]{{2}})",
    re.IGNORECASE,
)
_HAS_YEAR = re.compile(YEAR)


def read_english(text: str, base_date: date | None) -> Iterator[Time]:
    """Yield the dates and periods of a folded text; a relative year only with a base date."""
    if _HAS_YEAR.search(text) is None and base_date is None:
        return
    for pattern, reader in ((_EN_DATE, _en_date), (_EN_PART, _en_part), (_EN_FULL, _en_full)):
        for match in pattern.finditer(text):
            if in_word(text, match.start()) or text[match.end() : match.end() + 1].isalnum():
                continue
            span = reader(match, base_date)
            if span is not None:
                yield Time(span, match.start(), match.end())


def _en_date(match: re.Match[str], _: date | None) -> Span | None:
    g = match.groupdict()
    year = int(g["y1"] or g["y2"] or g["y3"])
    if g["m3"]:
        first = _month_number(g["m3"])
        return months(year, first, _month_number(g["m3b"]) if g["m3b"] else first)
    month = _month_number(g["m1"] or g["m2"])
    first_day = day(year, month, _number(g["d1"] or g["d2"]))
    last_number = g["d1b"] or g["d2b"]
    if first_day is None or not last_number:
        return first_day
    last_month = g["m1b"] or g["m2b"]
    last_day = day(year, _month_number(last_month) if last_month else month, _number(last_number))
    return Span(first_day.first, last_day.last) if last_day and first_day.first < last_day.last else None


def _en_part(match: re.Match[str], base_date: date | None) -> Span | None:
    g = match.groupdict()
    year = _en_year(g, base_date)
    if year is None:
        return None
    unit, n = g["unit"].lower(), _ORDINALS[g["n"].lower()]
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


def _en_full(match: re.Match[str], _: date | None) -> Span | None:
    return whole_year(int(match.group(1)))


def _month_number(name: str) -> int:
    return _MONTHS[name[:3].lower()]


def _number(text: str) -> int:
    return int("".join(c for c in text if c.isdigit()))
