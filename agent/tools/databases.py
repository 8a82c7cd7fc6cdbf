"""The databases a run may query, as a Protocol; the container supplies them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from agent.tools.sql.reading import DatabaseAccess
from retrieval.types import Authority, Principal, SearchFilter, Value


class DatabaseCard(Value):
    """A database that was taken in as a document."""

    name: str
    """What the model calls it and labels begin with; unique among those of one principal."""
    document_id: str
    title: str
    authority: Authority = "unknown"
    labels: frozenset[str] = frozenset()


class Databases(Protocol):
    """Databases that the principal may see, within the run's filter."""

    async def visible(self, principal: Principal, filter: SearchFilter) -> Sequence[DatabaseCard]:
        """Return them, by name."""
        ...

    def open(self, principal: Principal, database: DatabaseCard) -> AbstractContextManager[DatabaseAccess]:
        """Make a visible database readable for as long as the context lasts. Blocking.

        Raises:
            ToolError: it is gone or cannot be reached.
        """
        ...
