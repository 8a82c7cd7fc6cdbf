"""Dates and months in English: 1 July 2024, July 1st, 2024, July to September 2024, 31-Dec-23, July 1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.values.calendar import Span, day, months
from retrieval.symbols.values.times import TO, YEAR, Time, full_year, in_word
from retrieval.symbols.words import Words

_MONTHS = {name: i + 1 for i, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))}  # fmt: skip
_CONFIDENCE = 0.9
"""Of a date whose year is not written."""

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
_ANY_MONTH = re.compile(
    "[JFMASONDjfmasond](?<![A-Za-z].)"
    f"(?:{'|'.join(f'(?<=[{letters}])(?i:{tails})' for letters, tails in _TAILS.items())})(?![A-Za-z])"
)
_NAMES = Words(_MONTHS)
_DAY_ENDS = tuple("0123456789thdfTHDF")
_DAY_BEFORE = re.compile(rf"(?<![0-9A-Za-z]){_DAY}(?:\s(?i:of))?[\s-]\Z")
_DAY_MONTH = (
    rf"(?P<d>{_DAY})(?:\s(?i:of))?[\s-](?P<m>{_MONTH})(?:(?i:{TO})(?P<db>{_DAY})(?:\s(?i:of))?\s(?P<mb>{_MONTH}))?"
)
_MONTH_DAY = rf"(?P<m>{_MONTH})\s(?P<d>{_DAY})(?:(?i:{TO})(?:(?P<mb>{_MONTH})\s)?(?P<db>{_DAY}))?"
_WITH_YEAR = (
    re.compile(rf"{_MONTH_DAY},?\s{{1,2}}(?P<y>{YEAR})(?![0-9])"),
    re.compile(rf"(?P<m>{_MONTH})(?:(?i:{TO})(?P<mb>{_MONTH}))?(?:,\s?|\s(?i:of)\s|[\s-])(?P<y>{YEAR})(?![0-9])"),
    re.compile(rf"(?P<m>{_MONTH})\s?['’](?P<y>[0-9]{{2}})(?![0-9A-Za-z])"),
    re.compile(rf"(?P<m>{_MONTH})-(?P<y>[0-9]{{2}})(?![0-9A-Za-z%]|[.,/-][0-9])"),
)
_DAY_FIRST = (
    re.compile(rf"{_DAY_MONTH}[,\s-]{{1,2}}(?P<y>{YEAR})(?![0-9])"),
    re.compile(
        rf"(?P<d>{_DAY})[\s-](?P<m>{_MONTH})(?:-|\s?['’])(?P<y>[0-9]{{2}})(?P<db>)(?P<mb>)(?![0-9A-Za-z%]|[.,/-][0-9])"
    ),
)
_NO_DAY_AFTER = r"(?![0-9A-Za-z%/]|[.,:-][0-9]|,000|\s(?i:percent|per|million|billion|thousand|bps|basis))"
_DAY_FIRST_YEARLESS = re.compile(_DAY_MONTH)
_MONTH_FIRST_YEARLESS = re.compile(rf"{_MONTH_DAY}{_NO_DAY_AFTER}")
_EVERY_YEAR = re.compile(
    r"(?:\s(?:and|or)\s[A-Z][a-z]+\.?\s[0-9]{1,2})?,?\s(?:of|in)\s(?:each|every|any)\s", re.IGNORECASE
)
# A month alone: only where a word before it says so, which for May and March must be a clear one.
_MONTH_CUE = re.compile(
    r"(?<![A-Za-z])(?i:in|of|since|until|till|during|from|by|mid|early|late|this|(?P<weak>to|through|for|and|or|between|before|after))[\s-]\Z"
)
_MONTH_ALONE = re.compile(
    rf"(?P<m>(?:Janu|Febru)ary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber)(?:{TO}(?P<mb>{_MONTH}))?(?!\s[A-Z0-9]|[\w'’-])"
)


def read_english(text: str, year: int) -> Iterator[Time]:
    """Yield the dates and months of a folded text.

    Those without a year (July 1, 1st of July, months after a word such as `in`) are free and as of `year`.
    """
    for name in _NAMES.matches(text, _ANY_MONTH):
        start = name.start()
        day_start = _day_before(text, start)
        inside = in_word(text, start)
        match = _first(_DAY_FIRST, text, day_start) if day_start >= 0 else None
        if match is None and not inside:
            match = _first(_WITH_YEAR, text, start)
        if match is not None:
            written = match.group("y")
            span = _span(match.groupdict(), full_year(written)) if len(written) == 4 or text[start].isupper() else None
            if span is not None:
                yield Time(span, match.start(), match.end())
        elif text[start].isupper():  # not the verbs march and may
            yield from _yearless(text, start, -1 if inside else start, day_start, year)


def _day_before(text: str, start: int) -> int:
    """Return where the day before a month's name begins; -1 without one."""
    if text[start - 2 : start - 1] not in _DAY_ENDS:
        return -1
    before = _DAY_BEFORE.search(text[max(0, start - 10) : start])
    begin = start - len(before.group()) if before else -1
    return -1 if begin < 0 or in_word(text, begin) else begin


def _yearless(text: str, start: int, month_start: int, day_start: int, year: int) -> Iterator[Time]:
    match = _DAY_FIRST_YEARLESS.match(text, day_start) if day_start >= 0 else None
    if match is None and month_start >= 0:
        match = _MONTH_FIRST_YEARLESS.match(text, start) or _month_alone(text, start)
    span = _span(match.groupdict(), year) if match else None
    if match is not None and span is not None and not _EVERY_YEAR.match(text, match.end()):
        end = match.end() - text.endswith(".", match.start(), match.end())  # the end of a sentence
        yield Time(span, match.start(), end, _CONFIDENCE, free=True, written=False)


def _first(patterns: tuple[re.Pattern[str], ...], text: str, at: int) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(text, at))), None)


def _month_alone(text: str, start: int) -> re.Match[str] | None:
    match = _MONTH_ALONE.match(text, start)
    cue = _MONTH_CUE.search(text[max(0, start - 9) : start]) if match else None
    if match is None or cue is None or (cue.group("weak") and match.group("m") in ("May", "March")):
        return None
    return match


def _span(group: dict[str, str | None], year: int) -> Span | None:
    first_month = _month_number(group["m"] or "")
    last_month = _month_number(group.get("mb") or "") if group.get("mb") else first_month
    if not group.get("d"):
        return months(year, first_month, last_month) if first_month and last_month else None
    last = day(year, last_month, _number(group["db"] or group["d"] or ""))
    if not group["db"] or last is None:
        return last
    # 1 December to 31 January 2025 begins in the year before.
    first = day(year - (last_month < first_month), first_month, _number(group["d"] or ""))
    return Span(first.first, last.last) if first and first.first < last.last else None


def _month_number(name: str) -> int:
    """Return the month's number; 0 where the letters that begin months were mixed (`Jeb`)."""
    return _MONTHS.get(name[:3].lower(), 0)


def _number(text: str) -> int:
    return int("".join(c for c in text if c in "0123456789"))
