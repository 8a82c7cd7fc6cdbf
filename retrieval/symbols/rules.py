"""What one tenant adds to the language: vocabularies, persons, a glossary, corrections, what was erased."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Literal, Protocol

from pydantic import Field

from retrieval.symbols.codes.domain import Vocabulary
from retrieval.types import Value

LANGUAGE_REVISION = "2"
"""Changes whenever the language itself, under the same rules, reads or encodes some text otherwise."""


class Person(Value):
    """A person whose name is a secret: all writings give one pseudonym."""

    names: tuple[str, ...] = Field(min_length=1)
    """The first is the value the vault keeps; the others are further writings (张伟, Zhang Wei)."""


class Entity(Value):
    """An approved glossary entry: one organisation or term under its names in both languages."""

    entity_id: str = Field(pattern=r"^[A-Z0-9][A-Z0-9_.-]{0,31}$")
    """Stands in the token: `[ENTITY_<entity_id>]`."""
    names: tuple[str, ...] = Field(min_length=1)
    """Approved names in either language, in any order; short names only where they are listed."""
    not_in: tuple[str, ...] = ()
    """Longer words that contain a name and mean something else: 中国银行业 for 中国银行."""


class Correction(Value):
    """An owner's word on a symbol that the rules got wrong or missed."""

    text: str = Field(min_length=1, max_length=200, repr=False)
    """The surface text the correction is about, compared after folding."""
    verdict: Literal["secret", "not_secret", "not_symbol"]
    """`secret`: hide it wherever it stands; `not_secret`: it is no secret; `not_symbol`: it is no code or value."""
    kind: str = "custom"
    """For `secret`: the kind it is hidden as."""
    near: str = ""
    """Only where this text stands in the same line; empty: everywhere."""


class ErasedText(Value):
    """A text that an owner called secret, and that was erased; made by `erased_texts.erased_text`."""

    kind: str
    units: int = Field(ge=1)
    """How many words and single characters it has."""
    head: str
    """Keyed, of its first word."""
    mark: str
    """Keyed, of it all."""
    near: str = ""
    """Only where this text stands in the same line; empty: everywhere."""


class TenantRules(Value):
    """All of a tenant's own rules. Two sets of rules that read some text otherwise differ in `revision`."""

    revision: str = ""
    vocabularies: tuple[Vocabulary, ...] = ()
    """The built-in ones included."""
    fiscal_year_start: int = Field(default=1, ge=1, le=12)
    """First month of the fiscal year."""
    fiscal_year_named_by: Literal["start", "end"] = "start"
    """Whether FY2024 begins or ends in 2024; of no meaning where it is the calendar year."""
    persons: tuple[Person, ...] = ()
    glossary: tuple[Entity, ...] = ()
    corrections: tuple[Correction, ...] = ()
    erased: frozenset[str] = frozenset()
    """Fingerprints of values that were erased (`pseudonyms.fingerprint`): they get no pseudonym any more."""
    erased_texts: tuple[ErasedText, ...] = ()
    """Those that only a correction knew: they are found without being known."""


def revised(rules: TenantRules) -> TenantRules:
    """Return the rules with their revision: a hash of all that decides how a text is read."""
    decisive = rules.model_dump(mode="json", by_alias=True, exclude={"revision"})
    decisive["erased"] = sorted(rules.erased)  # a set has no order of its own
    text = json.dumps([LANGUAGE_REVISION, decisive], sort_keys=True)
    return rules.model_copy(update={"revision": blake2b(text.encode("ascii"), digest_size=8).hexdigest()})


class RuleSource(Protocol):
    """Gives each tenant's rules as they are now; asked for every text, so it answers from memory."""

    def rules(self, tenant: str) -> TenantRules:
        """Return the rules of a tenant; the same object as long as nothing changed."""
        ...

    def look_again(self, tenant: str) -> None:
        """Give at the next question the corrections and erasures that are kept then, not those in memory."""
        ...

    def problems(self, tenant: str) -> tuple[str, ...]:
        """Return what is wrong with the rules of a tenant, for people to mend; empty when all is well."""
        ...


class FixedRules:
    """The same rules for every tenant."""

    def __init__(self, rules: TenantRules) -> None:
        self._rules = rules

    def rules(self, tenant: str) -> TenantRules:
        """Return the rules; see `RuleSource`."""
        return self._rules

    def look_again(self, tenant: str) -> None:
        """Do nothing: they never change."""

    def problems(self, tenant: str) -> tuple[str, ...]:
        """Return nothing: they were checked when they were made."""
        return ()
