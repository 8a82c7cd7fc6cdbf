"""One run, from its question to its terminal event.

The final answer of a step is held back until the model has closed it: an answer that breaks off is
no answer (it is asked for again), and what was streamed always equals what is stored. Only the
answer that follows `finish`, plain text without a closing tag, streams while it is written; if
it breaks off, the run fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from agent.answer_cache import Asked, CachedAnswer
from agent.answering import Answering
from agent.context import RunContext
from agent.control import Desk, RunControl
from agent.cost import CostMeter, PriceTable
from agent.egress import document_labels
from agent.emitter import Emitter
from agent.errors import NotResumableError
from agent.events import (
    Event,
    GuardFired,
    Notice,
    PassagesRetrieved,
    RunCompleted,
    RunStarted,
    TextDelta,
    TriggerDecided,
)
from agent.experience import PastTask
from agent.ports import Decision, Found
from agent.reading import RunTimeoutError, within
from agent.run import RunRequest
from agent.state import Parts, RunAbortedError, RunState
from agent.steps import Steps
from agent.supervision import supervised
from agent.tape import HintsEntry, OfferEntry, Tape
from agent.tools.base import ToolContext
from agent.tools.whitelist import offer
from agent.waiting import Waiting
from agent.windows import page_chars
from prompts.values import DocumentHint
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook
from retrieval.neutralise import neutralise_line
from retrieval.types import Principal, SearchFilter, Tier

_GRACE_S = 30.0
"""What the fallback model gets to write from what was found when the time of a run is spent."""

_AGAIN_ZH = "同样的问题在 {at} 回答过（运行 {run}），文档此后没有变化；出处已重新核对。"
_AGAIN_EN = (
    "The same question was answered at {at} (run {run}), and no document has changed since; "
    "the sources are checked again."
)


@dataclass(frozen=True, slots=True)
class _Told:
    """A trigger's decision that stands in the journal."""

    tier: Tier
    reasons: tuple[str, ...]
    scores: Mapping[str, float]
    candidate_documents: tuple[str, ...]
    first_stage: FirstStage | None = None


