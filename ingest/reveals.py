"""The log of reveals: who saw, or asked to see, which secret, where, when and why. Refused ones are in it too.

It is never shortened, and holds no secret itself: what a caller wrote (the reason, a pseudonym that is none)
carries pseudonyms like every stored text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Literal
from uuid import uuid4

from sqlalchemy import Engine, insert, select

from ingest.catalog import Clock, utc_now
from ingest.errors import NotPermittedError
from ingest.tables import reveals
from retrieval.types import Principal, Value

Outcome = Literal["revealed", "refused", "unknown", "failed", "searched", "erased"]
"""`unknown`: nothing that the principal may see carries it; `failed`: the vault could not be opened; `searched`:
documents were looked up by a value that the caller had; `erased`: the value was removed for good."""
Hide = Callable[[str, str], str]
"""Takes a text and a tenant, and returns the text with pseudonyms in place of its secrets."""

_MAX_REASON = 2000
_WIDTH = 64


class Reveal(Value):
    """One entry of the log."""

    reveal_id: str
    user: str
    pseudonym: str
    """Empty where the entry is about a whole page or a refused answer."""
    place: str
    """Where it was shown, for example `run 4f…`; empty for a single value."""
    reason: str
    outcome: Outcome
    at: datetime


def _as_given(text: str, _tenant: str) -> str:
    return text


class RevealLog:
    """Writes the log and reads it back. Blocking."""

    def __init__(
        self,
        engine: Engine,
        *,
        hide: Hide = _as_given,
        clock: Clock = utc_now,
        ids: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        """Take the parts.

        Args:
            engine: with the tables of `ingest.tables`.
            hide: takes secrets out of reasons; the deployment gives the symbol language.
            clock: the time.
            ids: makes the ids of entries.
        """
        self._engine = engine
        self._hide = hide
        self._clock = clock
        self._ids = ids

    def write(
        self, principal: Principal, pseudonyms: Collection[str], reason: str, outcome: Outcome, *, place: str = ""
    ) -> None:
        """Add one entry for each pseudonym; durable when it returns."""
        if not pseudonyms:
            return
        hidden = self._hide(reason, principal.tenant)[:_MAX_REASON]
        at = self._clock()
        rows = [
            {
                "reveal_id": self._ids(),
                "tenant": principal.tenant,
                "user": principal.user,
                # Hidden before it is cut: what is asked for may be the value itself.
                "pseudonym": self._hide(each, principal.tenant)[:_WIDTH],
                "place": self._hide(place, principal.tenant)[:_WIDTH],
                "reason": hidden,
                "outcome": outcome,
                "at": at,
            }
            for each in pseudonyms
        ]
        with self._engine.begin() as connection:
            connection.execute(insert(reveals), rows)

    def page(
        self,
        principal: Principal,
        *,
        user: str | None = None,
        pseudonym: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Reveal]:
        """Return a page of the tenant's log, newest first.

        Raises:
            NotPermittedError: without the right `admin`.
        """
        if not principal.may("admin"):
            raise NotPermittedError(f"user {principal.user!r} lacks the right 'admin'")
        return self.entries(
            principal.tenant,
            user=user,
            pseudonyms=None if pseudonym is None else [pseudonym],
            limit=limit,
            offset=offset,
        )

    def entries(
        self,
        tenant: str,
        *,
        user: str | None = None,
        pseudonyms: Collection[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Reveal]:
        """Return entries of a tenant, newest first, without a check of rights."""
        wanted = select(*(reveals.c[name] for name in Reveal.model_fields)).where(reveals.c.tenant == tenant)
        if user is not None:
            wanted = wanted.where(reveals.c.user == user)
        if pseudonyms is not None:
            wanted = wanted.where(reveals.c.pseudonym.in_(sorted(pseudonyms)))
        wanted = wanted.order_by(reveals.c.at.desc(), reveals.c.reveal_id.desc()).limit(limit).offset(offset)
        with self._engine.connect() as connection:
            return [Reveal.model_validate(dict(row)) for row in connection.execute(wanted).mappings()]
