"""Bank cards: Luhn and the ranges of the issuers.

One number in ten passes Luhn and many begin like a card, so the grouping and the words around it count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import luhn

from retrieval.symbols.secrets.labels import (
    is_card_labelled,
    is_ordinary,
    is_ordinary_labelled,
    is_payment_card_labelled,
)
from retrieval.symbols.secrets.runs import Candidate, Run
from retrieval.symbols.secrets.writing import is_mended, is_one_by_one

# Issuer ranges, ISO/IEC 7812, and the lengths they issue. 9558 is an old ICBC range; Chinese Visa and Mastercard debit
# cards have up to 19 digits.
_ISSUERS: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = tuple(
    (re.compile(prefix), frozenset(lengths))
    for prefix, lengths in (
        (r"3[47]", (15,)),
        (r"30[0-5]|3[689]", (14, 16, 19)),
        (r"35(?:2[89]|[3-8])", (16, 17, 18, 19)),
        (r"4", (13, 16, 18, 19)),
        (r"5[1-5]", (16, 18, 19)),
        (r"2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)", (16,)),
        (r"62|81", (16, 17, 18, 19)),
        (r"6|5[0678]", (16, 17, 18, 19)),
        (r"9558", (19,)),
    )
)
_GROUPINGS = frozenset({
    (4, 4, 4, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 2), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (6, 13), (6, 10), (8, 8),
    (6, 4, 4, 5),
})  # fmt: skip
_SHORTEST = 12  # digits; Maestro
_DOUBTFUL = frozenset({13, 14})  # barcodes and times of a clock have these lengths


def read_bank_cards(run: Run) -> Iterator[Candidate]:
    """Yield the card numbers of a run."""
    if sum(map(len, run.groups)) < _SHORTEST:
        return
    for first in range(len(run.groups)):
        if first == 0 and run.is_continued and not (run.is_labelled(is_card_labelled) or run.fills_link_part):
            continue
        named = run.is_labelled(is_payment_card_labelled, first)
        if not named and run.groups[first][0] not in "234568" and not run.groups[first].startswith("9558"):
            continue
        windows = [
            (digits, last)
            for digits, last in run.windows(first, 19)
            if is_card(digits)
            or (named and last == len(run.groups) and len(digits) >= _SHORTEST and luhn.is_valid(digits))
        ]
        for digits, last in reversed(windows):
            candidate = _judge(run, first, last, digits)
            if candidate is not None:
                yield candidate
                break


def is_card(digits: str) -> bool:
    """Tell whether the digits have the length, the issuer range and the check digit of a card."""
    if not 13 <= len(digits) <= 19:
        return False
    for prefix, lengths in _ISSUERS:
        if prefix.match(digits):
            return len(digits) in lengths and luhn.is_valid(digits)
    return False


def _judge(run: Run, first: int, last: int, digits: str) -> Candidate | None:
    start, end = run.starts[first], run.end(last)
    labelled = run.is_labelled(is_card_labelled, first)
    sure = True
    if not labelled:
        if len(digits) in _DOUBTFUL or run.is_joined(first, last):
            return None
        if is_ordinary(run.text, start, end) or run.has_ordinary_name:
            return None
        lengths, gaps = run.lengths(first, last), run.inner_gaps(first, last)
        if lengths in _GROUPINGS and "\n" not in "".join(gaps):
            sure = lengths != (8, 8) and not any(" " in gap for gap in gaps)
            if lengths == (8, 8) and not run.is_alone(first, last):
                return None
        elif last - first > 1 and not (
            run.is_alone(first, last) and (is_one_by_one(lengths, gaps) or is_mended(lengths, gaps, _GROUPINGS))
        ):
            return None
    elif is_ordinary_labelled(run.before) or run.goes_on(first, last):
        return None
    return Candidate("bank_card", digits, first, last, start, end, sure, 1.0 if labelled else 0.9)
