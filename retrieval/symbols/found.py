"""What a recogniser finds, and the one rule for findings that overlap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retrieval.types import SymbolClass

_CLASS_ORDER: dict[SymbolClass, int] = {"secret": 0, "code": 1, "value": 2}
_KIND_ORDER = {"period": 0, "date": 1, "amount": 2, "percent": 3, "percent_points": 4, "quantity": 5, "number": 6}


@dataclass(frozen=True, slots=True)
class Found:
    """A finding in a folded text; `start`/`end` are half-open."""

    cls: SymbolClass
    kind: str
    normal: str
    token: str
    start: int
    end: int
    confidence: float = 1.0


def _precedence(found: Found) -> tuple[int, int, int, int, int]:
    secret = 0 if found.cls == "secret" else 1
    return (
        secret,
        found.start - found.end,
        _CLASS_ORDER[found.cls],
        _KIND_ORDER.get(found.kind, 0),
        found.start,
    )


def settle(findings: Iterable[Found]) -> tuple[list[Found], bool]:
    """Keep the findings that win where they overlap, ordered by start.

    Secrets win over all else, then the longer over the shorter, then codes over values, then
    the more specific kind of value.

    Returns:
        The winners, and whether a loser reached beyond the winner it lost to (text that another
        reading, with the winners masked, may still explain).
    """
    ranked = sorted(findings, key=_precedence)
    if not ranked:
        return [], False
    taken = bytearray(max(f.end for f in ranked))
    kept: list[Found] = []
    ragged = False
    for found in ranked:
        covered = taken.count(1, found.start, found.end)
        if covered:
            ragged = ragged or covered < found.end - found.start
            continue
        taken[found.start : found.end] = b"\x01" * (found.end - found.start)
        kept.append(found)
    kept.sort(key=lambda f: f.start)
    return kept, ragged
