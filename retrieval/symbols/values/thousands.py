"""Thousands set apart by blanks: 12 500 kg, EUR 1 250 000. Only a unit or a currency makes groups one figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from retrieval.symbols.values.numerals import Numeral

_NO_HEAD = re.compile(r"[0-9A-Za-z._/:#]\Z|[0-9]\s\Z")
_GROUP = 3
_LONGEST = 10
"""Groups of one figure."""


def follows_group(text: str, numerals: Sequence[Numeral], index: int) -> bool:
    """Tell quickly whether a blank alone stands between a numeral and the one before it."""
    if not index:
        return False
    end = numerals[index - 1].end
    return numerals[index].start - end == 1 and text[end] == " "


def with_thousands(text: str, numerals: Sequence[Numeral], index: int) -> Numeral | None:
    """Return a numeral together with the groups before it; None where they are figures of their own."""
    last = numerals[index]
    at = index
    while at and index - at < _LONGEST and _is_group(text, numerals[at]) and follows_group(text, numerals, at):
        at -= 1
    head = numerals[at]
    if at == index or not _is_head(text, head) or (index - at == 1 and _is_item(text, head)):
        return None
    thousands = Decimal(text[head.start : last.start].replace(" ", "")).scaleb(_GROUP)
    return last._replace(
        start=head.start,
        digits=last.digits + thousands,
        value=last.value + thousands.scaleb(last.scale),
        written="grouped",
    )


def _is_group(text: str, numeral: Numeral) -> bool:
    digits = text[numeral.start : numeral.digits_end].partition(".")[0]
    return numeral.written in ("integer", "decimal") and not numeral.wrapped and len(digits) == _GROUP


def _is_head(text: str, numeral: Numeral) -> bool:
    if numeral.written != "integer" or numeral.scale or numeral.wrapped or numeral.end - numeral.start > _GROUP:
        return False
    return text[numeral.start] != "0" and _NO_HEAD.search(text, max(0, numeral.start - 2), numeral.start) is None


def _is_item(text: str, numeral: Numeral) -> bool:
    """Tell whether one digit at the head of a line numbers it (`1 500 kg of flour`)."""
    return numeral.end - numeral.start == 1 and text[numeral.start - 1 : numeral.start] in ("", "\n")
