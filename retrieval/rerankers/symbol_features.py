"""What a candidate says of the symbols that were asked: pure functions.

An exact code, amount or period is what such a question is about, and texts beside each other differ in nothing
else; a dense model sees almost the same vector. A symbol counts by how few of the candidates carry it: one that
all of them carry (this year) tells nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log

from retrieval.types import Symbol

_TIME_KINDS = frozenset({"date", "period", "duration"})
_STATED = frozenset({"", "about"})


@dataclass(frozen=True, slots=True)
class SymbolFeatures:
    """How one candidate's symbols compare with the asked ones; every field is 0 to 1, and 0 when none was asked."""

    carried: float
    """Share of all asked symbols, by rarity."""
    codes: float
    """Share of the asked codes and secrets, by rarity."""
    figures: float
    """Share of the asked amounts, percentages and quantities, by rarity; dates and periods are compared elsewhere."""
    code_conflict: float
    """Share of the asked kinds of codes of which the candidate names others, and none of the asked."""


def symbol_features(asked: Sequence[Symbol], candidates: Sequence[Sequence[Symbol]]) -> list[SymbolFeatures]:
    """Compare the symbols of each candidate with those of the question, in the candidates' order."""
    carried = [frozenset(symbol.token for symbol in symbols) for symbols in candidates]
    rarity = token_rarity(frozenset(symbol.token for symbol in asked), carried)
    codes = {s.token for s in asked if s.cls != "value"}
    figures = {s.token for s in asked if _is_figure(s)}
    return [
        SymbolFeatures(
            carried=_share(rarity, rarity.keys(), tokens),
            codes=_share(rarity, codes, tokens),
            figures=_share(rarity, figures, tokens),
            code_conflict=_conflict(asked, symbols),
        )
        for symbols, tokens in zip(candidates, carried, strict=True)
    ]


def _is_figure(symbol: Symbol) -> bool:
    """Tell whether a figure is one to look for in the text.

    A bound ("which years exceeded $400 million") seldom stands there, and neither does a stretch of time
    ("the average of the last 3 years").
    """
    return symbol.cls == "value" and symbol.kind not in _TIME_KINDS and symbol.qualifier in _STATED


def token_rarity(tokens: Collection[str], carried: Sequence[Collection[str]]) -> dict[str, float]:
    """Weigh tokens by how few of the texts carry them (BM25's IDF over these texts)."""
    n = len(carried)
    held = {token: sum(token in each for each in carried) for token in sorted(tokens)}
    return {token: log(1 + (n - count + 0.5) / (count + 0.5)) for token, count in held.items()}


def _share(rarity: Mapping[str, float], wanted: Collection[str], held: Collection[str]) -> float:
    total = sum(rarity[token] for token in wanted)
    return sum(rarity[token] for token in wanted if token in held) / total if total else 0.0


def _conflict(asked: Sequence[Symbol], stated: Sequence[Symbol]) -> float:
    wanted: dict[str, set[str]] = {}
    for symbol in asked:
        if symbol.cls == "code":
            wanted.setdefault(symbol.kind, set()).add(symbol.normal)
    if not wanted:
        return 0.0
    named: dict[str, set[str]] = {}
    for symbol in stated:
        if symbol.kind in wanted:
            named.setdefault(symbol.kind, set()).add(symbol.normal)
    return sum(kind in named and not (named[kind] & codes) for kind, codes in wanted.items()) / len(wanted)
