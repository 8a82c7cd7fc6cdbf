"""What the HTTP door takes and gives beyond the values of the rooms."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field, SecretStr, StringConstraints

from agent.events import RunCompleted
from ingest.types import Document, Job
from retrieval.decisions import Decision
from retrieval.documents_search import FoundDocument
from retrieval.types import Candidate, Passage, SearchFilter, Symbol, Value

Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0)]


Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8000)]


class ChatBody(Value):
    """A question."""

    question: Question
    stream: bool = True
    """True: server-sent events. False: the terminal event as JSON."""
    language: Literal["zh", "en"] | None = None
    """Language of the answer; None: that of the question."""
    filter: SearchFilter = SearchFilter()
    attended: bool = False
    """True: whoever asks follows the run, and answers what it asks (`POST /v1/runs/{run_id}/answer`)."""
    conversation_id: str | None = Field(default=None, min_length=1, max_length=64)
    """Of a conversation that was begun with `POST /v1/conversations`; the question may follow up on it."""


class SearchBody(Value):
    """A search without an answer."""

    query: Question
    queries: tuple[Question, ...] = Field(default=(), max_length=8)
    """The same question in other words or languages; what they find is fused."""
    top_k: int | None = Field(default=None, ge=1, le=50)
    filter: SearchFilter = SearchFilter()
    base_date: date | None = None
    """What relative periods (last quarter) refer to; today when it is missing."""


class CandidateView(Value):
    """One fused candidate of the decision log."""

    chunk_id: str
    document_id: str
    title: str
    page: int | None
    scores: dict[str, float]
    ranks: dict[str, int]
    fused: float

    @classmethod
    def of(cls, candidate: Candidate) -> CandidateView:
        """View a candidate without its text."""
        return cls(
            chunk_id=candidate.chunk.chunk_id,
            document_id=candidate.chunk.document_id,
            title=candidate.chunk.title,
            page=candidate.chunk.page_start,
            scores={str(k): float(v) for k, v in candidate.scores.items()},
            ranks={str(k): int(v) for k, v in candidate.ranks.items()},
            fused=candidate.fused,
        )


class AddedView(Value):
    """A chunk that is shown as a passage because it contradicts the chunk `of`, or as its context."""

    chunk_id: str
    reason: Literal["conflict", "context"]
    of: str


class FoundDocuments(Value):
    """The documents that fit a question, best first."""

    query: str
    """The question as it was searched: secrets replaced by pseudonyms."""
    documents: tuple[FoundDocument, ...]


class SearchAnswer(Value):
    """What a search found and how it came about."""

    query: str
    """The question as it was searched: secrets replaced by pseudonyms."""
    passages: tuple[Passage, ...]
    candidates: tuple[CandidateView, ...]
    dropped: dict[str, str]
    """chunk_id → why it was left out."""
    added: tuple[AddedView, ...] = ()
    """What is shown beyond the best ones."""
    latency_ms: dict[str, float]
    cached: bool = False
    """True when the same question of the same caller was searched before."""
    encoder: str
    reranker: str


class DecisionList(Value):
    """A page of the decision log."""

    decisions: tuple[Decision, ...]


class SymbolCheckBody(Value):
    """A text to be read for its symbols."""

    text: str = Field(min_length=1, max_length=50_000)
    base_date: date | None = None
    """What relative periods refer to; without it they are no symbols."""


class SymbolsFound(Value):
    """What a text gives."""

    text: str
    """Secrets replaced by pseudonyms."""
    index_text: str
    """What would be encoded."""
    symbols: tuple[Symbol, ...]
    """Spans in `text`."""


class DocumentList(Value):
    """A page of documents."""

    documents: tuple[Document, ...]


class NameList(Value):
    """Names of uploads, as they are given or as they are kept."""

    names: tuple[Annotated[str, StringConstraints(max_length=4096)], ...] = Field(max_length=500)


class DatabaseList(Value):
    """The configured databases."""

    databases: tuple[str, ...]


class RetryBody(Value):
    """What a retry may bring along."""

    password: SecretStr | None = Field(default=None, min_length=1, max_length=1024)
    """Opens the document; takes the place of the one that was given with the upload."""


class JobList(Value):
    """A page of jobs."""

    jobs: tuple[Job, ...]


class RunView(Value):
    """A stored run."""

    run_id: str
    question: str
    state: Literal["running", "completed", "failed", "cancelled"]
    completed: RunCompleted | None = None
    """The terminal event of a completed run: the same as in the stream."""
    error_code: str | None = None
    error: str | None = None


class Status(Value):
    """What `attest doctor` and `/healthz` tell."""

    status: Literal["ok", "degraded"]
    version: str
    pid: int
    home: str
    encoder: str
    encoder_revision: str
    encoder_engine: str = ""
    """What runs the encoder's model, where there is a choice, and why."""
    reranker: str
    model: str
    store: str
    store_differences: tuple[str, ...] = ()
    """In which settings the collection is another than it would be made now."""
    trigger: str = ""
    """The thresholds in force, and whether they are those that were tuned."""
    database: str
    symbol_problems: tuple[str, ...] = ()
    """What is wrong with the symbol rule files of the caller's tenant; the last good rules hold meanwhile."""
