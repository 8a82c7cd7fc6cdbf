"""Mainland mobile numbers, in every writing the eleven digits without the country code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.labels import is_near_phone_word, is_ordinary, is_phone_labelled
from retrieval.symbols.secrets.runs import Candidate, Run
from retrieval.symbols.secrets.writing import is_mended, is_one_by_one

_MOBILE = re.compile("1[3-9]")
_COUNTRY = re.compile(r"(?:00)?86")
_PLUS = re.compile(r"[+(]\s?\(?\Z|\(\s?\+\s?\Z")
_GROUPINGS = frozenset({(3, 4, 4), (3, 8), (7, 4), (4, 3, 4), (3, 3, 5)})
_LISTED = frozenset({(3, 4, 4), (4, 3, 4)})
"""Groupings that a row of a table may not be taken for: in it every group must belong to a number."""
_NORTH_AMERICAN = (1, 3, 3, 4)
_CALENDAR = re.compile(r"(?:1[3-9]|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])?)?")
_YEAR = re.compile("(?:19|20)[0-9]{2}")
_GLUED_AFTER = re.compile(
    r"[0-9A-Fa-f]*[0-9]|[A-Fa-f]*(?![A-Za-z])|[A-Za-z]{1,2}(?![A-Za-z])|(?i:million|billion|shares|units)"
)


def read_mobiles(run: Run) -> Iterator[Candidate]:
    """Yield the mobile numbers of a run."""
    for first, group in enumerate(run.groups):
        country = _COUNTRY.match(group)
        if country is not None:
            candidate = _with_country(run, first, country.group())
            if candidate is not None:
                yield candidate
        if group[0] == "1" and not (
            first == 0 and ((run.is_continued and not run.fills_link_part) or run.before.endswith("+"))
        ):
            for digits, last in run.windows(first, 11):
                if len(digits) == 11 and _MOBILE.match(digits):
                    candidate = _judge(run, first, last, digits)
                    if candidate is not None:
                        yield candidate


def _with_country(run: Run, first: int, country: str) -> Candidate | None:
    """A country code makes any grouping sure; it stands in a group of its own or glued to the number."""
    start = run.starts[first]
    if first == 0:
        plus = _PLUS.search(run.before)
        if plus is None and run.is_continued:
            return None
        start -= len(plus.group()) if plus else 0
        if plus and "+" not in plus.group() and run.text[run.starts[0] + len(country)] != ")":
            start = run.starts[0]
    for digits, last in run.windows(first, len(country) + 11):
        body = digits[len(country) :]
        if len(body) == 11 and _MOBILE.match(body):
            if _is_glued_after(run, last):
                return None
            return Candidate("mobile", body, first, last, start, run.end(last))
    return None


def _judge(run: Run, first: int, last: int, digits: str) -> Candidate | None:
    start, end = run.starts[first], run.end(last)
    if _is_glued_after(run, last):
        return None
    labelled = run.is_labelled(is_phone_labelled, first)
    lengths, gaps = run.lengths(first, last), run.inner_gaps(first, last)
    if lengths == _NORTH_AMERICAN:
        return None
    if labelled:
        if first == 0 and run.text[start - 1 : start] == "(" and gaps[:1] and gaps[0].startswith(")"):
            start -= 1
        return Candidate("mobile", digits, first, last, start, end)
    if is_ordinary(run.text, start, end) or run.has_ordinary_name or _is_document(run, first):
        return None
    near = first == 0 and is_near_phone_word(run.before)
    blank = any(gap.strip() != gap or "\n" in gap for gap in gaps)
    sure = True
    if last - first == 1:
        if run.is_joined(first, last) and not _follows_number(run, first):
            return None
        sure = not run.is_beside_long_number(first, last)
    elif lengths in _LISTED and gaps[0].startswith(")"):
        pass
    elif lengths in _GROUPINGS and not blank:
        if run.is_joined(first, last) or (gaps == (".",)):
            return None
    elif lengths in _LISTED and not any("\n" in gap for gap in gaps):
        if run.is_joined(first, last):
            return None
        if all(_CALENDAR.fullmatch(group) for group in run.groups[first + 1 : last]):
            return None
        sure = near
    elif not run.is_alone(first, last):
        return None
    elif not is_one_by_one(lengths, gaps):
        if not is_mended(lengths, gaps, _LISTED):
            return None
        if (
            len(lengths) == 2
            and not near
            and (min(lengths) < 3 or any(_CALENDAR.fullmatch(group) for group in run.groups))
        ):
            return None
    if first == 0 and run.text[start - 1 : start] == "(" and gaps[:1] and gaps[0].startswith(")"):
        start -= 1
    return Candidate("mobile", digits, first, last, start, end, sure, 0.9)


def _is_glued_after(run: Run, last: int) -> bool:
    """Tell whether letters or digits right after make an identifier of it."""
    if last < len(run.groups):
        return False
    end = run.end(last)
    after = run.text[end : end + 1]
    return after.isascii() and after.isalnum() and _GLUED_AFTER.match(run.text, end) is not None


def _is_document(run: Run, first: int) -> bool:
    """Tell whether a year in brackets right before makes the number of a document: (2024)13812345678."""
    return first > 0 and run.gaps[first] == ")" and _YEAR.fullmatch(run.groups[first - 1]) is not None


def _follows_number(run: Run, first: int) -> bool:
    """Tell whether a dash sets two mobile numbers apart (13812345678-13987654321)."""
    return first > 0 and len(run.groups[first - 1]) == 11 and _MOBILE.match(run.groups[first - 1]) is not None