class Execution:
    """Runs one question with the parts of an agent."""

    def __init__(
        self,
        parts: Parts,
        request: RunRequest,
        principal: Principal,
        emit: Emitter,
        control: RunControl | None,
        tape: Tape,
    ) -> None:
        desk = Desk(control, tape, emit, attended=request.attended and control is not None)
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
            approve=desk.approve if control is not None else None,
            question=request.question,
            desk=desk,
        )
        if control is not None:
            control.plan_items = lambda: frozenset(item.id for item in tools.plan.items())
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
            tape=tape,
            desk=desk,
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
        if state.tape.answered_before:
            async with aclosing(self._repeat_answer()) as events:
                async for event in events:
                    yield event
            return
        asked, known = await self._ask()
        if known is not None:
            async with aclosing(self._answer_again(known)) as events:
                async for event in events:
                    yield event
            return
        told = state.tape.peek(state.emit)
        if isinstance(told, TriggerDecided):
            decision: Decision = _Told(told.tier, told.reasons, told.scores, told.candidate_documents)
        else:
            state.tape.go_live(state.emit)
            deciding = parts.trigger.decide(request.question, state.principal, state.filter, run_id=request.run_id)
            decision = await within(state.deadline, deciding)
        yield await self._decided(decision)
        if self._state.tier == "strong":
            async with aclosing(self._search_at_once(decision)) as events:
                async for event in events:
                    yield event
        for event in state.route():
            yield event
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
        if parts.answers is None or state.tape.playing:
            return None, None  # a run that is repeated asked before it began
        persona = repr(parts.persona)
        asking = parts.answers.ask(state.request, state.principal, model=parts.model.name, assistant=persona)
        return await within(state.deadline, asking)

    def _keep(self, asked: Asked, decision: Decision, done: RunCompleted) -> None:
        """Keep the answer for who asks again, unless something was not as usual."""
        state = self._state
        disturbed = state.model is not state.begun_by or state.stopped or state.search_failure is not None
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

    async def _repeat_answer(self) -> AsyncGenerator[Event, None]:
        """Repeat a run that gave an answer of before; what it was stands in its journal."""
        state = self._state
        for told in state.tape.stored[state.emit.next_seq :]:
            match told:
                case TriggerDecided():
                    state.tier = told.tier
                    yield state.emit(TriggerDecided, tier=told.tier, reasons=told.reasons, scores=told.scores)
                case PassagesRetrieved():
                    for passage in told.passages:
                        state.tools.book.label(passage.chunk)
                    state.tools.passages.add(told.passages)
                    fields = {"question": told.question, "filter": told.filter, "passages": told.passages}
                    yield state.emit(PassagesRetrieved, **fields)
                case Notice(code="answer_from_cache"):
                    yield state.emit(Notice, code=told.code, message=told.message)
                case TextDelta():
                    state.answer.append(told.text)
                case _:
                    break
        if not state.answer:
            raise NotResumableError("the answer of before is not in the journal")
        async with aclosing(Answering(state, await self._context()).events()) as events:
            async for event in events:
                yield event

    async def _decided(self, decision: Decision) -> Event:
        state = self._state
        parts = state.parts
        state.tier = parts.switches.tier(decision.tier, state.principal.tenant)
        state.candidate_documents = tuple(decision.candidate_documents)
        knowledge = state.tier != "none"
        entry = state.tape.take("offer", state.emit)
        if isinstance(entry, OfferEntry):
            specs = {tool.spec.name: tool.spec for tool in parts.tools.all()}
            state.whitelist = tuple(specs[name] for name in entry.tools if name in specs)
        else:
            choosing = offer(parts.tools, parts.switches, state.principal, state.filter, knowledge=knowledge)
            offered = await within(state.deadline, choosing)
            state.whitelist = supervised(offered, state.request.question, attended=state.desk.may_ask)
            names = tuple(spec.name for spec in state.whitelist)
            state.tape.add(OfferEntry(seq=state.emit.next_seq, tools=names))
        return state.emit(
            TriggerDecided,
            tier=state.tier,
            reasons=tuple(decision.reasons),
            scores=dict(decision.scores),
            candidate_documents=state.candidate_documents,
        )

    async def _search_at_once(self, decision: Decision) -> AsyncGenerator[Event, None]:
        """Search before the first model call; its passages stand in the first prompt."""
        state, settings = self._state, self._state.parts.settings
        told = state.tape.peek(state.emit)
        if isinstance(told, PassagesRetrieved):
            passages = told.passages
            for passage in passages:
                state.tools.book.label(passage.chunk)
        else:
            state.tape.go_live(state.emit)
            deadline = asyncio.get_running_loop().time() + settings.retrieval_timeout_s
            left = settings.retrieval_timeout_s - settings.slow_retrieval_s
            searching = Waiting(
                self._search(decision),
                state.emit,
                until=lambda: deadline,
                patience_s=settings.slow_retrieval_s,
                slow=lambda: state.slow("retrieval", left),
            )
            async with aclosing(searching.events()) as events:
                async for event in events:
                    yield event
            if searching.expired:
                raise RunAbortedError("retrieval_timeout", "The search took too long. Try again shortly.")
            passages = tuple(searching.result.passages)
        state.searched.append(state.request.question)
        state.tools.passages.add(passages)
        yield state.emit(
            PassagesRetrieved, question=state.request.question, filter=state.filter, passages=tuple(passages)
        )

    async def _search(self, decision: Decision) -> Found:
        state = self._state
        return await state.parts.searcher.search(
            state.request.question,
            state.principal,
            book=state.tools.book,
            filter=state.filter,
            first_stage=decision.first_stage,
            run_id=state.request.run_id,
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
            experience=await self._experience(),
        )

    async def _experience(self) -> Sequence[PastTask]:
        """Return finished tasks like this one, for models that read prompts."""
        known, state = self._state.parts.experience, self._state
        if known is None or state.model.name in PriceTable.FREE:
            return ()
        return await within(state.deadline, asyncio.to_thread(known.similar, state.request.question, state.principal))

    async def _hints(self) -> list[DocumentHint]:
        """Name the documents in which the agent may search (tier `weak`)."""
        state = self._state
        if state.tier != "weak" or not state.candidate_documents:
            return []
        entry = state.tape.take("hints", state.emit)
        if isinstance(entry, HintsEntry):
            state.tools.seen_labels.update(entry.labels)
            if state.tape.strict:
                return []  # they stand in prompts alone, and nobody reads these
        wanted = frozenset(state.candidate_documents)
        within_filter = wanted if state.filter.document_ids is None else wanted & state.filter.document_ids
        filter = state.filter.model_copy(update={"document_ids": within_filter})
        listing = state.parts.library.list_documents(state.principal, filter, limit=len(wanted))
        listed = await within(state.deadline, listing)
        labels = document_labels(*(card.labels for card in listed))
        state.tools.seen_labels.update(labels)
        state.tape.add(HintsEntry(seq=state.emit.next_seq, labels=tuple(sorted(labels))))
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
