"""Mainland identity cards of 18 characters, and the old ones of 15 digits.

GB 11643: region (6), birth date (8), order (3), check character (ISO 7064 MOD 11-2). All of it together leaves one
number in tens of thousands, so that no grouping makes it doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from stdnum import numdb
from stdnum.cn import ric

from retrieval.symbols.secrets.labels import is_identity_labelled, is_ordinary
from retrieval.symbols.secrets.runs import Candidate, Run

_PROVINCE = re.compile(r"1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]")
_X = re.compile(
    r"\u200b{0,8}(?:[-. \n\u2010-\u2014]{1,3})?\u200b{0,8}([Xx\u2169\u2179\u00d7\u0425\u0445])(?![0-9A-Za-z])"
)


def read_id_cards(run: Run) -> Iterator[Candidate]:
    """Yield the identity numbers of a run."""
    for first in range(len(run.groups)):
        if first == 0 and run.is_continued and not (run.before[-1].isalpha() or run.fills_link_part):
            continue
        if _PROVINCE.match("".join(run.groups[first : first + 2])) is None:
            continue
        for digits, last in reversed(list(run.windows(first, 18))):
            if len(digits) in (15, 17, 18):
                candidate = _read(run, first, last, digits)
                if candidate is not None:
                    yield candidate
                    break


def _read(run: Run, first: int, last: int, digits: str) -> Candidate | None:
    start, end = run.starts[first], run.end(last)
    if len(digits) == 15:
        return _read_old(run, first, last, digits)
    if not (digits[6:8] in ("18", "19", "20") and is_date(digits[6:14])):
        return None
    if len(digits) == 17:
        mark = _X.match(run.text, end) if last == len(run.groups) else None
        if mark is None:
            return None
        digits, end = digits + "X", mark.end()
    elif _glued_after(run, last):
        return None
    if ric.calc_check_digit(digits) != digits[-1]:
        return None
    return Candidate("id_card", digits, first, last, start, end)


def _read_old(run: Run, first: int, last: int, digits: str) -> Candidate | None:
    """Numbers issued before 1999 have no check character: the date must hold, and a label or a county that exists."""
    labelled = run.is_labelled(is_identity_labelled, first)
    if last - first > 1 and last < len(run.groups):
        return None
    if not is_date("19" + digits[6:12]) or _glued_after(run, last) or run.is_joined(first, last):
        return None
    if not labelled:
        start, end = run.starts[first], run.end(last)
        if last - first > 1 or not _is_county(digits[:6]) or is_ordinary(run.text, start, end):
            return None
    number = f"{digits[:6]}19{digits[6:]}"
    value = number + ric.calc_check_digit(number + "0")
    return Candidate(
        "id_card", value, first, last, run.starts[first], run.end(last), confidence=1.0 if labelled else 0.8
    )


def _glued_after(run: Run, last: int) -> bool:
    return (
        last == len(run.groups)
        and run.text[run.end(last) : run.end(last) + 1].isascii()
        and (run.text[run.end(last) : run.end(last) + 1].isalnum())
    )


@lru_cache(maxsize=4096)
def _is_county(code: str) -> bool:
    return any("county" in properties for _, properties in numdb.get("cn/loc").info(code))


def is_date(digits: str) -> bool:
    """Tell whether eight digits are a day of the calendar."""
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True
