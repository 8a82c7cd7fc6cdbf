"""Closed vocabularies of codes, as rule files declare them (`rule_files`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from retrieval.symbols.found import VALUE_KINDS
from retrieval.symbols.pseudonyms import PREFIXES
from retrieval.symbols.values.currencies import CODES as CURRENCY_CODES

_RESERVED = frozenset({*CURRENCY_CODES, *PREFIXES.values(), "QTY", "PCT", "PP", "NUM", "DATE", "PERIOD", "ENTITY"})
_RESERVED_KINDS = frozenset({*PREFIXES, *VALUE_KINDS, "entity"})

Word = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^\S(?:.*\S)?$")]


class Declared(BaseModel):
    """Base of what a rule file holds: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Context(Declared):
    """What must and what must not stand around a code."""

    near: tuple[Word, ...] = Field(min_length=1)
    """One of these must stand in the sentence (or table) of the code or in the sentence before it."""
    no_context: tuple[Word, ...] = ()
    """Longer words that contain a near word and tell nothing: 客户经理 for 客户."""
    adjacent: tuple[Word, ...] = ()
    """One of these must stand right before or after a `name` or a `strict` code."""
    not_near: tuple[Word, ...] = ()
    """Refuses a code in the same sentence, unless a `near` word stands nearer to it."""
    not_in_clause: tuple[Word, ...] = ()
    """Refuses a code in the same clause, up to the next comma, however near the near words stand: 能效, performance."""
    not_before: tuple[Word, ...] = ()
    """Refuses a code that stands right after one of these, also with 为, 是 or a colon between."""
    not_after: tuple[Word, ...] = ()
    """Refuses a code that stands right before one of these."""


class Code(Declared):
    """One code of a vocabulary and how people write it."""

    code: str = Field(pattern=r"^[A-Z0-9][A-Z0-9+.-]{0,31}$")
    rank: int
    """Its place in the vocabulary's order; a higher rank is more: R4 above R3, AA above A."""
    aliases: tuple[Word, ...] = ()
    """Other writings, good wherever the code itself is."""
    names: tuple[Word, ...] = ()
    """Ordinary words that mean the code only next to an `adjacent` word: 保守型, low risk."""
    strict: bool = False
    """The code itself is an ordinary word (the rating A) and needs an `adjacent` word too."""


class Vocabulary(Declared):
    """An ordered, closed set of codes."""

    namespace: str = Field(pattern=r"^[a-z][a-z0-9_]{1,40}$")
    """The `kind` of its symbols."""
    token_prefix: str = Field(pattern=r"^[A-Z][A-Z0-9_]{1,40}$")
    case_sensitive: bool = False
    context: Context
    codes: tuple[Code, ...] = Field(min_length=1, alias="code")

    @model_validator(mode="after")
    def _is_unambiguous(self) -> Self:
        if self.token_prefix in _RESERVED:
            raise ValueError(f"token_prefix {self.token_prefix!r} is taken by the language itself")
        if self.namespace in _RESERVED_KINDS:
            raise ValueError(f"namespace {self.namespace!r} is a kind of the language itself")
        _refuse_repeats("code", [c.code for c in self.codes])
        _refuse_repeats("rank", [str(c.rank) for c in self.codes])
        _refuse_repeats("alias", [w.lower() for c in self.codes for w in {c.code, *c.aliases, *c.names}])
        if not self.context.adjacent and any(c.names or c.strict for c in self.codes):
            raise ValueError("context.adjacent is needed for names and strict codes")
        return self


def _refuse_repeats(what: str, names: Sequence[str]) -> None:
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise ValueError(f"{what} {sorted(repeated)[0]!r} is declared twice")
