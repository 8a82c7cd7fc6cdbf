"""What search needs of others, as small Protocols; the container supplies them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Protocol

from retrieval.types import Symbol


class SymbolisedText(Protocol):
    """What the symbol language makes of a text."""

    @property
    def index_text(self) -> str:
        """The text with all three symbol classes replaced by tokens: what is encoded."""
        ...

    @property
    def symbols(self) -> Sequence[Symbol]:
        """The symbols found, in order."""
        ...


class Symboliser(Protocol):
    """The part of the symbol language that search needs."""

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> SymbolisedText:
        """Read a text; `base_date` resolves relative periods (上季度, last year)."""
        ...


class LiveDocuments(Protocol):
    """Who knows which documents exist: the catalogue."""

    async def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
        """Return those of `document_ids` that may be shown as of a date (None: today).

        Not those that are pending, deleted, or superseded by an edition in force that day.
        """
        ...


class Editions(Protocol):
    """Who knows until when documents are in force: the catalogue."""

    async def superseded_from(self, tenant: str, document_ids: Collection[str]) -> Mapping[str, date]:
        """Return, for those of `document_ids` that a later edition follows, the first day of that edition."""
        ...


class FormerPseudonyms(Protocol):
    """Who knows the names that values had under a former pseudonym key."""

    async def of(self, tenant: str, tokens: frozenset[str]) -> frozenset[str]:
        """Return the other names of the pseudonyms among these tokens; none unless the key is being changed."""
        ...
