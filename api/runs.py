"""Runs in flight: started by a request, journalled, followed by any number of readers."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from agent.copies import RunCopies
from agent.errors import RunConflictError
from agent.events import RunCompleted
from agent.journal import Journal, Recorded
from agent.loop import Agent
from agent.outcome import outcome_of
from agent.replay import Replayed, replay
from agent.run import RunRequest, record
from agent.tape import Tape
from agent.telemetry import RunIds, Watcher, Watchers, work_for
from api.live_run import LiveRun
from api.models import ChatBody
from api.talks import Talk
from retrieval.decisions import DecisionLog
from retrieval.filters import read_filter
from retrieval.language_id import language_of
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Principal

log = logging.getLogger(__name__)


class RunService:
    """Starts runs in the background: a reader who leaves does not end the run."""

    def __init__(
        self,
        agent: Agent,
        journal: Journal,
        language: SymbolLanguage,
        *,
        copies: RunCopies,
        decisions: DecisionLog,
        knowledge: Callable[[str], int],
        hiding: Callable[[str], Callable[[str], str]],
        completed: Callable[[RunCompleted, Principal], None] = lambda _done, _principal: None,
        watcher: Watcher | None = None,
        patience_s: float,
    ) -> None:
        """Take the parts.

        Args:
            agent: answers.
            journal: keeps what is streamed.
            language: hides secrets of questions.
            copies: rewrites a run whose documents, or whose tenant's rules, changed while it was going on.
            decisions: is told what became of each question.
            knowledge: returns a tenant's knowledge version.
            hiding: returns, for a tenant, what puts a text under the rules of now.
            completed: hears of every answer, after it is stored.
            watcher: is told every event; None: nobody is.
            patience_s: how long a request waits for a run's end.
        """
        self._patience_s = patience_s
        self._copies = copies
        self._decisions = decisions
        self._knowledge = knowledge
        self._hiding = hiding
        self._completed = completed
        self._watcher = watcher or Watchers()
        self._agent = agent
        self._journal = journal
        self._language = language
        self._going: dict[str, LiveRun] = {}

    def start(self, body: ChatBody, principal: Principal, talk: Talk | None = None) -> LiveRun:
        """Start a run and return its live view; `talk` is its conversation.

        Raises:
            BadFilterError: the filter's period or a symbol of it cannot be read.
        """
        # Before the question is hidden: rules that come in between are seen to be others at the end.
        revision = self._language.of(principal.tenant).revision
        written = talk.question if talk is not None else body.question
        question = self._language.symbolise(written, tenant=principal.tenant).text
        spoken = body.language or ("zh" if language_of(body.question) == "zh" else "en")
        request = RunRequest(
            run_id=uuid.uuid4().hex,
            trace_id=uuid.uuid4().hex,
            question=question,
            language=spoken,
            filter=read_filter(body.filter, principal.tenant, self._language),
            asked=talk.asked if talk is not None else "",
            conversation_id=talk.conversation_id if talk is not None else None,
            before=talk.before if talk is not None else (),
            attended=body.attended,
        )
        live = LiveRun(request.run_id, principal)
        return self._begin(live, self._drive(request, live, Tape(), revision, fresh=True))

    def resume(self, broken: Recorded, allowed: Callable[[Principal], Principal | None]) -> None:
        """Go on with a run that a crash cut off; `allowed` tells what its owner may do today."""
        kept = broken.kept
        principal = None if kept is None else allowed(kept.principal)
        if kept is None or principal is None:
            return
        revision = self._language.of(principal.tenant).revision
        live = LiveRun(kept.request.run_id, principal, broken.events)
        tape = Tape(broken.events, broken.entries)
        self._begin(live, self._drive(kept.request, live, tape, revision, fresh=False))

    async def ends(self, live: LiveRun) -> bool:
        """Wait for a run's end; False once it waits for a person, or takes longer than a request may."""
        if live.task is None:
            return True
        waits = asyncio.create_task(live.control.waits())
        try:
            await asyncio.wait({live.task, waits}, timeout=self._patience_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waits.cancel()
        return live.task.done()

    def going(self, run_id: str, caller: Principal) -> LiveRun | None:
        """Return a run in flight that the caller may see and control: their own, or any of the tenant as admin."""
        live = self._going.get(run_id)
        if live is None or live.principal.tenant != caller.tenant:
            return None
        return live if live.principal.user == caller.user or caller.may("admin") else None

    async def cancel(self, live: LiveRun) -> None:
        """End a run, and wait until its end is written."""
        if live.task is not None:
            live.task.cancel()
            await asyncio.wait([live.task])

    async def replay(self, recorded: Recorded) -> Replayed:
        """Make a stored run once more from its tape.

        Raises:
            RunConflictError: not enough of it is kept.
        """
        kept = recorded.kept
        if kept is None or not recorded.entries:
            raise RunConflictError("nothing is kept of the run that it could be replayed from")
        return await replay(self._agent, kept.request, kept.principal, recorded.events, recorded.entries)

    async def close(self) -> None:
        """Leave what still runs as it stands in the journal: the next start goes on with it."""
        tasks = [live.task for live in self._going.values() if live.task is not None]
        for live in self._going.values():
            live.control.leaving = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, live: LiveRun, driving: Coroutine[Any, Any, None]) -> LiveRun:
        live.task = asyncio.create_task(driving)
        self._going[live.run_id] = live
        live.task.add_done_callback(lambda _: self._going.pop(live.run_id, None))
        return live

    async def _drive(self, request: RunRequest, live: LiveRun, tape: Tape, revision: str, *, fresh: bool) -> None:
        principal = live.principal
        tenant = principal.tenant
        before = revision, await asyncio.to_thread(self._knowledge, tenant)
        work_for(RunIds(request.run_id, request.trace_id))  # for this task alone, to its end
        run = self._agent.run(request, principal, control=live.control, tape=tape)
        recorded = record(
            run,
            self._journal,
            principal,
            request=request if fresh else None,
            tape=tape,
            leaving=lambda: live.control.leaving,
        )
        try:
            async for event in recorded:
                live.put(event)
                self._watcher.see(event)
                if isinstance(event, RunCompleted):
                    if (outcome := outcome_of(event)) is not None:
                        self._decisions.settle(tenant, request.run_id, outcome)
                    self._completed(event, principal)
        finally:
            live.end()
            if await asyncio.to_thread(self._rules, tenant) != before:
                await self._copies.rewrite_run(request.run_id, self._hiding(tenant))

    def _rules(self, tenant: str) -> tuple[str, int]:
        """Name what decides at this moment which texts are secret, and in which form documents have them."""
        return self._language.latest(tenant).revision, self._knowledge(tenant)
