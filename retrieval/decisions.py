"""The decision log: what the trigger and search decided for each question, and why.

A record holds no text of a document and no clear value: the question in its symbolised form,
ids, scores and reasons. It belongs to its tenant and is read by right only.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from retrieval.types import Channel, SearchFilter, Tier, Value

Outcome = Literal["answered", "not_in_documents", "general"]
"""What became of the question: an answer whose sources held, an honest "not in your documents", an
answer that needed none."""


class LoggedCandidate(Value):
    """A candidate of one search."""

    chunk_id: str
    document_id: str
    scores: dict[Channel, float]
    ranks: dict[Channel, int]
    fused: float
    reranked: float | None = None
    label: str | None = None
    """Of the passage it became."""
    dropped: str | None = None
    """Why it did not become one."""


class Decision(Value):
    """One decision of the trigger, or one search."""

    decision_id: str
    at: datetime
    kind: Literal["trigger", "search"]
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
    candidates: tuple[LoggedCandidate, ...] = ()
    cached: bool = False
    latencies_ms: dict[str, float] = Field(default_factory=dict)
    outcome: Outcome | None = None
    """Set once the run has ended; None before, and for searches outside runs."""


class DecisionLog(Protocol):
    """Keeps decisions, bounded in number and age. Writing never fails a search: what cannot be kept is counted."""

    async def record(self, decision: Decision) -> None:
        """Keep a decision."""
        ...

    async def settle(self, tenant: str, run_id: str, outcome: Outcome) -> None:
        """Note what became of a run's question, on all its decisions."""
        ...

    async def read(
        self,
        tenant: str,
        *,
        kind: Literal["trigger", "search"] | None = None,
        run_id: str | None = None,
        limit: int = 1000,
    ) -> Sequence[Decision]:
        """Return decisions, newest first."""
        ...
