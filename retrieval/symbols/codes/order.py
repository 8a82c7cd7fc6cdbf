"""The order of codes: C1 before C2, AA below AAA, and never a customer's level beside a fund's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from retrieval.symbols.codes.domain import Vocabulary
from retrieval.types import Symbol

Order = Literal["below", "equal", "above", "incomparable"]


class CodeOrder:
    """Compares codes of one vocabulary by their ranks; across vocabularies there is no order."""

    def __init__(self, vocabularies: Iterable[Vocabulary]) -> None:
        self._ranks = {v.namespace: {c.code: c.rank for c in v.codes} for v in vocabularies}

    def rank(self, symbol: Symbol) -> int | None:
        """Return the place of a code in its vocabulary, higher is more; None for what is no ordered code."""
        return self._ranks.get(symbol.kind, {}).get(symbol.normal) if symbol.cls == "code" else None

    def compare(self, left: Symbol, right: Symbol) -> Order:
        """Tell how `left` stands to `right`; `incomparable` across vocabularies and for what has no order."""
        a, b = self.rank(left), self.rank(right)
        if a is None or b is None or left.kind != right.kind:
            return "incomparable"
        return "equal" if a == b else "below" if a < b else "above"

    def at_least(self, symbol: Symbol) -> tuple[str, ...]:
        """Return this code and those above it, in order (`R4`, `R5`); empty for what has no order."""
        return self._where(symbol, lambda rank, own: rank >= own)

    def at_most(self, symbol: Symbol) -> tuple[str, ...]:
        """Return the codes below this one and itself, in order; empty for what has no order."""
        return self._where(symbol, lambda rank, own: rank <= own)

    def _where(self, symbol: Symbol, holds: Callable[[int, int], bool]) -> tuple[str, ...]:
        own = self.rank(symbol)
        if own is None:
            return ()
        ranks = self._ranks[symbol.kind]
        return tuple(sorted((code for code, rank in ranks.items() if holds(rank, own)), key=ranks.__getitem__))
