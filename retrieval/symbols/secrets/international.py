"""Telephone numbers with the code of their country: after `+`, after 00, in brackets or before a dash."""

from __future__ import annotations

import re

from retrieval.symbols.secrets.e164 import is_extended, is_glued_after, is_labelled, parse, phone_candidate
from retrieval.symbols.secrets.labels import is_ordinary, is_phone_labelled
from retrieval.symbols.secrets.runs import Candidate, Run

_MARKED = re.compile(r"[()\-\u2010-\u2014]")


def read_international(run: Run, reach: int) -> Candidate | None:
    """Read the number after a `+`; `reach` is how far before the run the number begins."""
    possible: Candidate | None = None
    for digits, last in reversed(list(run.windows(0, 16))):
        if len(digits) < 7 or is_glued_after(run, last):
            continue
        number, is_valid = parse("+" + digits, None)
        if number is None:
            continue
        found = phone_candidate(run, 0, last, number, start=run.start - reach)
        if is_valid:
            return found
        # Numbers that nobody has (in examples, or of a plan newer than ours) count where they are written as such.
        if possible is None and last == len(run.groups) and (last > 2 or is_phone_labelled(run.before[:-reach])):
            possible = found
    return possible


def read_after_zeros(run: Run, first: int) -> Candidate | None:
    """00 as it is dialled; without a label only where it is written in groups."""
    for digits, last in reversed(list(run.windows(first, 18))):
        if last - first < 2 and not is_labelled(run, first):
            continue
        if len(digits) < 10 or is_glued_after(run, last) or (run.is_joined(first, last) and not is_extended(run, last)):
            continue
        if is_ordinary(run.text, run.starts[first], run.end(last)):
            continue
        number, is_valid = parse("+" + digits[2:], None)
        if number is not None and is_valid:
            return phone_candidate(run, first, last, number)
    return None


def read_after_bare_country(run: Run, first: int) -> Candidate | None:
    """A country code without `+` counts in brackets or before a dash, with the area code after it."""
    is_marked = any(_MARKED.search(gap) for gap in run.inner_gaps(first, first + 3))
    if not is_marked and not is_labelled(run, first):
        return None
    for digits, last in reversed(list(run.windows(first, 14))):
        if last - first < 2 or is_glued_after(run, last) or run.is_joined(first, last):
            continue
        number, is_valid = parse("+" + digits, None)
        if number is not None and is_valid and not is_ordinary(run.text, run.starts[first], run.end(last)):
            return phone_candidate(run, first, last, number)
    return None
