"""Telephone numbers that are no mainland mobile numbers, as E.164.

What a number is depends on its digits alone, so that it has one value wherever it stands: with `+` or 00 it is
international; else it is read as a mainland number, then as one of North America, then of the regions around.
The words around it decide only whether it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.e164 import (
    MAINLAND_MOBILE,
    is_extended,
    is_glued_after,
    is_labelled,
    parse,
    phone_candidate,
)
from retrieval.symbols.secrets.international import read_after_bare_country, read_after_zeros, read_international
from retrieval.symbols.secrets.labels import (
    is_dialled,
    is_ordinary,
    is_strictly_phone_labelled,
)
from retrieval.symbols.secrets.runs import Candidate, Run

_AREA = re.compile(r"0(?:10|2[0-57-9]|[3-9][1-9][0-9])")
# Mainland 800 numbers go on with 8 or are 999 and 988; the others are North American (800-555-0199).
_SERVICE = re.compile(r"400|800[^0-9]{0,2}(?:[018]|999|988)")
_NANP = re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}")
_PLUS = re.compile(r"(?:\(\s?)?\+\s?\(?\Z")
_NEIGHBOURS = ("852", "853", "886", "65", "81", "82", "44", "61", "49", "33")
_REGIONS_AROUND = ("TW", "GB", "JP")
_LISTING = re.compile(r"\s?(?:[、/,，;]|或者?|or|and|和|及|与)\s?")
_NEAR = 4
_YEARS = re.compile(r"(?:19|20)[0-9]{2}")
_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")


def read_phones(run: Run) -> Iterator[Candidate]:
    """Yield the telephone numbers of a run."""
    plus = _PLUS.search(run.before)
    if plus is not None:
        candidate = read_international(run, len(plus.group()))
        if candidate is not None:
            yield candidate
            return
    is_found = False
    for first in range(len(run.groups)):
        candidate = None if first == 0 and run.is_continued else _at(run, first)
        if candidate is not None:
            is_found = True
            yield candidate
    if not is_found and not run.is_continued and _is_named(run):
        yield from _labelled(run)


def _at(run: Run, first: int) -> Candidate | None:
    """Read the number that begins with a group, by what the group begins with."""
    group = run.groups[first]
    if group.startswith("00") and len(group) > 2 and group[2] != "0":
        return read_after_zeros(run, first)
    if group[0] == "0":
        return _landline(run, first)
    if group in ("86", "852", "853", "886"):
        return read_after_bare_country(run, first)
    if group[0] in "48" and _SERVICE.match(run.text, run.starts[first]):
        return _service(run, first) or _north_american(run, first)
    return _north_american(run, first)


def goes_on_list(run: Run, before: Candidate) -> bool:
    """Tell whether the run stands in a list with the telephone number before it."""
    between = run.text[before.end : run.start]
    return before.kind in ("phone", "mobile") and len(between) <= _NEAR and _LISTING.fullmatch(between) is not None


def read_further(run: Run, before: Candidate) -> Candidate | None:
    """Read the second of two numbers of one town: 010-58889999、58889998; the run goes on the list of the first."""
    if before.kind != "phone":
        return None
    area = _AREA.match("0" + before.value[3:]) if before.value.startswith("+86") else None
    for digits, last in run.windows(0, 8):
        if last == len(run.groups) and len(digits) in (7, 8) and area and not is_glued_after(run, last):
            number, is_valid = parse(f"+86{area.group()[1:]}{digits}", None)
            if number is not None and is_valid:
                return phone_candidate(run, 0, last, number)
    return None


def _is_named(run: Run) -> bool:
    """Tell whether a word for a telephone stands right before; after a word for calling it must look like a number."""
    looks_so = len(run.groups) > 2 or run.text[run.start] == "0"
    return run.is_labelled(is_strictly_phone_labelled) or (looks_so and is_dialled(run.before))


def _landline(run: Run, first: int) -> Candidate | None:
    """A mainland number with its area code: 010-12345678, (0755) 8888 6666, 021-5888 9999转801."""
    is_one_by_one = first == 0 and run.is_one_by_one
    area = _AREA.match("".join(run.groups[:4]) if is_one_by_one else run.groups[first])
    if area is None:
        return None
    length = len(area.group())
    alone_in_group = is_one_by_one or len(run.groups[first]) == length
    for digits, last in reversed(list(run.windows(first, length + 8))):
        if len(digits) < length + 7 or digits[length] in "019" or is_glued_after(run, last):
            continue
        if last - first > 1 and not alone_in_group:
            continue
        number, is_valid = parse("+86" + digits[1:], None)
        if number is None or not is_valid:
            continue
        labelled = is_labelled(run, first)
        if not labelled and not _stands_as_landline(run, first, last, digits):
            continue
        return phone_candidate(run, first, last, number, confidence=1.0 if labelled else 0.9)
    return None


def _stands_as_landline(run: Run, first: int, last: int, digits: str) -> bool:
    if is_ordinary(run.text, run.starts[first], run.end(last)) or run.has_ordinary_name:
        return False
    if last - first == 1:
        return not run.is_joined(first, last) and not (len(digits) == 12 and _is_upc(digits))
    gap = run.gaps[first + 1]
    if first == 0 and run.is_tied_before:
        return False
    if first and run.gaps[first].strip(" ("):
        return False
    if gap.strip():  # a dash, a dot, a bracket; an extension may follow after a dash
        return run.gap_after(last).strip() != "." and ("." not in gap or not run.is_joined(first, last))
    years = all(_YEARS.fullmatch(group) for group in run.groups[first + 1 : last])
    return run.is_alone(first, last) and not years


def _service(run: Run, first: int) -> Candidate | None:
    """400 and 800 numbers of the mainland."""
    for digits, last in run.windows(first, 10):
        if len(digits) < 10 or is_glued_after(run, last):
            continue
        gaps = run.inner_gaps(first, last)
        dashed = bool(gaps) and all(gap.strip() for gap in gaps) and not any("." in gap for gap in gaps)
        if run.is_joined(first, last) or not (dashed or is_labelled(run, first) or _stands_alone(run, first, last)):
            continue
        number, is_valid = parse("+86" + digits, None)
        if number is not None and is_valid and not is_ordinary(run.text, run.starts[first], run.end(last)):
            return phone_candidate(run, first, last, number)
    return None


def _stands_alone(run: Run, first: int, last: int) -> bool:
    """Tell whether 400 820 8820 is all there is, rather than a part of a row of figures."""
    blank = set(run.inner_gaps(first, last)) == {" "} and run.lengths(first, last) in _SPACED
    is_year = any(_YEARS.fullmatch(group) for group in run.groups[first:last])
    return blank and not is_year and run.is_alone(first, last) and not run.has_ordinary_name


_SPACED = frozenset({(3, 3, 4), (3, 4, 3)})


def _north_american(run: Run, first: int) -> Candidate | None:
    """(415) 555-2671, 415.555.2671, 1-415-555-2671; set apart by spaces or in one go only with a label."""
    lengths = run.lengths(first, first + 4)
    skip = 1 if run.groups[first] == "1" and lengths[1:] == (3, 3, 4) else 0
    if skip or lengths[:3] == (3, 3, 4):
        last = first + skip + 3
    elif len(run.groups[first]) == 10 and is_labelled(run, first):
        last = first + 1
    else:
        return None
    digits = "".join(run.groups[first + skip : last])
    gaps = run.inner_gaps(first, last)[skip:]
    if is_glued_after(run, last) or any("(" in gap for gap in gaps) or ")" in "".join(gaps[1:]):
        return None
    if run.is_joined(first, last) and not is_extended(run, last):
        return None
    number, is_valid = parse("+1" + digits, None)
    if number is None or is_ordinary(run.text, run.starts[first], run.end(last)):
        return None
    # Numbers that nobody has are written in examples and forms.
    looks_so = bool(gaps) and all(gap.strip() for gap in gaps)
    in_brackets = looks_so and gaps[0].startswith(")") and digits[0] > "1"
    assigned = looks_so and ((is_valid and _NANP.fullmatch(digits) is not None) or digits.startswith("555"))
    if not (assigned or in_brackets or is_labelled(run, first)):
        return None
    return phone_candidate(run, first, last, number)


def _labelled(run: Run) -> Iterator[Candidate]:
    """Right after a word for a telephone: numbers of the regions around, and local ones as they are written."""
    for digits, last in reversed(list(run.windows(0, 13))):
        if len(digits) < 7 or is_glued_after(run, last) or _DATE.fullmatch(digits) or MAINLAND_MOBILE.fullmatch(digits):
            continue
        number, is_valid = None, False
        if digits.startswith(_NEIGHBOURS) and len(digits) > 9:
            number, is_valid = parse("+" + digits, None)
        for region in _REGIONS_AROUND if digits[0] == "0" and len(digits) > 8 else ():
            if not is_valid:
                number, is_valid = parse(digits, region)
        if number is not None and is_valid:
            yield phone_candidate(run, 0, last, number)
            return
        if len(digits) <= 12 and not is_ordinary(run.text, run.start, run.end(last)):
            yield phone_candidate(run, 0, last, digits, confidence=0.7)
            return


def _is_upc(digits: str) -> bool:
    """Tell whether twelve digits have the check digit of a North American barcode."""
    odd, even = sum(map(int, digits[::2])), sum(map(int, digits[1:-1:2]))
    return (3 * odd + even + int(digits[-1])) % 10 == 0
