"""Amounts of money, and quantities: numbers with a scale word but no currency.

Normal forms: `CNY 238000000` (ISO code, exact decimal) and `238000000`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from retrieval.symbols.found import Found
from retrieval.symbols.values.currencies import currency_after, currency_before
from retrieval.symbols.values.numerals import (
    CHINESE_DIGIT,
    Numeral,
    parse_chinese,
    plain,
    read_letter_scale,
)
from retrieval.symbols.values.signs import in_cell, sign_before

RANGE = re.compile(r"\s{0,2}(?:[-–—~]{1,2}|至|到|to)\s{0,2}")
_DIGIT = f"[0-9{CHINESE_DIGIT}]"
_COINS = re.compile(rf"[零〇]?(?:({_DIGIT})\s?角[零〇]?)?(?:({_DIGIT})\s?分)?[整正]?")
# 一元 begins many words; by itself it is money only before an end, a digit or one of these.
_EVERYDAY_DIGITS = frozenset("一二两三四五六七八九十")
_AFTER_ONE_YUAN = re.compile(r"[整钱每的至到以一左上/]|[^\u4e00-\u9fff]|\Z")


@dataclass(slots=True)
class _Draft:
    numeral: Numeral
    start: int
    end: int
    value: Decimal
    scale: int
    negative: bool
    currency: str | None


def find_amounts(text: str, numerals: Sequence[Numeral]) -> list[Found]:
    """Return the amounts and scaled quantities of a folded text."""
    drafts: list[_Draft] = []
    left: _Draft | None = None
    for numeral in numerals:
        right = _draft(text, numeral) if _may_have_unit(text, left, numeral) else None
        if right is not None:
            drafts.append(right)
            if left is not None:
                _share_units(text, left, right)
        left = right
    return list(_emit(drafts))


def _may_have_unit(text: str, left: _Draft | None, numeral: Numeral) -> bool:
    """Tell apart what most figures of a table are: followed by nothing, preceded by nothing, end of no range."""
    if not numeral.alone or currency_before(text, numeral.start) is not None:
        return True
    return left is not None and RANGE.fullmatch(text, left.end, numeral.start) is not None


def _draft(text: str, numeral: Numeral) -> _Draft:
    start, negative = (numeral.start, True) if numeral.wrapped else sign_before(text, numeral.start)
    draft = _Draft(numeral, start, numeral.end, numeral.value, numeral.scale, negative, None)
    before = currency_before(text, numeral.start)
    if before is not None:
        draft.currency, draft.start, minus = before
        draft.negative = minus or numeral.wrapped
    letter = read_letter_scale(text, numeral)
    if letter is not None and (before is not None or currency_after(text, letter[1])):
        draft.scale, draft.end = letter
        draft.value = numeral.value.scaleb(letter[0])
    after = currency_after(text, draft.end)
    if after is not None and not _is_word(text, numeral, before is not None, after):
        draft.currency = draft.currency or after[0]
        draft.end = after[1]
        _add_coins(text, draft)
    if draft.currency and _in_parentheses(text, draft):
        draft.start, draft.end, draft.negative = draft.start - 1, draft.end + 1, True
    return draft


def _is_word(text: str, numeral: Numeral, prefixed: bool, after: tuple[str, int]) -> bool:
    one_char = text[numeral.start : numeral.end] in _EVERYDAY_DIGITS
    bare = after[1] - numeral.end == 1
    return one_char and bare and not prefixed and _AFTER_ONE_YUAN.match(text, after[1]) is None


def _in_parentheses(text: str, draft: _Draft) -> bool:
    wrapped = text[draft.start - 1 : draft.start] == "(" and text[draft.end : draft.end + 1] == ")"
    return wrapped and in_cell(text, draft.start - 1, draft.end + 1)


def _add_coins(text: str, draft: _Draft) -> None:
    if text[draft.end - 1] not in "元圆钱":
        return
    match = _COINS.match(text, draft.end)
    if match is None or match.end() == draft.end:
        return
    for group, place in ((match.group(1), -1), (match.group(2), -2)):
        if group:
            digit = Decimal(group) if group.isdecimal() and group.isascii() else (parse_chinese(group) or (0, 0))[0]
            draft.value += Decimal(digit).scaleb(place)
    if match.group(1) or match.group(2) or match.group()[-1] in "整正":
        draft.end = match.end()


def _share_units(text: str, left: _Draft, right: _Draft) -> None:
    """`2-3亿元`, `RMB 2 to 3 million`: what is written once holds for both ends of a range."""
    between = RANGE.fullmatch(text, left.end, right.numeral.start)
    if between is None or left.numeral.wrapped or right.numeral.wrapped:
        return
    if not left.scale and right.scale and left.numeral.written != "grouped":
        left.scale, left.value = right.scale, left.value.scaleb(right.scale)
    if right.currency and not left.currency:
        left.currency = right.currency
    elif left.currency and not right.currency and left.scale == right.scale:
        right.currency = left.currency


def _emit(drafts: Sequence[_Draft]) -> Iterator[Found]:
    for draft in drafts:
        if draft.numeral.wrapped and not draft.currency and draft.numeral.written == "integer":
            continue  # (1)万 is more often the number of a list item
        number = plain(-draft.value if draft.negative else draft.value)
        if draft.currency:
            normal, kind, token = f"{draft.currency} {number}", "amount", f"[{draft.currency}_{number}]"
        elif draft.scale:
            normal, kind, token = number, "quantity", f"[QTY_{number}]"
        else:
            continue
        yield Found("value", kind, normal, token, draft.start, draft.end)
