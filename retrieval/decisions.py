"""The decision log: what the trigger and search decided for each question, and why.

A record holds no text of a document and no clear value: the question in its symbolised form,
ids, scores and reasons. It belongs to its tenant and is read by right only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from retrieval.types import Channel, SearchFilter, Tier, Value

Kind = Literal["trigger", "search"]
Outcome = Literal["answered", "unsupported", "not_in_documents", "general"]
"""What became of the question: an answer whose sources held, one whose sources did not, an honest "not in
your documents", an answer that needed none."""


_ID = re.compile(r"[0-9a-f]{32}")


class LoggedCandidate(Value):
    """A candidate of one search."""

    chunk_id: str
    document_id: str
    scores: dict[Channel, float]
    ranks: dict[Channel, int]
    fused: float
    reranked: float | None = None
    passage: int | None = None
    """Its place among the passages, from 1; None when it became none. (Not its label: the label of a
    database's table holds the table's name, and the log holds nothing of a document.)"""
    dropped: str | None = None
    """Why it did not become one."""


class Decision(Value):
    """One decision of the trigger, or one search."""

    decision_id: str
    at: datetime
    kind: Kind
    tenant: str
    user: str
    run_id: str | None = None
    question: str
    """Symbolised, as it was encoded."""
    filter: SearchFilter = SearchFilter()
    knowledge_version: int | None = None
    tier: Tier | None = None
    reasons: tuple[str, ...] = ()
    signals: dict[str, float] = Field(default_factory=dict)
    """What the trigger weighed, by name of the signal; one that the encoder cannot give is missing."""
    documents: tuple[str, ...] = ()
    """Ids of the documents in which the trigger expects an answer."""
    candidates: tuple[LoggedCandidate, ...] = ()
    cached: bool = False
    latencies_ms: dict[str, float] = Field(default_factory=dict)
    outcome: Outcome | None = None
    """Set once the run has ended; None before, and for searches outside runs."""


class DecisionLog(Protocol):
    """Keeps decisions, bounded in number and age. Writing never fails a search: what cannot be kept is counted."""

    @property
    def lost(self) -> int:
        """How many decisions could not be kept since the start."""
        ...

    def record(self, decision: Decision) -> None:
        """Take a decision; returns at once, it is written later."""
        ...

    def settle(self, tenant: str, run_id: str, outcome: Outcome) -> None:
        """Note what became of a run's question, on all its decisions so far; returns at once."""
        ...

    async def read(
        self,
        tenant: str,
        *,
        kind: Kind | None = None,
        run_id: str | None = None,
        limit: int = 1000,
        after: str | None = None,
    ) -> Sequence[Decision]:
        """Return a tenant's decisions, newest first, whatever was taken before this call included.

        Args:
            tenant: whose.
            kind: only these.
            run_id: only those of this run.
            limit: how many at most.
            after: id of a decision; only those that come after it in this order.

        Raises:
            UnknownDecisionError: `after` is none of the tenant's.
        """
        ...

    async def get(self, tenant: str, decision_id: str) -> Decision:
        """Return one decision.

        Raises:
            UnknownDecisionError: there is none of this id in the tenant's log.
        """
        ...

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Put `change(text)` in the place of every text of a tenant's decisions; repeatable.

        Args:
            tenant: whose.
            change: hides what is secret now, and renames pseudonyms.
            document_id: means nothing here: no decision holds text of a document.
            revision: what was written or rewritten under this revision of the rules is passed over.

        Returns:
            How many decisions were changed.
        """
        ...


def rewritten(decision: Decision, change: Callable[[str], str]) -> Decision:
    """Return a decision with `change(text)` in the place of its texts; an equal one stays the same object."""
    filter = decision.filter
    ids = filter.document_ids
    texts = {
        "labels": frozenset(change(label) for label in filter.labels),
        "symbols": frozenset(change(symbol) for symbol in filter.symbols),
        "period": None if filter.period is None else change(filter.period),
        # A caller may write anything here; an id of ours is left alone, for its digits may look like a number.
        "document_ids": None if ids is None else frozenset(i if _ID.fullmatch(i) else change(i) for i in ids),
    }
    changed = decision.model_copy(
        update={
            "question": change(decision.question),
            "reasons": tuple(change(reason) for reason in decision.reasons),
            "filter": filter.model_copy(update=texts),
        }
    )
    return decision if changed == decision else changed
