"""The one reading of a `Scope`: the conditions that every query AND-s together.

Each store only translates these; none decides for itself what a scope means.
"""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.stores.payload import (
    ACCESS,
    AUTHORITY,
    DOCUMENT,
    EFFECTIVE_FROM,
    EFFECTIVE_TO,
    ENCODED_FROM,
    LABELS,
    LANGUAGE,
    STATE,
    TENANT,
    date_number,
)
from retrieval.types import Scope


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


Condition = AnyOf | MissingOr


def visible_conditions(scope: Scope) -> tuple[Condition, ...]:
    """What the asker may see at all: published, of the tenant, admitted by the access list."""
    return (
        AnyOf(TENANT, (scope.tenant,)),
        AnyOf(STATE, ("published",)),
        AnyOf(ACCESS, tuple(sorted(scope.access))),
    )


def scope_conditions(scope: Scope) -> tuple[Condition, ...] | None:
    """Return all conditions of a scope, to be AND-ed; None when nothing can match (an empty set of documents)."""
    wanted = scope.filter
    if wanted.document_ids is not None and not wanted.document_ids:
        return None
    conditions: list[Condition] = [*visible_conditions(scope)]
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
    return tuple(conditions)


def within_document(scope: Scope, document_id: str) -> Scope:
    """Narrow a scope to one document; to nothing when the scope leaves that document out."""
    wanted = scope.filter.document_ids
    only = frozenset({document_id} if wanted is None else {document_id} & wanted)
    return scope.model_copy(update={"filter": scope.filter.model_copy(update={"document_ids": only})})


def encoding_conditions(tenant: str, key: str) -> tuple[Condition, ...]:
    """Every chunk of a tenant whose vectors were made of one text, staged or published."""
    return (AnyOf(TENANT, (tenant,)), AnyOf(ENCODED_FROM, (key,)))


def document_conditions(tenant: str, document_id: str) -> tuple[Condition, ...]:
    """Every chunk of one document, staged or published."""
    return (AnyOf(TENANT, (tenant,)), AnyOf(DOCUMENT, (document_id,)))
