"""Figures that a writer marks as approximate: `about 240 million`, `超过 2.3 亿`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

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

Hedge = Literal["about", "over", "under"]


def hedge_of(clause: str) -> Hedge | None:
    """Return how `clause` marks its figures: as near the value, over it or under it."""
    if _ABOUT.search(clause):
        return "about"
    return "over" if _OVER.search(clause) else "under" if _UNDER.search(clause) else None


def covers(hedge: Hedge, stated: Symbol, source: Symbol) -> bool:
    """Tell whether a hedged figure that differs from the source's is still right.

    `about`: trailing zeros count as rounded away (240 million, to ten million). `over`: the stated
    figure is the source's, cut off after the digits written.
    """
    values = _values(stated, source)
    if values is None:
        return False
    left, right = values
    gap = right.value - left.value
    if hedge == "about":
        return abs(gap) * 2 <= min(Decimal(1).scaleb(left.place), abs(left.value) / 10)
    return (
        hedge == "over"
        and 0 < gap < Decimal(1).scaleb(max(written_place(stated), left.place))
        and gap * 4 < abs(left.value)
    )


def belies(hedge: Hedge, stated: Symbol, source: Symbol) -> bool:
    """Tell whether the source's figure lies on the other side of one that it rounds to: 2.38 is not over 2.4."""
    values = _values(stated, source)
    if values is None:
        return False
    left, right = values
    return right.value < left.value if hedge == "over" else right.value > left.value if hedge == "under" else False


def _values(stated: Symbol, source: Symbol) -> tuple[Magnitude, Magnitude] | None:
    if stated.kind not in _KINDS or source.kind not in _KINDS:
        return None
    left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
    if not isinstance(left, Magnitude) or not isinstance(right, Magnitude) or left.unit != right.unit or not left.value:
        return None
    return left, right
