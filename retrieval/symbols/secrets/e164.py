"""Telephone numbers in the form E.164, as the library of numbering plans sees them."""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.symbols.secrets.labels import is_near_phone_word, is_phone_labelled
from retrieval.symbols.secrets.runs import Candidate, Run

MAINLAND_MOBILE = re.compile("1[3-9][0-9]{9}")


@lru_cache(maxsize=4096)
def parse(number: str, region: str | None) -> tuple[str | None, bool]:
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


def phone_candidate(
    run: Run, first: int, last: int, number: str, *, start: int | None = None, confidence: float = 1.0
) -> Candidate:
    """Return what a window is as a telephone number: a mainland mobile number is of its own kind."""
    begin = run.starts[first] if start is None else start
    opened = run.text[begin - 1 : begin] == "(" and ")" in "".join(run.inner_gaps(first, last))
    if opened and (start is None or "(" not in run.text[begin : run.end(last)]):
        begin -= 1
    kind, value = ("mobile", number[3:]) if _is_mainland_mobile(number) else ("phone", number)
    return Candidate(kind, value, first, last, begin, run.end(last), confidence=confidence)


def _is_mainland_mobile(number: str) -> bool:
    return number.startswith("+86") and MAINLAND_MOBILE.fullmatch(number, 3) is not None


def is_labelled(run: Run, first: int) -> bool:
    """Tell whether a word for a telephone stands before the window, near or right before, or over its column."""
    return run.is_labelled(is_phone_labelled, first) or (first == 0 and is_near_phone_word(run.before))


def is_glued_after(run: Run, last: int) -> bool:
    """Tell whether letters right after the window make an identifier of it; an extension may follow."""
    if last < len(run.groups):
        return False
    after = run.text[run.end(last) : run.end(last) + 1]
    return after.isascii() and after.isalnum() and after != "x"


def is_extended(run: Run, last: int) -> bool:
    """Tell whether an extension follows, as in 415-555-2671x123."""
    return last == len(run.groups) and run.text[run.end(last) : run.end(last) + 1] in ("x", "X")
