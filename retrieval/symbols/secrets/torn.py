"""Digit groups that a line end has torn: candidates for a mobile number or a bank card with one break inside.

Only groups that stand alone count: next to further groups they are the row of a table. What a
year, a month or a date explains is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.bank_card import is_card
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import PHONE_LABEL, is_ordinary

_GROUPS = re.compile(r"(?<![0-9])[0-9]++(?:[ \n-][0-9]++){1,5}+(?![0-9A-Za-z]|[\s.,/-][0-9])")
_GOES_ON = re.compile(r"[0-9A-Za-z]-?\Z|[0-9][\s.,/]\Z")
_MOBILE = re.compile(r"((?:00)?86[ -]?)?(?=1[ \n]?[3-9])([0-9]{1,10})[ \n]([0-9]{1,10})\Z")
_CALENDAR = re.compile(r"(?:1[3-9]|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])?)?")
_SEPARATOR = re.compile(r"[ \n-]")
_CARD_GROUPS = ([4, 4, 4, 4], [4, 4, 4, 4, 1], [4, 4, 4, 4, 2], [4, 4, 4, 4, 3])


def find_torn(text: str) -> Iterator[SecretFound]:
    """Find mobile numbers and cards that a line end has torn; the space that joined the lines stands inside."""
    for match in _torn_groups(text):
        start, end = match.span()
        if is_ordinary(text, start, end):
            continue
        before = text[max(0, start - 24) : start]
        mobile = _torn_mobile(match.group(), is_labelled=PHONE_LABEL.search(before) is not None)
        card = _torn_card(match.group())
        if mobile is not None:
            yield SecretFound("mobile", mobile, start - before.endswith("+"), end)
        elif card is not None and is_card(card):
            yield SecretFound("bank_card", card, start, end)


def _torn_groups(text: str) -> Iterator[re.Match[str]]:
    """Yield the runs of two to six digit groups that no further digits or letters go on from, on either side."""
    for match in _GROUPS.finditer(text):
        if _GOES_ON.search(text[max(0, match.start() - 2) : match.start()]) is None:
            yield match


def _torn_mobile(groups: str, *, is_labelled: bool) -> str | None:
    """Return the eleven digits of a mobile number in two groups; None where the groups may as well be two numbers.

    Args:
        groups: digits, one space or line end, digits; a country code may stand before.
        is_labelled: a word before them says that a phone number follows. Then, and after a country code, they may be
            torn anywhere.
    """
    match = _MOBILE.match(groups)
    if match is None:
        return None
    country, first, second = match.groups()
    if len(first) + len(second) != 11:
        return None
    if not (is_labelled or country) and (
        min(len(first), len(second)) < 3 or _CALENDAR.fullmatch(first) or _CALENDAR.fullmatch(second)
    ):
        return None
    return first + second


def _torn_card(groups: str) -> str | None:
    """Return the digits of a card number in two groups, or in groups of four one of which is torn; else None."""
    parts = _SEPARATOR.split(groups)
    digits = "".join(parts)
    if not 16 <= len(digits) <= 19:
        return None
    lengths = [len(part) for part in parts]
    mended = ([*lengths[:i], lengths[i] + lengths[i + 1], *lengths[i + 2 :]] for i in range(len(lengths) - 1))
    if len(lengths) == 2 or any(each in _CARD_GROUPS for each in mended):
        return digits
    return None
