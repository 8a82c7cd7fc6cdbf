"""Runs in flight: started by a request, journalled, followed by any number of readers."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable

from agent.copies import RunCopies
from agent.events import Event, RunCompleted
from agent.journal import Journal
from agent.loop import Agent
from agent.outcome import outcome_of
from agent.run import RunRequest, record
from agent.telemetry import RunIds, Watcher, Watchers, work_for
from api.models import ChatBody
from api.talks import Talk
from retrieval.decisions import DecisionLog
from retrieval.filters import read_filter
from retrieval.language_id import language_of
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Principal

log = logging.getLogger(__name__)


class LiveRun:
    """The events of one run so far, and a way to wait for more.

    All use is on one event loop, so nothing is locked.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._events: list[Event] = []
        self._more = asyncio.Event()
        self._ended = False

    def put(self, event: Event) -> None:
        """Add an event and wake the readers."""
        self._events.append(event)
        self._wake()

    def end(self) -> None:
        """Say that no event follows."""
        self._ended = True
        self._wake()

    async def follow(self) -> AsyncIterator[Event]:
        """Yield every event from the first on, until the run has ended."""
        index = 0
        while True:
            more = self._more
            while index < len(self._events):
                yield self._events[index]
                index += 1
            if self._ended:
                return
            await more.wait()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


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
        """
        self._copies = copies
        self._decisions = decisions
        self._knowledge = knowledge
        self._hiding = hiding
        self._completed = completed
        self._watcher = watcher or Watchers()
        self._agent = agent
        self._journal = journal
        self._language = language
        self._tasks: set[asyncio.Task[None]] = set()

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
        )
        live = LiveRun(request.run_id)
        task = asyncio.create_task(self._drive(request, principal, live, revision))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return live

    async def close(self) -> None:
        """Cancel what still runs; each run ends in its `run_cancelled`."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drive(self, request: RunRequest, principal: Principal, live: LiveRun, revision: str) -> None:
        tenant = principal.tenant
        before = revision, await asyncio.to_thread(self._knowledge, tenant)
        work_for(RunIds(request.run_id, request.trace_id))  # for this task alone, to its end
        try:
            async for event in record(self._agent.run(request, principal), self._journal, principal):
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
