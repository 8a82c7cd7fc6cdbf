"""What the agent needs of other rooms, as small Protocols; the container supplies them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Protocol

from agent.audit.verdicts import Audit
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook
from retrieval.types import Authority, Chunk, Language, Passage, Principal, SearchFilter, Tier, Value


class Found(Protocol):
    """What a search returns, as far as the agent reads it."""

    @property
    def passages(self) -> Sequence[Passage]:
        """Best first, labelled by the run's book."""
        ...


class Searcher(Protocol):
    """Searches for one principal. Raises `RetrievalError`."""

    async def search(
        self,
        question: str,
        principal: Principal,
        *,
        book: LabelBook,
        filter: SearchFilter | None = None,
        top_k: int | None = None,
        first_stage: FirstStage | None = None,
        also: Sequence[str] = (),
        run_id: str | None = None,
    ) -> Found:
        """Return the passages for a question; no passages is a result, not an error.

        `first_stage` is what the trigger already found for the same question, principal and filter;
        `also` gives the question in other words or languages; `run_id` names the run that asks.
        """
        ...


class Decision(Protocol):
    """Whether and how a run retrieves."""

    @property
    def tier(self) -> Tier:
        """`strong`, `weak` or `none`."""
        ...

    @property
    def reasons(self) -> Sequence[str]:
        """For people."""
        ...

    @property
    def scores(self) -> Mapping[str, float]:
        """The signals behind the decision."""
        ...

    @property
    def candidate_documents(self) -> Sequence[str]:
        """Ids of the one or two documents that may hold a local answer (tier `weak`)."""
        ...

    @property
    def first_stage(self) -> FirstStage | None:
        """The first stage of search, when the decision needed one."""
        ...


class Trigger(Protocol):
    """Decides the tier. Raises `RetrievalError`."""

    async def decide(
        self, question: str, principal: Principal, filter: SearchFilter | None, *, run_id: str | None = None
    ) -> Decision:
        """Decide for one question of a run, from documents this principal may see."""
        ...


class Auditor(Protocol):
    """Checks a written answer against its sources. Pure; takes milliseconds."""

    def audit(
        self,
        answer: str,
        *,
        passages: Sequence[Passage],
        labels: Container[str],
        question: str,
        tier: Tier,
        tenant: str,
        tool_results: Mapping[str, str],
    ) -> Audit:
        """Return a verdict per sentence; `labels` holds every label handed out in the run."""
        ...


class DocumentCard(Value):
    """A document as a list shows it."""

    document_id: str
    title: str
    issuer: str = ""
    authority: Authority = "unknown"
    language: Language = "other"
    format: str = ""
    """`pdf`, `sqlite`, `database` …; empty where it is not known."""
    pages: int | None = None
    """None where the format has no pages."""
    labels: frozenset[str] = frozenset()


class Library(Protocol):
    """Documents as the agent's tools see them: always for a principal, always within the run's filter."""

    async def list_documents(self, principal: Principal, filter: SearchFilter, *, limit: int) -> Sequence[DocumentCard]:
        """Return the documents that the principal and the filter admit, at most `limit`."""
        ...

    async def read_document(self, principal: Principal, document_id: str, filter: SearchFilter) -> Sequence[Chunk]:
        """Return a document's chunks in order; empty when it does not exist or is not admitted."""
        ...
