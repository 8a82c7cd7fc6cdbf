"""What can become of a figure of a sentence, and what it is read against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.audit.counting import is_spelled_out
from agent.audit.sources import Source
from retrieval.types import Symbol

Outcome = Literal[
    "equal",
    "rounded",
    "contains",
    "question",
    "computed",
    "page",
    "different",
    "scale",
    "sign",
    "unit_unknown",
    "subject",
    "period_mismatch",
    "period_above",
    "period_not_asked",
    "missing",
]
FOUND: frozenset[Outcome] = frozenset({"equal", "rounded", "contains", "computed", "page", "question"})
CONTRADICTS: frozenset[Outcome] = frozenset({"different", "scale", "sign", "subject", "period_mismatch"})
_COUNTS_LIKE_WORDS = 10


@dataclass(frozen=True, slots=True)
class FigureFinding:
    """What became of one figure of a sentence."""

    symbol: Symbol
    outcome: Outcome
    source: Source | None = None
    match: Symbol | None = None
    """The source's figure (or period, for a period outcome) it was compared with."""
    other: Symbol | None = None
    """For `subject`: where the stated value does stand. For a period outcome: the period spoken of or asked for."""
    formula: str = ""
    """For `computed`: how the figure follows from the source's."""


@dataclass(frozen=True, slots=True)
class FigureContext:
    """What a sentence's figures are read against, besides the sources."""

    question: str
    asked: Sequence[Symbol]
    """The question's symbols."""
    period_of: Callable[[Symbol], Symbol | None] = lambda _: None
    """The period that sentences, headings or a table's header above give to a figure whose sentence names none."""
    nearby: Sequence[Symbol] = ()
    """Source figures that neighbouring sentences cite: operands of a computed figure."""


def is_minor(finding: FigureFinding) -> bool:
    """Tell whether a missing figure is a small count that a writer makes (`以下 3 项`), not a fact of the source."""
    symbol = finding.symbol
    if finding.outcome != "missing" or symbol.kind not in ("number", "quantity"):
        return False
    number = symbol.normal.partition(" ")[0]  # of `3 firm`
    return is_spelled_out(symbol) or (number.isdigit() and int(number) <= _COUNTS_LIKE_WORDS)
