"""Does a passage speak of the period that was asked for? Pure functions on symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.symbols.values.calendar import Span, parse_span
from retrieval.types import PeriodMatch, Symbol

_LONGEST_DAYS = 5 * 366
"""Of a stretch that a passage may be about as a whole; decades are longer."""


def periods(symbols: Iterable[Symbol]) -> tuple[str, ...]:
    """Return the distinct normal forms of the periods and dates among `symbols`, in order of appearance."""
    return tuple(dict.fromkeys(s.normal for s in symbols if s.kind in ("period", "date")))


def match_periods(asked: Sequence[str], stated: Sequence[str]) -> PeriodMatch:
    """Compare the periods of a question with those a passage states (normal forms, e.g. `2024Q3`).

    `match`: the passage states an asked period or a part of it. `mismatch`: it states
    periods, and none shares a day with any asked one (last year's third quarter where this
    year's was asked). `unknown`: it states none, only a wider or overlapping one (the whole
    year), or only single days, which may as well be when it was signed, and stretches of many years, which
    tell its background. `not_asked`: the question names no period.
    """
    if not asked:
        return "not_asked"
    asked_spans, stated_spans = _spans(asked), _spans(stated)
    if any(whole.contains(part) for part in stated_spans for whole in asked_spans):
        return "match"
    if any(one.meets(other) for one in stated_spans for other in asked_spans):
        return "unknown"
    return "mismatch" if asked_spans and any(_is_period(span) for span in stated_spans) else "unknown"


def _is_period(span: Span) -> bool:
    return 1 < span.length_days <= _LONGEST_DAYS


def _spans(normals: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    for normal in normals:
        try:
            spans.append(parse_span(normal))
        except ValueError:  # written by a later version of the symbol language
            continue
    return spans
