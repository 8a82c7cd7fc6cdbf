"""Figures that a writer marks as approximate: `about 240 million`, `超过 2.3 亿`."""

from __future__ import annotations

import re
from decimal import Decimal

from retrieval.symbols.compare import Magnitude, parse_normal, written_place
from retrieval.types import Symbol

_ABOUT = re.compile(
    r"约|大致|左右|上下|接近|将近|近(?=\s*[\d一二三四五六七八九十])|\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa)\b|~",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?<!不)超过|(?<!不)超(?=\s*\d)|逾|(?<=\d)余|多(?=[万亿元])"
    r"|(?<!not )(?<!no )\b(?:over|more\s+than|above|exceed\w*|in\s+excess\s+of)\b",
    re.IGNORECASE,
)
_UNDER = re.compile(r"不足|不到|未达|少于|低于|\b(?:under|below|less\s+than|fewer\s+than|short\s+of)\b", re.IGNORECASE)
_KINDS = frozenset({"amount", "quantity", "number", "percent", "percent_points"})


def is_approximately(clause: str, stated: Symbol, source: Symbol) -> bool:
    """Tell whether `clause` marks the stated figure as approximate and the source's lies where it says.

    `about`: trailing zeros count as rounded away (240 million, to ten million). `over`: the stated
    figure is the source's, cut off after the digits written.
    """
    if stated.kind not in _KINDS or source.kind not in _KINDS:
        return False
    left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
    if not isinstance(left, Magnitude) or not isinstance(right, Magnitude) or left.unit != right.unit or not left.value:
        return False
    gap = right.value - left.value
    if _ABOUT.search(clause):
        return abs(gap) * 2 <= min(Decimal(1).scaleb(left.place), abs(left.value) / 10)
    if _OVER.search(clause):
        return 0 < gap < Decimal(1).scaleb(max(written_place(stated), left.place)) and gap * 4 < abs(left.value)
    return False


def is_on_the_wrong_side(clause: str, stated: Symbol, source: Symbol) -> bool:
    """Tell whether `clause` puts a figure over (or under) one that it only rounds to: 2.38 is not over 2.4."""
    left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
    if not isinstance(left, Magnitude) or not isinstance(right, Magnitude):
        return False
    over, under = _OVER.search(clause), _UNDER.search(clause)
    return bool(over and right.value < left.value) or bool(under and right.value > left.value)
