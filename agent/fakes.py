"""Fakes of what the agent needs of other rooms. They obey the same contracts and errors."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agent.audit.verdicts import Audit, SentenceVerdict
from agent.ports import DocumentCard
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook, find_tags, strip_tags
from retrieval.passages import make_passage
from retrieval.sentences import sentence_spans
from retrieval.types import Chunk, Passage, Principal, Scope, SearchFilter, Tier


def fake_chunk(
    text: str,
    *,
    document_id: str = "7f3a00000000",
    page: int | None = 5,
    ordinal: int = 0,
    title: str = "Q3 2024 brief",
) -> Chunk:
    """Build a chunk of tenant `local` that everyone may see; equal arguments give an equal chunk."""
    return Chunk(
        chunk_id=f"{document_id}-{ordinal}",
        tenant="local",
        document_id=document_id,
        ordinal=ordinal,
        text=text,
        index_text=text,
        page_start=page,
        page_end=page,
        section_number=None if page is not None else ordinal + 1,
        start_char=0,
        end_char=len(text),
        title=title,
        authority="official",
    )


def _admits(chunk: Chunk, principal: Principal, filter: SearchFilter) -> bool:
    scope = Scope.of(principal, filter)
    return (
        chunk.tenant == scope.tenant
        and bool(chunk.access & scope.access)
        and filter.labels <= chunk.labels
        and (filter.document_ids is None or chunk.document_id in filter.document_ids)
    )


@dataclass(frozen=True, slots=True)
class FakeFound:
    """A search result."""

    passages: tuple[Passage, ...]


class FakeSearcher:
    """Finds chunks by shared words, within the filter; remembers what was asked; raises `error` if given one."""

    def __init__(self, chunks: Sequence[Chunk] = (), *, error: Exception | None = None) -> None:
        self._chunks = tuple(chunks)
        self._error = error
        self.questions: list[str] = []
        self.filters: list[SearchFilter] = []
        self.run_ids: list[str | None] = []

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
    ) -> FakeFound:
        """Return at most `top_k` (3) admitted chunks that share a word or character with the question."""
        self.questions.append(question)
        self.filters.append(filter or SearchFilter())
        self.run_ids.append(run_id)
        if self._error is not None:
            raise self._error
        asked = _words(question)
        scored = [
            (len(asked & _words(chunk.text)) / max(1, len(asked)), chunk)
            for chunk in self._chunks
            if _admits(chunk, principal, filter or SearchFilter())
        ]
        best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])[: top_k or 3]
        return FakeFound(tuple(make_passage(book.label(chunk), chunk, score, (), ()) for score, chunk in best))


def _words(text: str) -> set[str]:
    return set(text.casefold().split()) | {char for char in text if "\u4e00" <= char <= "\u9fff"}


class FakeLibrary:
    """Holds chunks; knows each document's title from its first chunk."""

    def __init__(self, chunks: Sequence[Chunk] = ()) -> None:
        self._chunks = tuple(chunks)

    async def list_documents(self, principal: Principal, filter: SearchFilter, *, limit: int) -> Sequence[DocumentCard]:
        """Return the admitted documents."""
        cards = {
            c.document_id: DocumentCard(
                document_id=c.document_id, title=c.title, authority=c.authority, labels=c.labels
            )
            for c in self._chunks
            if _admits(c, principal, filter)
        }
        return list(cards.values())[:limit]

    async def read_document(self, principal: Principal, document_id: str, filter: SearchFilter) -> Sequence[Chunk]:
        """Return the admitted chunks of one document."""
        return [c for c in self._chunks if c.document_id == document_id and _admits(c, principal, filter)]


@dataclass(frozen=True, slots=True)
class FakeDecision:
    """A trigger decision."""

    tier: Tier
    reasons: tuple[str, ...] = ("scripted",)
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    candidate_documents: tuple[str, ...] = ()
    first_stage: FirstStage | None = None


class FakeTrigger:
    """Always decides the same; raises `error` if given one."""

    def __init__(self, tier: Tier = "strong", candidates: Sequence[str] = (), error: Exception | None = None) -> None:
        self._decision = FakeDecision(tier, candidate_documents=tuple(candidates))
        self._error = error

    async def decide(
        self, question: str, principal: Principal, filter: SearchFilter | None, *, run_id: str | None = None
    ) -> FakeDecision:
        """Return the scripted decision."""
        if self._error is not None:
            raise self._error
        return self._decision


class FakeAuditor:
    """Supports every sentence whose tags are all known and that cites at least one; an unknown tag is a violation."""

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
        """Give one verdict per sentence by its tags alone."""
        verdicts: list[SentenceVerdict] = []
        for index, (start, end) in enumerate(sentence_spans(answer)):
            cited = tuple(tag.label for tag in find_tags(answer[start:end]))
            unknown = tuple(label for label in cited if label not in labels)
            kind = "unsupported" if unknown else "supported" if cited else "general" if tier == "none" else "uncited"
            text = strip_tags(answer[start:end])
            verdicts.append(
                SentenceVerdict(
                    index=index, start=start, end=end, text=text, kind=kind, labels=cited, unknown_labels=unknown
                )
            )
        violations = tuple(f"unknown source {label}" for v in verdicts for label in v.unknown_labels)
        return Audit(risk="high" if violations else "low", sentences=tuple(verdicts), violations=violations)


class FakeClock:
    """Time that moves only by its own step at each look."""

    def __init__(self, step_s: float = 0.001) -> None:
        self._seconds = 0.0
        self._step_s = step_s

    def now(self) -> datetime:
        """Return UTC time."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return seconds."""
        self._seconds += self._step_s
        return self._seconds
