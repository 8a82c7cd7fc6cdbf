"""Telephone numbers that are no mainland mobile numbers, as E.164.

What a number is depends on its digits alone, so that it has one value wherever it stands: with `+` or 00 it is
international; else it is read as a mainland number, then as one of North America, then of the regions around.
The words around it decide only whether it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from retrieval.symbols.secrets.labels import (
    is_near_phone_word,
    is_ordinary,
    is_ordinary_heading,
    is_phone_labelled,
    is_strictly_phone_labelled,
)
from retrieval.symbols.secrets.runs import Candidate, Run

_AREA = re.compile(r"0(?:10|2[0-57-9]|[3-9][1-9][0-9])")
_AREA_AFTER_COUNTRY = re.compile(r"10|2[0-57-9]|[3-9][1-9][0-9]")
_SERVICE = re.compile("[48]00")
_NANP = re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}")
_PLUS = re.compile(r"(?:\(\s?)?\+\s?\(?\Z")
_NEIGHBOURS = ("852", "853", "886", "65", "81", "82", "44", "61", "49", "33")
_MARKED = re.compile(r"[()\-\u2010-\u2014]")
_YEARS = re.compile(r"(?:19|20)[0-9]{2}")
_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_MOBILE = re.compile("1[3-9][0-9]{9}")


def read_phones(run: Run) -> Iterator[Candidate]:
    """Yield the telephone numbers of a run."""
    plus = _PLUS.search(run.before)
    if plus is not None:
        candidate = _international(run, len(plus.group()))
        if candidate is not None:
            yield candidate
            return
    for first, group in enumerate(run.groups):
        if first == 0 and run.is_continued:
            continue
        digit = group[0]
        if group.startswith("00") and len(group) > 2 and group[2] != "0":
            candidate = _after_zeros(run, first)
        elif digit == "0":
            candidate = _landline(run, first)
        elif group in ("86", "852", "853", "886"):
            candidate = _after_bare_country(run, first)
        elif digit in "48" and _SERVICE.match(group):
            candidate = _service(run, first) or _north_american(run, first)
        elif digit in "123456789":
            candidate = _north_american(run, first)
        else:
            candidate = None
        if candidate is not None:
            yield candidate
    if not run.is_continued and is_strictly_phone_labelled(run.before):
        yield from _labelled(run)


def _international(run: Run, reach: int) -> Candidate | None:
    possible: Candidate | None = None
    for digits, last in reversed(list(run.windows(0, 16))):
        if len(digits) < 7 or _is_glued_after(run, last):
            continue
        number, is_valid = _parse("+" + digits, None)
        if number is None:
            continue
        found = _found(run, 0, last, number, start=run.start - reach)
        if is_valid:
            return found
        # Numbers that nobody has (in examples, or of a plan newer than ours) count where they are written as such.
        if possible is None and last == len(run.groups) and (last > 2 or is_phone_labelled(run.before[:-reach])):
            possible = found
    return possible


def _after_zeros(run: Run, first: int) -> Candidate | None:
    """00 as it is dialled; without a label only where it is written in groups."""
    for digits, last in reversed(list(run.windows(first, 18))):
        if last - first < 2 and not _is_labelled(run, first):
            continue
        if len(digits) < 10 or _is_glued_after(run, last) or run.is_joined(first, last):
            continue
        number, is_valid = _parse("+" + digits[2:], None)
        if number is not None and is_valid:
            return _found(run, first, last, number)
    return None


def _after_bare_country(run: Run, first: int) -> Candidate | None:
    """A country code without `+` counts in brackets or before a dash, with the area code after it."""
    is_marked = any(_MARKED.search(gap) for gap in run.inner_gaps(first, first + 3))
    if not is_marked and not _is_labelled(run, first):
        return None
    for digits, last in reversed(list(run.windows(first, 14))):
        if last - first < 2 or _is_glued_after(run, last) or run.is_joined(first, last):
            continue
        number, is_valid = _parse("+" + digits, None)
        if number is not None and is_valid and not is_ordinary(run.text, run.starts[first], run.end(last)):
            return _found(run, first, last, number)
    return None


def _landline(run: Run, first: int) -> Candidate | None:
    """A mainland number with its area code: 010-12345678, (0755) 8888 6666, 021-5888 9999转801."""
    is_one_by_one = max(map(len, run.groups)) == 1
    area = _AREA.match("".join(run.groups[:4]) if is_one_by_one else run.groups[first])
    if area is None or (is_one_by_one and first):
        return None
    length = len(area.group())
    alone_in_group = is_one_by_one or len(run.groups[first]) == length
    for digits, last in reversed(list(run.windows(first, length + 8))):
        if len(digits) < length + 7 or digits[length] in "019" or _is_glued_after(run, last):
            continue
        if last - first > 1 and not alone_in_group:
            continue
        number, is_valid = _parse("+86" + digits[1:], None)
        if number is None or not is_valid:
            continue
        labelled = _is_labelled(run, first)
        if not labelled and not _stands_as_landline(run, first, last, digits):
            continue
        return _found(run, first, last, number, confidence=1.0 if labelled else 0.9)
    return None


def _stands_as_landline(run: Run, first: int, last: int, digits: str) -> bool:
    if is_ordinary(run.text, run.starts[first], run.end(last)) or is_ordinary_heading(run.heading):
        return False
    if last - first == 1:
        return not run.is_joined(first, last) and not (len(digits) == 12 and _is_upc(digits))
    gap = run.gaps[first + 1]
    if first and run.gaps[first].strip(" ("):
        return False
    if gap.strip():  # a dash, a dot, a bracket; an extension may follow after a dash
        return run.gap_after(last).strip() != "." and ("." not in gap or not run.is_joined(first, last))
    years = all(_YEARS.fullmatch(group) for group in run.groups[first + 1 : last])
    return run.is_alone(first, last) and not years


def _service(run: Run, first: int) -> Candidate | None:
    """400 and 800 numbers of the mainland."""
    for digits, last in run.windows(first, 10):
        if len(digits) < 10 or _is_glued_after(run, last):
            continue
        gaps = run.inner_gaps(first, last)
        dashed = bool(gaps) and all(gap.strip() for gap in gaps) and not any("." in gap for gap in gaps)
        if run.is_joined(first, last) or not (dashed or _is_labelled(run, first)):
            continue
        number, is_valid = _parse("+86" + digits, None)
        if number is not None and is_valid and not is_ordinary(run.text, run.starts[first], run.end(last)):
            return _found(run, first, last, number)
    return None


def _north_american(run: Run, first: int) -> Candidate | None:
    """(415) 555-2671, 415.555.2671, 1-415-555-2671; set apart by spaces or in one go only with a label."""
    lengths = run.lengths(first, first + 4)
    skip = 1 if run.groups[first] == "1" and lengths[1:] == (3, 3, 4) else 0
    if skip or lengths[:3] == (3, 3, 4):
        last = first + skip + 3
    elif len(run.groups[first]) == 10 and _is_labelled(run, first):
        last = first + 1
    else:
        return None
    digits = "".join(run.groups[first + skip : last])
    if not _NANP.fullmatch(digits) or _is_glued_after(run, last, extension="x"):
        return None
    gaps = run.inner_gaps(first, last)
    tied = bool(gaps) and all(gap.strip() for gap in gaps[skip:])
    if not (tied or _is_labelled(run, first)):
        return None
    if run.is_joined(first, last) and not _is_extension(run, last):
        return None
    number, is_valid = _parse("+1" + digits, None)
    if number is None or is_ordinary(run.text, run.starts[first], run.end(last)):
        return None
    if not is_valid and not _is_labelled(run, first):
        return None
    return _found(run, first, last, number)


def _labelled(run: Run) -> Iterator[Candidate]:
    """Right after a word for a telephone: numbers of the regions around, and local ones as they are written."""
    for digits, last in reversed(list(run.windows(0, 13))):
        if len(digits) < 7 or _is_glued_after(run, last) or _DATE.fullmatch(digits) or _MOBILE.fullmatch(digits):
            continue
        number, is_valid = None, False
        if digits.startswith(_NEIGHBOURS) and len(digits) > 9:
            number, is_valid = _parse("+" + digits, None)
        if not is_valid and digits[0] == "0" and len(digits) > 8:
            number, is_valid = _parse(digits, "GB")
        if number is not None and is_valid:
            yield _found(run, 0, last, number)
            return
        if len(digits) <= 12 and not is_ordinary(run.text, run.start, run.end(last)):
            yield _found(run, 0, last, digits, confidence=0.7)
            return


def _found(
    run: Run, first: int, last: int, number: str, *, start: int | None = None, confidence: float = 1.0
) -> Candidate:
    begin = run.starts[first] if start is None else start
    opened = run.text[begin - 1 : begin] == "(" and ")" in "".join(run.inner_gaps(first, last))
    if opened and (start is None or "(" not in run.text[begin : run.end(last)]):
        begin -= 1
    kind, value = ("mobile", number[3:]) if _is_mainland_mobile(number) else ("phone", number)
    return Candidate(kind, value, first, last, begin, run.end(last), confidence=confidence)


def _is_mainland_mobile(number: str) -> bool:
    return number.startswith("+86") and _MOBILE.fullmatch(number, 3) is not None


def _is_labelled(run: Run, first: int) -> bool:
    return first == 0 and (
        is_phone_labelled(run.before) or is_near_phone_word(run.before) or is_phone_labelled(run.heading)
    )


def _is_extension(run: Run, last: int) -> bool:
    return last == len(run.groups) and run.text[run.end(last) : run.end(last) + 1] in ("x", "X")


def _is_glued_after(run: Run, last: int, extension: str = "") -> bool:
    if last < len(run.groups):
        return False
    after = run.text[run.end(last) : run.end(last) + 1]
    return after.isascii() and after.isalnum() and after not in (*extension, "x")


def _is_upc(digits: str) -> bool:
    """Tell whether twelve digits have the check digit of a North American barcode."""
    odd, even = sum(map(int, digits[::2])), sum(map(int, digits[1:-1:2]))
    return (3 * odd + even + int(digits[-1])) % 10 == 0


@lru_cache(maxsize=4096)
def _parse(number: str, region: str | None) -> tuple[str | None, bool]:
    """Return the number as E.164 if it is a possible one, and whether it is a valid one."""
    import phonenumbers  # 50 ms, of which a text without telephone numbers needs nothing

    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return None, False
    if phonenumbers.is_possible_number_with_reason(parsed) != phonenumbers.ValidationResult.IS_POSSIBLE:
        return None, False
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return written, phonenumbers.is_valid_number(parsed)
