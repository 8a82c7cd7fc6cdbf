"""One run, from its question to its terminal event.

The final answer of a step is held back until the model has closed it: an answer that breaks off is
no answer (it is asked for again), and what was streamed always equals what is stored. Only the
answer that follows `finish`, plain text without a closing tag, streams while it is written; if
it breaks off, the run fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.answer_cache import Asked, CachedAnswer
from agent.answering import Answering
from agent.context import RunContext
from agent.cost import CostMeter
from agent.egress import document_labels
from agent.emitter import Emitter
from agent.events import Event, GuardFired, Notice, PassagesRetrieved, RunCompleted, RunStarted, TriggerDecided
from agent.ports import Decision
from agent.reading import RunTimeoutError, within
from agent.run import RunRequest
from agent.state import Parts, RunAbortedError, RunState
from agent.steps import Steps
from agent.tools.base import ToolContext
from agent.tools.whitelist import offer
from agent.windows import page_chars
from prompts.values import DocumentHint
from retrieval.labels import LabelBook
from retrieval.neutralise import neutralise_line
from retrieval.types import Principal, SearchFilter

_GRACE_S = 30.0
"""What the fallback model gets to write from what was found when the time of a run is spent."""

_AGAIN_ZH = "同样的问题在 {at} 回答过（运行 {run}），文档此后没有变化；出处已重新核对。"
_AGAIN_EN = (
    "The same question was answered at {at} (run {run}), and no document has changed since; "
    "the sources are checked again."
)


class Execution:
    """Runs one question with the parts of an agent."""

    def __init__(self, parts: Parts, request: RunRequest, principal: Principal, emit: Emitter) -> None:
        tools = ToolContext(
            principal=principal,
            language=request.language,
            book=LabelBook(),
            searcher=parts.searcher,
            library=parts.library,
            filter=request.filter or SearchFilter(),
            max_chars=parts.settings.observation_chars,
            page_chars=page_chars(parts.window, parts.settings.observation_chars),
            run_id=request.run_id,
            seen_labels={label for said in request.before for label in said.labels},
        )
        self._state = RunState(
            parts=parts,
            request=request,
            principal=principal,
            emit=emit,
            tools=tools,
            model=parts.model,
            started=parts.clock.monotonic(),
            deadline=asyncio.get_running_loop().time() + parts.settings.run_timeout_s,
            meter=CostMeter(parts.prices),
        )

    async def events(self) -> AsyncGenerator[Event, None]:
        """Emit everything up to `run_completed`; whatever ends the run otherwise is raised."""
        state = self._state
        parts = state.parts
        request = state.request
        yield state.emit(
            RunStarted,
            question=request.question,
            asked=request.asked,
            conversation_id=request.conversation_id,
            model=parts.model.name,
            encoder=parts.encoder,
        )
        asked, known = await self._ask()
        if known is not None:
            async with aclosing(self._answer_again(known)) as events:
                async for event in events:
                    yield event
            return
        decision = await within(
            state.deadline,
            parts.trigger.decide(request.question, state.principal, state.filter, run_id=request.run_id),
        )
        yield await self._decided(decision)
        if self._state.tier == "strong":
            yield await self._search_at_once(decision)
        context = await self._context()
        try:
            for phase in (Steps(state, context), Answering(state, context)):
                async with aclosing(phase.events()) as events:
                    async for event in events:
                        if asked is not None and isinstance(event, RunCompleted):
                            self._keep(asked, decision, event)
                        yield event
        except RunTimeoutError:
            async with aclosing(self._answer_late(context)) as events:
                async for event in events:
                    yield event

    async def _ask(self) -> tuple[Asked | None, CachedAnswer | None]:
        """Look the question up among those that were answered before."""
        state = self._state
        parts = state.parts
        if parts.answers is None:
            return None, None
        persona = repr(parts.persona)
        asking = parts.answers.ask(state.request, state.principal, model=parts.model.name, assistant=persona)
        return await within(state.deadline, asking)

    def _keep(self, asked: Asked, decision: Decision, done: RunCompleted) -> None:
        """Keep the answer for who asks again, unless something was not as usual."""
        state = self._state
        disturbed = state.model is not state.parts.model or state.stopped or state.search_failure is not None
        if state.parts.answers is not None and not disturbed:
            tools = {tool for tool, _ in state.observations}
            state.parts.answers.keep(asked, done, tools=tools, reasons=decision.reasons, scores=decision.scores)

    async def _answer_again(self, known: CachedAnswer) -> AsyncGenerator[Event, None]:
        """Give an answer again, with labels of this run; it is audited like any other."""
        state = self._state
        again = known.relabelled(state.tools.book)
        state.tier = again.tier
        yield state.emit(TriggerDecided, tier=again.tier, reasons=again.reasons, scores=dict(again.scores))
        if again.passages:
            state.tools.passages.add(again.passages)
            question, filter = state.request.question, state.filter
            yield state.emit(PassagesRetrieved, question=question, filter=filter, passages=again.passages)
        said = _AGAIN_ZH if state.request.language == "zh" else _AGAIN_EN
        message = said.format(at=f"{again.at:%H:%M} UTC", run=again.run_id)
        yield state.emit(Notice, code="answer_from_cache", message=message)
        state.answer = [again.answer]
        async with aclosing(Answering(state, await self._context()).events()) as events:
            async for event in events:
                yield event

    async def _decided(self, decision: Decision) -> Event:
        state = self._state
        parts = state.parts
        state.tier = parts.switches.tier(decision.tier, state.principal.tenant)
        state.candidate_documents = tuple(decision.candidate_documents)
        knowledge = state.tier != "none"
        choosing = offer(parts.tools, parts.switches, state.principal, state.filter, knowledge=knowledge)
        state.whitelist = await within(state.deadline, choosing)
        return state.emit(
            TriggerDecided,
            tier=state.tier,
            reasons=tuple(decision.reasons),
            scores=dict(decision.scores),
            candidate_documents=state.candidate_documents,
        )

    async def _search_at_once(self, decision: Decision) -> Event:
        """Search before the first model call; its passages stand in the first prompt."""
        state = self._state
        limit = asyncio.timeout(state.parts.settings.retrieval_timeout_s)
        try:
            async with limit:
                found = await state.parts.searcher.search(
                    state.request.question,
                    state.principal,
                    book=state.tools.book,
                    filter=state.filter,
                    first_stage=decision.first_stage,
                    run_id=state.request.run_id,
                )
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise RunAbortedError("retrieval_timeout", "The search took too long. Try again shortly.") from exc
        state.searched.append(state.request.question)
        state.tools.passages.add(found.passages)
        return state.emit(
            PassagesRetrieved,
            question=state.request.question,
            filter=state.filter,
            passages=tuple(found.passages),
        )

    async def _context(self) -> RunContext:
        state = self._state
        return RunContext(
            question=state.request.question,
            language=state.request.language,
            tier=state.tier,
            tools=state.whitelist,
            hints=await self._hints(),
            passages=state.tools.passages.all(),
            persona=state.parts.persona,
            form=state.form,
            window=state.parts.window,
            before=state.request.before,
        )

    async def _hints(self) -> list[DocumentHint]:
        """Name the documents in which the agent may search (tier `weak`)."""
        state = self._state
        if state.tier != "weak" or not state.candidate_documents:
            return []
        wanted = frozenset(state.candidate_documents)
        within_filter = wanted if state.filter.document_ids is None else wanted & state.filter.document_ids
        filter = state.filter.model_copy(update={"document_ids": within_filter})
        listing = state.parts.library.list_documents(state.principal, filter, limit=len(wanted))
        listed = await within(state.deadline, listing)
        state.tools.seen_labels.update(document_labels(*(card.labels for card in listed)))
        return [DocumentHint(card.document_id, neutralise_line(card.title)) for card in listed]

    async def _answer_late(self, context: RunContext) -> AsyncGenerator[Event, None]:
        """The time is spent: let the fallback, which needs no endpoint, answer from what was found."""
        state = self._state
        seconds = state.parts.settings.run_timeout_s
        yield state.emit(GuardFired, guard="run_timeout", reason=f"no answer within {seconds:g} s")
        fallback = state.parts.fallback
        if fallback is None or not state.tools.passages or state.answer:
            raise RunAbortedError("run_timeout", f"There was no answer within {seconds:g} s.")
        if state.model is not fallback:
            yield state.take_over(fallback, "run_timeout")
        state.stopped = True
        state.deadline = asyncio.get_running_loop().time() + _GRACE_S
        async with aclosing(Answering(state, context).events()) as events:
            async for event in events:
                yield event
