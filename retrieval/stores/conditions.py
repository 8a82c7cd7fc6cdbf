"""The one reading of a `Scope`: the conditions that every query AND-s together.

Each store only translates these; none decides for itself what a scope means. Whatever goes
through here has a tenant: a scope that was built past its checks is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from retrieval.errors import UnscopedQueryError
from retrieval.stores.payload import (
    ACCESS,
    AUTHORITY,
    DOCUMENT,
    EFFECTIVE_FROM,
    EFFECTIVE_TO,
    ENCODED_FROM,
    LABELS,
    LANGUAGE,
    PERIODS,
    PLACE,
    SPANS,
    STATE,
    SYMBOLS,
    TENANT,
    date_number,
    place_key,
)
from retrieval.stores.stated_periods import is_cell
from retrieval.symbols.values.calendar import Span, normal_of, parse_span
from retrieval.types import Scope, TenantName

_TENANT = TypeAdapter(TenantName)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field (or one entry of it, where it is a list) is one of `values`; never empty."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MissingOr:
    """The number is missing, or within the bound that is given."""

    field: str
    at_most: int | None = None
    above: int | None = None


@dataclass(frozen=True, slots=True)
class SpanWithin:
    """One of the field's spans lies between the day numbers `first` and `last`, both included."""

    field: str
    first: int
    last: int


Condition = AnyOf | MissingOr | SpanWithin


def checked(scope: Scope) -> Scope:
    """Return the scope if it is whole: every query of every store goes through here.

    Pydantic checks values that are built, but not those made by `model_construct` or `model_copy`.

    Raises:
        UnscopedQueryError: no tenant, nobody who asks, or a filter that is none or was not read (`retrieval.filters`).
    """
    try:
        if type(scope) is not Scope:
            raise TypeError(f"a scope was expected, not {type(scope).__name__}")
        whole = Scope.model_validate(scope.model_dump(warnings="error"), strict=True)
        if whole.filter.period is not None:
            _period(whole.filter.period)
        return whole
    except (ValidationError, PydanticSerializationError, TypeError, ValueError, AttributeError) as exc:
        raise UnscopedQueryError("the store was asked without a whole scope (tenant, access, filter)") from exc


def checked_tenant(tenant: str) -> str:
    """Return the tenant's name if it is one.

    Raises:
        UnscopedQueryError: it is empty or no name.
    """
    try:
        return _TENANT.validate_python(tenant, strict=True)
    except ValidationError as exc:
        raise UnscopedQueryError("the store was asked without a tenant") from exc


def visible_conditions(scope: Scope) -> tuple[Condition, ...]:
    """What the asker may see at all: published, of the tenant, admitted by the access list.

    Raises:
        UnscopedQueryError: see `checked`.
    """
    scope = checked(scope)
    return (
        AnyOf(TENANT, (scope.tenant,)),
        AnyOf(STATE, ("published",)),
        AnyOf(ACCESS, tuple(sorted(scope.access))),
    )


def scope_conditions(scope: Scope) -> tuple[Condition, ...] | None:
    """Return all conditions of a scope, to be AND-ed; None when nothing can match (an empty set of documents).

    Raises:
        UnscopedQueryError: see `checked`.
    """
    conditions: list[Condition] = [*visible_conditions(scope)]
    wanted = scope.filter
    if wanted.document_ids is not None and not wanted.document_ids:
        return None
    conditions += [AnyOf(LABELS, (label,)) for label in sorted(wanted.labels)]
    if wanted.document_ids is not None:
        conditions.append(AnyOf(DOCUMENT, tuple(sorted(wanted.document_ids))))
    if wanted.language is not None:
        conditions.append(AnyOf(LANGUAGE, (wanted.language,)))
    if wanted.authority is not None:
        conditions.append(AnyOf(AUTHORITY, (wanted.authority,)))
    if wanted.as_of is not None:
        day = date_number(wanted.as_of)
        conditions += [MissingOr(EFFECTIVE_FROM, at_most=day), MissingOr(EFFECTIVE_TO, above=day)]
    if wanted.period is not None:
        conditions.append(_period_condition(wanted.period))
    conditions += [AnyOf(SYMBOLS, (token,)) for token in sorted(wanted.symbols)]
    return tuple(conditions)


def _period_condition(period: str) -> Condition:
    """Ask for a cell of the calendar by its name, which one index answers; for other stretches by their days."""
    span = _period(period)
    normal = normal_of(span)
    if is_cell(normal):
        return AnyOf(PERIODS, (normal,))
    return SpanWithin(SPANS, date_number(span.first), date_number(span.last))


def _period(normal: str) -> Span:
    span = parse_span(normal)
    if span.last < span.first:
        raise ValueError("it ends before it begins")
    return span


def within_document(scope: Scope, document_id: str) -> Scope:
    """Narrow a scope to one document; to nothing when the scope leaves that document out."""
    wanted = checked(scope).filter.document_ids
    only = frozenset({document_id} if wanted is None else {document_id} & wanted)
    return scope.model_copy(update={"filter": scope.filter.model_copy(update={"document_ids": only})})


def place_conditions(scope: Scope, places: Collection[tuple[str, int]]) -> tuple[Condition, ...] | None:
    """Return all conditions of a scope, and that a chunk stands at one of these places; None when nothing can match."""
    within = scope_conditions(scope)
    if within is None or not places:
        return None
    return (*within, AnyOf(PLACE, tuple(sorted(place_key(*place) for place in places))))


def encoding_conditions(tenant: str, key: str) -> tuple[Condition, ...]:
    """Every chunk of a tenant whose vectors were made of one text, staged or published."""
    return (AnyOf(TENANT, (checked_tenant(tenant),)), AnyOf(ENCODED_FROM, (key,)))


def document_conditions(tenant: str, document_id: str) -> tuple[Condition, ...]:
    """Every chunk of one document, staged or published."""
    return (AnyOf(TENANT, (checked_tenant(tenant),)), AnyOf(DOCUMENT, (document_id,)))
