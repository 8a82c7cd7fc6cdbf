"""The answer of a run: write it where the steps gave none, and stream it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.concluding import Concluding
from agent.context import RunContext
from agent.cost import PriceTable
from agent.drafts import fault_of
from agent.errors import MalformedModelOutputError, ModelUnavailableError, ReplyCutError
from agent.events import Event, GuardFired
from agent.models.wording import wording
from agent.protocols.pieces import AnswerEnd, AnswerText
from agent.protocols.plain import PlainProtocol
from agent.reading import RunTimeoutError
from agent.state import RunAbortedError, RunState, TakeOverReason
from retrieval.labels import find_tags


class Answering:
    """Gives the reader the answer of one run."""

    def __init__(self, state: RunState, context: RunContext) -> None:
        self._state = state
        self._context = context
        self._concluding = Concluding(state, context)

    async def events(self) -> AsyncGenerator[Event, None]:
        """Emit the answer, its citations, its audit and `run_completed`.

        Raises:
            RunAbortedError: the documents could not be searched, or the model broke off while writing.
            ModelUnavailableError: and no other model may take over.
            MalformedModelOutputError: likewise.
            RunTimeoutError: the time of the run is spent.
        """
        state = self._state
        self._refuse_without_search()
        if self._nothing_to_answer_from():
            state.answer = [wording(state.request.language).not_in_documents]
        if self._has_fault():
            async with aclosing(self._complete()) as events:
                async for event in events:
                    yield event
        elif state.answer:
            for text in state.answer:
                for event in self._concluding.told(text):
                    yield event
        else:
            async with aclosing(self._write()) as events:
                async for event in events:
                    yield event
        async with aclosing(self._concluding.events()) as events:
            async for event in events:
                yield event

    def _refuse_without_search(self) -> None:
        """A search that failed must not end in "not in your documents"."""
        state = self._state
        if state.search_failure is not None and not state.tools.passages:
            raise RunAbortedError(state.search_failure, "The documents could not be searched. Try again shortly.")

    def _nothing_to_answer_from(self) -> bool:
        """Tell whether the question aims at the documents, and nothing was found that an answer could cite."""
        state = self._state
        if state.tier != "strong" or state.tools.passages:
            return False
        return not any(tag.label in state.tools.book for tag in find_tags("".join(state.answer)))

    def _has_fault(self) -> bool:
        """Tell whether the model that speaks wrote a draft rather than an answer, and can be asked to complete it."""
        state = self._state
        # No steps: the answer is one of before. What quotes speaks the language of its sources.
        if not state.steps or not state.answer or state.overdrawn or state.model.name in PriceTable.FREE:
            return False
        draft, asked = "".join(state.answer), state.request
        return fault_of(draft, asked.question, asked.language) is not None

    async def _complete(self) -> AsyncGenerator[Event, None]:
        """Write the answer from the draft; where that fails before anything is seen, the draft is the answer."""
        state = self._state
        state.draft, state.answer = "".join(state.answer), []
        found = state.tools.passages.all(), state.tools.remarked_results()
        over = await state.over_budget(self._context.finish_messages(*found, draft=state.draft))
        if over is not None:
            state.overdrawn = True
            yield state.emit(GuardFired, guard=over.guard, reason=over.reason)
        try:
            if over is None:
                async with aclosing(self._write()) as events:
                    async for event in events:
                        yield event
        except (ModelUnavailableError, MalformedModelOutputError, RunAbortedError, RunTimeoutError):
            if state.answer:
                raise
        if not state.answer:
            state.answer = [state.draft]
            for event in self._concluding.told(state.draft):
                yield event

    async def _write(self) -> AsyncGenerator[Event, None]:
        """Let the model write the answer as plain text; the fallback writes it where that fails unseen."""
        state = self._state
        for event in await self._heed_budget():
            yield event
        for event in state.keep_in():
            yield event
        cut = False
        while not state.answer:
            why: TakeOverReason = "malformed_model_output"
            try:
                async with aclosing(self._write_once()) as events:
                    async for event in events:
                        yield event
            except ModelUnavailableError as exc:
                if state.answer:
                    raise RunAbortedError(exc.code, "The model broke off while it wrote the answer.") from exc
                if isinstance(exc, ReplyCutError) and not cut:
                    cut = True
                    yield state.ask_again()
                    continue
                if state.fallback is None:
                    raise
                why = "model_unavailable"
            if state.answer:
                return
            fallback = state.fallback
            if fallback is None:
                raise MalformedModelOutputError(f"the model {state.model.name} wrote no answer")
            yield state.take_over(fallback, why)

    async def _heed_budget(self) -> list[Event]:
        """Let the fallback, which costs nothing, write where a budget is spent.

        Raises:
            RunAbortedError: and there is no fallback.
        """
        state = self._state
        asked = self._context.finish_messages(state.tools.passages.all(), state.tools.remarked_results())
        over = await state.over_budget(asked)
        if over is None and not state.overdrawn:
            return []
        events: list[Event] = []
        if over is not None and not state.overdrawn:
            state.stopped = state.overdrawn = True
            events.append(state.emit(GuardFired, guard=over.guard, reason=over.reason))
        last = state.parts.fallback
        if state.model is last:
            return events
        if last is None:
            raise RunAbortedError("budget_exceeded", "The budget is spent, and there is no answer yet.")
        return [*events, state.take_over(last, "budget_exceeded")]

    async def _write_once(self) -> AsyncGenerator[Event, None]:
        state = self._state
        since = state.parts.clock.monotonic()
        found = state.tools.passages.all(), state.tools.remarked_results()
        messages = self._context.finish_messages(*found, draft=state.draft)
        reader = state.reader(messages, "finish")
        parser = PlainProtocol()
        held: list[str] = []
        async with aclosing(reader.pieces(parser)) as pieces:
            async for piece in pieces:
                match piece:
                    case AnswerText(text=text) if parser.live:
                        state.answer.append(text)
                        for event in self._concluding.told(text):
                            yield event
                        for event in await self._concluding.live():
                            yield event
                    case AnswerText(text=text):
                        held.append(text)
                    case AnswerEnd():
                        for text in held:
                            state.answer.append(text)
                            for event in self._concluding.told(text):
                                yield event
                        held = []
                    case _:
                        pass
        yield state.used(reader, since)
