"""Audits a past answer again, against what the documents it cites say now.

A cited passage that is unchanged is checked as it is. One of a document that was replaced gives way to the
part of the present version that speaks most of what the answer says; one of a deleted document is gone,
and what rested on it alone is unsupported. Always with the rights of the asker, whose own the answer is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from agent.audit.content import content_terms, share
from agent.audit.judging import risk_of
from agent.audit.verdicts import SentenceVerdict
from agent.audits import AuditBook, AuditSource
from agent.clock import Clock, SystemClock
from agent.errors import UnknownRunError
from agent.events import RunCompleted
from agent.journal import Journal
from agent.ports import Auditor, Library
from agent.reaudits import ChangedVerdict, Reaudit, ReauditBook, Waiting
from agent.recall import Standings
from retrieval.errors import RetrievalError
from retrieval.types import Chunk, Passage, Principal, SearchFilter

log = logging.getLogger(__name__)


class Reauditor:
    """Works off the jobs of a `ReauditBook`, one answer at a time."""

    def __init__(
        self,
        jobs: ReauditBook,
        book: AuditBook,
        journal: Journal,
        auditor: Auditor,
        library: Library,
        standings: Standings,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._jobs, self._book, self._journal = jobs, book, journal
        self._auditor, self._library, self._standings = auditor, library, standings
        self._clock = clock or SystemClock()
        self._more = asyncio.Event()

    async def ask(self, principal: Principal, run_ids: Sequence[str]) -> str:
        """Take a job in; return its id.

        Raises:
            UnknownRunError: one of the runs is not the principal's, or has no audit.
        """
        for run_id in run_ids:
            await asyncio.to_thread(self._book.row, run_id, principal.tenant, user=principal.user)
        job_id = await asyncio.to_thread(self._jobs.ask, principal, run_ids, self._clock.now())
        self._more.set()
        return job_id

    async def run_forever(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what waits then, or was left by a crash, is done at the next start."""
        stopping = asyncio.ensure_future(stop.wait())
        while not stop.is_set():
            self._more.clear()
            await self.work_off(stop)
            more = asyncio.ensure_future(self._more.wait())
            await asyncio.wait([stopping, more], return_when=asyncio.FIRST_COMPLETED)
            more.cancel()
        await stopping

    async def work_off(self, stop: asyncio.Event | None = None) -> None:
        """Audit what waits."""
        while stop is None or not stop.is_set():
            waiting = await asyncio.to_thread(self._jobs.next)
            if waiting is None:
                return
            await asyncio.to_thread(self._jobs.settle, waiting, await self._result(waiting), self._clock.now())

    async def _result(self, waiting: Waiting) -> Reaudit:
        try:
            return await self.again(waiting.run_id, waiting.principal)
        except (UnknownRunError, RetrievalError) as exc:
            return Reaudit(run_id=waiting.run_id, done=True, error_code=exc.code)
        except Exception as exc:  # noqa: BLE001 -- the boundary of a job, like that of a run
            # One answer that cannot be audited must not keep the others waiting.
            log.error("run %s could not be audited again: %s", waiting.run_id, type(exc).__name__)
            return Reaudit(run_id=waiting.run_id, done=True, error_code="reaudit_failed")

    async def again(self, run_id: str, principal: Principal) -> Reaudit:
        """Audit one answer of a principal's own.

        Raises:
            UnknownRunError: there is no such answer.
            RetrievalError: the documents cannot be read.
        """
        stored = await asyncio.to_thread(self._journal.run, run_id, principal)
        row = await asyncio.to_thread(self._book.row, run_id, principal.tenant, user=principal.user)
        done = stored.completed
        if done is None:
            raise UnknownRunError(f"run {run_id!r} has no answer")
        passages = [
            passage for source in row.sources if (passage := await self._present(source, done, principal)) is not None
        ]
        after = await asyncio.to_thread(
            self._auditor.audit,
            done.answer,
            passages=passages,
            labels={passage.label for passage in done.passages} | {source.label for source in row.sources},
            question=stored.question,
            tier=done.tier,
            tenant=principal.tenant,
            tool_results={},
        )
        cited = {source.label for source in row.sources}
        pairs = [
            (before, now if _rests_on(before, cited) else before)
            for before, now in zip(done.audit.sentences, after.sentences, strict=False)
        ]
        return Reaudit(
            run_id=run_id,
            done=True,
            risk=risk_of([now for _, now in pairs], done.audit.violations),
            changes=tuple(
                ChangedVerdict(index=before.index, before=before.kind, after=now.kind)
                for before, now in pairs
                if before.kind != now.kind
            ),
        )

    async def _present(self, source: AuditSource, done: RunCompleted, principal: Principal) -> Passage | None:
        """Return what stands now in the place of a cited passage; None where nothing does."""
        document_id = await asyncio.to_thread(self._standings.successor, principal.tenant, source.document_id)
        if document_id is None:
            return None
        chunks = await self._library.read_document(principal, document_id, SearchFilter())
        if not chunks:
            return None
        same = next((at for at, chunk in enumerate(chunks) if chunk.chunk_id == source.chunk_id), None)
        said = " ".join(each.text for each in done.audit.sentences if source.label in each.labels)
        at = _closest(said, chunks) if same is None else same
        former = next(passage for passage in done.passages if passage.label == source.label)
        return former.model_copy(
            update={
                "chunk": chunks[at],
                "context_before": chunks[at - 1].text if at else "",
                "context_after": chunks[at + 1].text if at + 1 < len(chunks) else "",
            }
        )


def _rests_on(verdict: SentenceVerdict, cited: set[str]) -> bool:
    """Tell whether a sentence cites documents alone: results of tools are not looked up again."""
    return bool(verdict.labels) and cited.issuperset(verdict.labels)


def _closest(said: str, chunks: Sequence[Chunk]) -> int:
    wanted = content_terms(said)
    return max(range(len(chunks)), key=lambda at: share(wanted, content_terms(chunks[at].text)))
