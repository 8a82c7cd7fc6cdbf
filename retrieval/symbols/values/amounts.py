"""Amounts of money, and quantities: numbers with a unit, or with a scale word and no currency.

Normal forms: `CNY 238000000` (ISO code, exact decimal), `CNY 0.5/share`, `238000000`, `1500000 kg`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from retrieval.symbols.found import Found
from retrieval.symbols.values.currencies import currency_after, currency_before, may_have_currency
from retrieval.symbols.values.millions import read_m
from retrieval.symbols.values.numerals import (
    CHINESE_DIGIT,
    Numeral,
    parse_chinese,
    read_letter_scale,
)
from retrieval.symbols.values.quantities import Figure, amount_found, may_be_counted, quantity_found
from retrieval.symbols.values.ranges import is_range
from retrieval.symbols.values.signs import in_cell, sign_before
from retrieval.symbols.values.thousands import follows_group, with_thousands
from retrieval.symbols.values.units import Unit, per_unit_after, per_unit_before, unit_after

_DIGIT = f"[0-9{CHINESE_DIGIT}]"
_COINS = re.compile(rf"[零〇]?(?:({_DIGIT})\s?[角毛][零〇]?)?(?:({_DIGIT})\s?分)?[整正]?")
_BARE_COIN = re.compile(rf"({_DIGIT})(?![角毛0-9])()")
_OPENED = frozenset({"$(", "€(", "£(", "¥("})
_OTHER_UNITS = frozenset("%‰倍成比:∶")
_COUNT_HEADS = frozenset("人名位户家股份件台辆笔次只页")
# 一元 begins many words; by itself it is money only before an end, a digit or one of these.
_EVERYDAY_DIGITS = frozenset("一二两三四五六七八九十")
_AFTER_ONE_YUAN = re.compile(rf"(?<=块){_DIGIT}|{_DIGIT}角|" r"[整钱每的至到以一左上/]|[^\u4e00-\u9fff]|\Z")


@dataclass(slots=True)
class _Draft:
    numeral: Numeral
    start: int
    end: int
    value: Decimal
    scale: int
    negative: bool
    currency: str | None
    unit: Unit | None = None
    """Of a quantity; of an amount, what it is the price of."""


def find_amounts(text: str, numerals: Sequence[Numeral]) -> list[Found]:
    """Return the amounts and scaled quantities of a folded text."""
    drafts: list[_Draft] = []
    left: _Draft | None = None
    for index, numeral in enumerate(numerals):
        if follows_group(text, numerals, index):
            right = _grouped_draft(text, numerals, index, drafts)
            if right is not None:
                left = right
                continue
        # Most figures of a table are followed by nothing, preceded by nothing and the end of no range.
        if (
            (numeral.alone or _has_other_unit(text, numeral))
            and not may_have_currency(text, numeral.start)
            and not _ends_range(text, left, numeral)
        ):
            left = None
            continue
        right = _draft(text, numeral)
        drafts.append(right)
        if left is not None:
            _share_units(text, left, right)
        left = right
    return list(_emit(drafts))


def _grouped_draft(text: str, numerals: Sequence[Numeral], index: int, drafts: list[_Draft]) -> _Draft | None:
    """Put 12 500 kg or EUR 12 500 in the place of its groups; None where nothing makes them one figure."""
    numeral = with_thousands(text, numerals, index)
    if numeral is None:
        return None
    draft, kept = _draft(text, numeral), len(drafts)
    while kept and drafts[kept - 1].numeral.start >= numeral.start:
        kept -= 1
    left = drafts[kept - 1] if kept else None
    in_range = _ends_range(text, left, numeral)
    if not (draft.currency or draft.unit or draft.scale or in_range):
        return None
    drafts[kept:] = [draft]
    if left is not None and in_range:
        drafts[kept - 1] = left = _with_its_groups(text, numerals, index, left)
        _share_units(text, left, draft)
    return draft


def _with_its_groups(text: str, numerals: Sequence[Numeral], index: int, left: _Draft) -> _Draft:
    """Read the first end of 10 500 to 12 500 kg, which has no unit of its own, in groups as the other end is."""
    at = index
    while at and numerals[at].start > left.numeral.start:
        at -= 1
    numeral = with_thousands(text, numerals, at) if left.numeral is numerals[at] else None
    return left if numeral is None else _draft(text, numeral)


def _has_other_unit(text: str, numeral: Numeral) -> bool:
    """Tell quickly whether what follows makes a figure a percentage, a ratio or no value (一个, 一次)."""
    if numeral.scale:
        return False
    head = text[numeral.end : numeral.end + 1]
    if head in _OTHER_UNITS:
        return True
    if head == "个":
        return not text.startswith("个工作日", numeral.end)
    return head in _COUNT_HEADS and numeral.written == "chinese" and numeral.value < 10


def _ends_range(text: str, left: _Draft | None, numeral: Numeral) -> bool:
    return left is not None and is_range(text, left.start, left.end, numeral.start)


def _draft(text: str, numeral: Numeral) -> _Draft:
    start, negative = (numeral.start, True) if numeral.wrapped else sign_before(text, numeral.start)
    draft = _Draft(numeral, start, numeral.end, numeral.value, numeral.scale, negative, None)
    before = currency_before(text, numeral.start)
    opened = before is None and not numeral.wrapped and text[max(0, numeral.start - 2) : numeral.start] in _OPENED
    if opened and not numeral.alone:  # £(8.1m)
        before = currency_before(text, numeral.start - 1)
    if before is not None:
        draft.currency, draft.start, minus = before
        draft.negative = minus or numeral.wrapped
    if not numeral.alone:
        _read_after(text, draft, before is not None)
    if opened and before is not None:
        if text[draft.end : draft.end + 1] == ")":
            draft.end, draft.negative = draft.end + 1, True
        else:
            draft.start, draft.currency = numeral.start, None
    if draft.currency:
        if _in_parentheses(text, draft):
            draft.start, draft.end, draft.negative = draft.start - 1, draft.end + 1, True
        _add_price_unit(text, draft)
    return draft


def _read_after(text: str, draft: _Draft, prefixed: bool) -> None:
    """Read the scale, the currency or the unit behind a figure."""
    numeral = draft.numeral
    letter = read_letter_scale(text, numeral)
    if letter is not None and (prefixed or currency_after(text, letter[1])):
        draft.scale, draft.end = letter
        draft.value = numeral.value.scaleb(letter[0])
    after = currency_after(text, draft.end)
    if after is not None and not _is_word(text, numeral, prefixed, after):
        draft.currency = draft.currency or after[0]
        draft.end = after[1]
        _add_coins(text, draft)
    if not draft.currency and not numeral.wrapped:
        unit = unit_after(text, draft.end)
        if unit is not None and unit.name == "m" and text[draft.end : unit.end] in ("m", "M"):
            unit = _millions_or_metres(text, draft, unit)
        if unit is not None and may_be_counted(text, numeral, unit):
            draft.unit, draft.end = unit, unit.end


def _millions_or_metres(text: str, draft: _Draft, metres: Unit) -> Unit | None:
    """`1.2m people` are millions, `a pole 1.2m high` is a length; where nothing tells, it is neither."""
    unit = unit_after(text, metres.end)
    counted = unit if unit is not None and unit.counted else None
    meaning = "million" if counted else read_m(text, draft.start, metres.end)
    if meaning != "million":
        return metres if meaning == "metre" else None
    draft.scale, draft.end, draft.value = _MILLION, metres.end, draft.value.scaleb(_MILLION)
    return counted


_MILLION = 6


def _add_price_unit(text: str, draft: _Draft) -> None:
    before = per_unit_before(text, draft.start)
    if before is not None:
        draft.unit, draft.start = before
        return
    if not draft.numeral.alone:
        draft.unit = per_unit_after(text, draft.end)
        if draft.unit is not None:
            draft.end = draft.unit.end


def _is_word(text: str, numeral: Numeral, prefixed: bool, after: tuple[str, int]) -> bool:
    one_char = text[numeral.start : numeral.end] in _EVERYDAY_DIGITS
    bare = after[1] - numeral.end == 1
    return one_char and bare and not prefixed and _AFTER_ONE_YUAN.match(text, after[1]) is None


def _in_parentheses(text: str, draft: _Draft) -> bool:
    wrapped = text[draft.start - 1 : draft.start] == "(" and text[draft.end : draft.end + 1] == ")"
    if not wrapped:
        return False
    # Net loss for the year: (US$3.4 million).
    return in_cell(text, draft.start - 1, draft.end + 1) or text[: draft.start - 1][-2:].strip() == ":"


def _add_coins(text: str, draft: _Draft) -> None:
    last = text[draft.end - 1]
    if last not in "元圆钱块":
        return
    match = (_BARE_COIN.match(text, draft.end) if last == "块" else None) or _COINS.match(text, draft.end)
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
    if left.numeral.wrapped or right.numeral.wrapped:
        return
    if not is_range(text, left.start, left.end, right.numeral.start if right.negative else right.start):
        return
    if not left.scale and right.scale and left.numeral.written != "grouped":
        left.scale, left.value = right.scale, left.value.scaleb(right.scale)
    if right.currency and not left.currency:
        left.currency = right.currency
    elif left.currency and not right.currency and left.scale == right.scale and right.unit is None:
        right.currency = left.currency
    if right.unit is not None and left.unit is None and left.currency == right.currency:
        left.unit = right.unit


def _emit(drafts: Sequence[_Draft]) -> Iterator[Found]:
    for draft in drafts:
        if draft.numeral.wrapped and not draft.currency and draft.numeral.written == "integer":
            continue  # (1)万 is more often the number of a list item
        figure = Figure(-draft.value if draft.negative else draft.value, draft.unit, draft.start, draft.end)
        if draft.currency:
            yield amount_found(draft.currency, figure)
        elif draft.unit is not None or draft.scale:
            yield quantity_found(figure)
