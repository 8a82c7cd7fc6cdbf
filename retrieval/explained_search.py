"""Search and trigger that write what they decided, and why, into the decision log."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Protocol

from retrieval.cached_search import Search
from retrieval.decisions import Decision, DecisionLog, LoggedCandidate
from retrieval.errors import RetrievalError
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook
from retrieval.ports import Symboliser
from retrieval.search_result import SearchResult
from retrieval.trigger import TriggerDecision
from retrieval.types import Principal, SearchFilter


def new_id() -> str:
    """Return a fresh random id of 32 hex digits."""
    return uuid.uuid4().hex


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class ExplainedSearch:
    """Logs every search, those that fail too; the log never delays or fails it."""

    def __init__(
        self,
        search: Search,
        log: DecisionLog,
        language: Symboliser,
        *,
        clock: Callable[[], datetime] = utc_now,
        ids: Callable[[], str] = new_id,
    ) -> None:
        self._search, self._log, self._language, self._clock, self._new_id = search, log, language, clock, ids

    async def search(
        self,
        question: str,
        principal: Principal,
        *,
        book: LabelBook,
        filter: SearchFilter | None = None,
        top_k: int | None = None,
        base_date: date | None = None,
        first_stage: FirstStage | None = None,
        also: Sequence[str] = (),
        run_id: str | None = None,
    ) -> SearchResult:
        """Find the passages that answer a question; arguments and errors are `Searcher.search`'s.

        `run_id` names the run that searches, if it is one.
        """
        try:
            found = await self._search.search(
                question,
                principal,
                book=book,
                filter=filter,
                top_k=top_k,
                base_date=base_date,
                first_stage=first_stage,
                also=also,
            )
        except RetrievalError as exc:
            self._log.record(self._failed(question, principal, filter, run_id, exc.code))
            raise
        self._log.record(
            Decision(
                decision_id=self._new_id(),
                at=self._clock(),
                kind="search",
                tenant=principal.tenant,
                user=principal.user,
                run_id=run_id,
                question=found.index_text,
                filter=filter or SearchFilter(),
                knowledge_version=found.knowledge_version,
                candidates=logged_candidates(found),
                cached=found.cached,
                latencies_ms=found.latencies_ms,
            )
        )
        return found

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        """Do the first stage alone; it is part of the trigger's decision, and not logged by itself."""
        return await self._search.first_stage(question, principal, filter=filter, base_date=base_date)

    def _failed(
        self, question: str, principal: Principal, filter: SearchFilter | None, run_id: str | None, code: str
    ) -> Decision:
        return Decision(
            decision_id=self._new_id(),
            at=self._clock(),
            kind="search",
            tenant=principal.tenant,
            user=principal.user,
            run_id=run_id,
            question=self._language.symbolise(question, tenant=principal.tenant).index_text,
            filter=filter or SearchFilter(),
            reasons=(f"the search failed: {code}",),
        )


def logged_candidates(found: SearchResult) -> tuple[LoggedCandidate, ...]:
    """Return what the log keeps of a search's candidates, in fused order: ids, scores, what became of them."""
    dropped = {each.candidate.chunk.chunk_id: each for each in found.dropped}
    places = {passage.chunk.chunk_id: place for place, passage in enumerate(found.passages, start=1)}
    logged: list[LoggedCandidate] = []
    for candidate in found.candidates:
        chunk_id = candidate.chunk.chunk_id
        reason = dropped.get(chunk_id)
        of = f" of {reason.of}" if reason is not None and reason.of else ""
        logged.append(
            LoggedCandidate(
                chunk_id=chunk_id,
                document_id=candidate.chunk.document_id,
                scores={channel: float(score) for channel, score in candidate.scores.items()},
                ranks=dict(candidate.ranks),
                fused=float(candidate.fused),
                reranked=_float(found.reranked.get(chunk_id)),
                passage=places.get(chunk_id),
                dropped=None if reason is None else f"{reason.reason}{of}",
            )
        )
    return tuple(logged)


class Decides(Protocol):
    """A trigger; see `retrieval.trigger.Trigger`."""

    async def decide(self, question: str, principal: Principal, filter: SearchFilter | None = None) -> TriggerDecision:
        """Decide the tier of a question for this principal."""
        ...


class ExplainedTrigger:
    """Logs every decision of a trigger."""

    def __init__(
        self,
        trigger: Decides,
        log: DecisionLog,
        language: Symboliser,
        *,
        clock: Callable[[], datetime] = utc_now,
        ids: Callable[[], str] = new_id,
    ) -> None:
        self._trigger, self._log, self._language, self._clock, self._new_id = trigger, log, language, clock, ids

    async def decide(
        self,
        question: str,
        principal: Principal,
        filter: SearchFilter | None = None,
        *,
        run_id: str | None = None,
    ) -> TriggerDecision:
        """Decide the tier of a question for this principal, in a run."""
        began = time.perf_counter()
        decision = await self._trigger.decide(question, principal, filter)
        total = (time.perf_counter() - began) * 1000
        first = decision.first_stage
        read = self._language.symbolise(question, tenant=principal.tenant).index_text if first is None else None
        self._log.record(
            Decision(
                decision_id=self._new_id(),
                at=self._clock(),
                kind="trigger",
                tenant=principal.tenant,
                user=principal.user,
                run_id=run_id,
                question=first.index_text if first is not None else read or "",
                filter=filter or SearchFilter(),
                tier=decision.tier,
                reasons=decision.reasons,
                documents=decision.candidate_documents,
                signals={name: float(score) for name, score in decision.scores.items()},
                latencies_ms={**(first.latencies_ms if first is not None else {}), "total": total},
            )
        )
        return decision


def _float(score: float | None) -> float | None:
    return None if score is None else float(score)
