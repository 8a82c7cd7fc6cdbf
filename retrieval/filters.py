"""Filters as people write them become filters as the stores ask them; two filters become one.

Whoever takes a filter from outside (HTTP, a tool's arguments) calls `read_filter` first: what
cannot be read is refused by its field, never passed over, and no secret stays in the clear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from retrieval.errors import BadFilterError
from retrieval.symbols.language import SymbolLanguage
from retrieval.symbols.values.calendar import Span, normal_of, parse_span
from retrieval.types import SearchFilter, Symbol

FilterReader = Callable[[SearchFilter, str], SearchFilter]
"""Reads a filter as written, for a tenant: `read_filter` with its language."""

_DOCUMENT_ID = re.compile(r"[0-9a-f]{32}")
_ARTICLES = frozenset({"", "the", "in"})
_UP_TO = frozenset({"to", "until", "through", "-", "–", "—", "~", "～", "/", "至", "到"})


def read_filter(written: SearchFilter, tenant: str, language: SymbolLanguage) -> SearchFilter:
    """Return a filter with the period in its normal form, symbols as tokens, and pseudonyms for secrets.

    Reading what was read changes nothing.

    Raises:
        BadFilterError: the period or a symbol cannot be read; the message names the field.
    """
    return written.model_copy(
        update={
            # Documents keep their labels with pseudonyms too.
            "labels": frozenset(language.symbolise(label, tenant=tenant).text for label in written.labels),
            "document_ids": None
            if written.document_ids is None
            else frozenset(_document_id(each, tenant, language) for each in written.document_ids),
            "period": None if written.period is None else _period(written.period, tenant, language, written.as_of),
            "symbols": frozenset(t for each in written.symbols for t in _tokens(each, tenant, language, written.as_of)),
        }
    )


def both(one: SearchFilter, other: SearchFilter) -> SearchFilter:
    """Return the filter that admits only what both admit; both are read already.

    Of two periods that share days, what they share is asked for: never more than either admits.
    """
    ids = one.document_ids
    if other.document_ids is not None:
        ids = other.document_ids if ids is None else ids & other.document_ids
    shared: dict[str, object] = {}
    for field in ("language", "authority", "as_of"):
        mine, theirs = getattr(one, field), getattr(other, field)
        if None not in (mine, theirs) and mine != theirs:
            ids = frozenset[str]()
        shared[field] = theirs if mine is None else mine
    period = one.period if other.period is None else other.period
    if one.period is not None and other.period is not None:
        common = _common(parse_span(one.period), parse_span(other.period))
        if common is None:
            ids = frozenset[str]()
        else:
            period = normal_of(common)
    return one.model_copy(
        update={
            **shared,
            "labels": one.labels | other.labels,
            "document_ids": ids,
            "period": period,
            "symbols": one.symbols | other.symbols,
        }
    )


def _common(one: Span, other: Span) -> Span | None:
    if not one.meets(other):
        return None
    return Span(max(one.first, other.first), min(one.last, other.last))


def _document_id(given: str, tenant: str, language: SymbolLanguage) -> str:
    """Return an id as it is; what is none matches nothing, so that a secret in its place need not be kept."""
    return given if _DOCUMENT_ID.fullmatch(given) else language.symbolise(given, tenant=tenant).text


def _period(given: str, tenant: str, language: SymbolLanguage, base_date: date | None) -> str:
    try:
        span = parse_span(given.strip())
    except ValueError:
        span = _read_span(given, tenant, language, base_date)
    if span is None or span.last < span.first:
        shown = language.symbolise(given, tenant=tenant).text
        raise BadFilterError(
            f"filter.period: {shown!r} is no period; write one such as 2024Q3, 2024-07, Q3 2024 or 2024年第三季度"
        )
    return normal_of(span)


def _read_span(given: str, tenant: str, language: SymbolLanguage, base_date: date | None) -> Span | None:
    """Read one period or day, or the stretch from one to another; None where anything else stands beside it."""
    read = language.symbolise(given, tenant=tenant, base_date=base_date)
    found = [symbol for symbol in read.symbols if symbol.kind in ("period", "date")]
    rest = _around(read.text, found)
    spans = [parse_span(symbol.normal) for symbol in found]
    if len(spans) == 1 and rest[0] in _ARTICLES and not rest[1]:
        return spans[0]
    if len(spans) == 2 and rest[0] in ("", "from", "从", "自") and rest[1] in _UP_TO and not rest[2]:
        return Span(spans[0].first, spans[1].last)
    return None


def _around(text: str, symbols: list[Symbol]) -> list[str]:
    """Return what stands before, between and after the symbols."""
    ends = [0, *(symbol.end for symbol in symbols)]
    starts = [*(symbol.start for symbol in symbols), len(text)]
    return [text[end:start].strip().lower() for end, start in zip(ends, starts, strict=True)]


def _tokens(given: str, tenant: str, language: SymbolLanguage, base_date: date | None) -> list[str]:
    """Return the tokens of one entry: a token, one value, or a code with the words that tell what it is."""
    stripped = given.strip()
    if language.of(tenant).is_token(stripped):
        return [stripped]
    read = language.symbolise(stripped, tenant=tenant, base_date=base_date)
    found = list(read.symbols)
    # A code is one only in its context (`customer risk C1`), so words may stand beside it; beside a value
    # they would be passed over, and the search be wider than it was meant.
    if len(found) == 1 and (found[0].cls == "code" or not any(_around(read.text, found))):
        return [found[0].token]
    alone = language.identify(stripped, tenant=tenant) if not found else ()
    if len(alone) == 1:
        return [alone[0].pseudonym]
    raise BadFilterError(
        f"filter.symbols: {read.text!r} is not one symbol; write a token such as [CUSTOMER_RISK_C1], one value such "
        "as 2.38 亿元, or a code with its context such as customer risk C1"
    )
