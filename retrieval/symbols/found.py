"""What a recogniser finds, and the one rule for findings that overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from retrieval.types import Qualifier, SymbolClass

_CLASS_ORDER: dict[SymbolClass, int] = {"secret": 0, "code": 1, "value": 2}
VALUE_KINDS = (
    "url", "ip_address", "period", "date", "time", "duration", "amount", "percent", "percent_points", "ratio",
    "quantity", "number",
)  # fmt: skip
"""All kinds of values, the more specific first."""
_KIND_ORDER = {kind: place for place, kind in enumerate(VALUE_KINDS)}


class Found(NamedTuple):
    """A finding in a folded text; `start`/`end` are half-open. A tuple: a table makes one for each figure."""

    cls: SymbolClass
    kind: str
    normal: str
    token: str
    start: int
    end: int
    confidence: float = 1.0
    qualifier: Qualifier = ""


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
    kept: list[Found] = []
    ragged = False
    for group in _overlapping(sorted(findings, key=_start)):
        if len(group) == 1:
            kept += group
        else:
            winners, reached = _settle_group(group)
            kept += winners
            ragged = ragged or reached
    return kept, ragged


_start = attrgetter("start")


def _overlapping(findings: Sequence[Found]) -> Iterator[list[Found]]:
    """Yield the findings, ordered by start, in groups between which nothing overlaps."""
    group: list[Found] = []
    end = 0
    for found in findings:
        if group and found.start >= end:
            yield group
            group = []
        group.append(found)
        end = max(end, found.end)
    if group:
        yield group


def _settle_group(group: Sequence[Found]) -> tuple[list[Found], bool]:
    if len(group) == 2:
        winner, loser = sorted(group, key=_precedence)
        return [winner], loser.start < winner.start or loser.end > winner.end
    first = group[0].start
    taken = bytearray(max(f.end for f in group) - first)
    kept: list[Found] = []
    ragged = False
    for found in sorted(group, key=_precedence):
        start, end = found.start - first, found.end - first
        covered = taken.count(1, start, end)
        if covered:
            ragged = ragged or covered < end - start
            continue
        taken[start:end] = b"\x01" * (end - start)
        kept.append(found)
    kept.sort(key=_start)
    return kept, ragged
