"""Which cells of a source's tables a sentence speaks of: those whose heads its words name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.audit.grid import Cell
from agent.audit.sources import Source

_NAMED = 0.75
"""Share of a head's terms that a sentence must have to name it."""
_CLEAR = 0.15
"""By so much another row's name fits better before a figure is said to stand for something else."""


@dataclass(frozen=True, slots=True)
class HeadFit:
    """How well a cell's heads and a sentence name the same thing."""

    cell: Cell
    common: frozenset[str]
    """The head's terms that the sentence has."""
    named: float
    """Their share of the head's."""
    score: float
    """Harmonic mean of that and the share of the sentence's terms (of those any head has) that this head has."""


def fit_heads(subject: frozenset[str], source: Source) -> list[HeadFit]:
    """Return the fit of every table cell of `source` to what a sentence is about, in order; empty without tables."""
    known = subject & source.head_terms
    return [_fit(known, cell) for cell in source.cells]


def any_named(fits: Iterable[HeadFit]) -> bool:
    """Tell whether the sentence names any head."""
    return any(fit.named >= _NAMED for fit in fits)


def named_cells(fits: Iterable[HeadFit]) -> list[Cell]:
    """Return the cells whose whole head the sentence names, without heads that are part of another named one.

    Of several heads that share the same words with it the one that fits best, which its group may decide.
    """
    named = [fit for fit in fits if fit.cell.terms and fit.named >= _NAMED]
    best: dict[frozenset[str], float] = {}
    for fit in named:
        best[fit.common] = max(best.get(fit.common, 0.0), fit.score)
    kept = [fit for fit in named if fit.score >= best[fit.common] and not any(fit.common < other for other in best)]
    return [fit.cell for fit in sorted(kept, key=lambda fit: -fit.score)]


def best_cells(fits: list[HeadFit]) -> list[Cell]:
    """Return the cells whose heads fit best; empty where no head has a term of the sentence."""
    best = max((fit.score for fit in fits), default=0.0)
    return [fit.cell for fit in fits if best and fit.score >= best - 1e-9]


def clearest(fits: list[HeadFit], cells: Iterable[Cell]) -> list[Cell]:
    """Return those of `cells` that the sentence names; all of them where it names none."""
    mine = [fit for fit in fits if any(fit.cell is cell for cell in cells)]
    best = max(mine, key=lambda fit: fit.score, default=None)
    least = best.score - _CLEAR if best is not None and best.named >= _NAMED else 0.0
    return [fit.cell for fit in mine if fit.score > least or not least]


def speaks_of_another(fits: list[HeadFit], cells: Iterable[Cell]) -> Cell | None:
    """Return a cell that the sentence names clearly better than any of `cells`; None where there is none."""
    mine = [fit for fit in fits if any(fit.cell is cell for cell in cells)]
    best = max(fits, key=lambda fit: fit.score, default=None)
    if best is None or not mine or best.named < _NAMED:
        return None
    return best.cell if best.score - max(fit.score for fit in mine) >= _CLEAR else None


def _fit(known: frozenset[str], cell: Cell) -> HeadFit:
    terms = cell.terms
    common = known & terms
    if not common:
        return HeadFit(cell, common, 0.0, 0.0)
    named, covered = len(common) / len(terms), len(known & (terms | cell.group_terms)) / len(known)
    return HeadFit(cell, common, named, 2 * named * covered / (named + covered))
