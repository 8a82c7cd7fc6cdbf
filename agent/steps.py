"""The ReAct steps of a run: Thought, call, observation, until an answer, `finish` or a guard."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent.calling import ToolCalls
from agent.context import RunContext
from agent.control import Before
from agent.errors import MalformedModelOutputError, ModelUnavailableError, ReplyCutError, UnknownToolError
from agent.events import (
    Event,
    EventBase,
    FormatError,
    GuardFired,
    Notice,
    PassagesRetrieved,
    RunEdited,
    StepStarted,
    ThoughtDelta,
    ToolCalled,
    ToolReturned,
)
from agent.guards import RepetitionGuard
from agent.llm import Message
from agent.observations import Observations
from agent.protocols.choice import parser_for
from agent.protocols.pieces import AnswerEnd, AnswerText, Call, Malformed, Piece, ThoughtText
from agent.reading import ReplyReader, RunTimeoutError, within
from agent.small_compressor import SmallCompressor
from agent.state import RunState
from agent.supervision import drifts, remind
from agent.tools.base import ToolResult
from agent.tools.executor import Outcome, ToolExecutor
from agent.waiting import Waiting
from prompts.render import render_note
from retrieval.neutralise import neutralise

_Guard = Literal["max_steps", "repetition", "format_retries", "token_budget", "money_budget"]


@dataclass(slots=True)
class _Reply:
    """One reply of the model, read to its end."""

    raw: str = ""
    thought: list[str] = field(default_factory=list[str])
    actions: list[Call | Malformed] = field(default_factory=list[Call | Malformed])
    answer: list[str] = field(default_factory=list[str])
    answered: bool = False

    def reset(self) -> None:
        """Forget what a stream that broke off had brought."""
        self.raw, self.thought, self.actions, self.answer, self.answered = "", [], [], [], False


class Steps:
    """Runs the steps of one run on its state."""

    def __init__(self, state: RunState, context: RunContext) -> None:
        self._state = state
        self._context = context
        self._executor = ToolExecutor(monotonic=state.parts.clock.monotonic, gates=state.parts.gates)
        model = state.parts.shortening
        self._small = None if model is None else SmallCompressor(state, model)
        self._observations = Observations(
            state.tools,
            self._small or state.parts.compressor,
            state.parts.window,
            question=state.request.question,
            language=state.request.language,
            shortened=context.note_shortened,
        )
        self._at_once = 1
        self._repetition = RepetitionGuard()
        self._broken_replies = 0
        self._last_broken = ""
        self._calls = 0
        self._done = False
        self._thought = ""
        self._notes: list[str] = []
        """What people changed of the run, for every prompt from there on."""
        self._arguments: dict[str, Any] | None = None
        """What a person put in the place of the next call's arguments."""
        self._failure: MalformedModelOutputError | None = None

    async def events(self) -> AsyncGenerator[Event, None]:
        """Step until the state holds an answer, the model asked to finish, or a guard stopped it.

        Raises:
            ModelUnavailableError: and no other model may take over.
            MalformedModelOutputError: likewise.
            RunTimeoutError: the time of the run is spent.
        """
        state = self._state
        limit = state.parts.settings.max_steps
        while not self._done:
            if state.steps == limit:
                yield self._stop("max_steps", f"no answer after {limit} steps")
                return
            async with aclosing(self._gate("step")) as events:
                async for event in events:
                    yield event
            over = await state.over_budget(self._messages())
            if over is not None:
                state.overdrawn = True
                yield self._stop(over.guard, over.reason)
                return
            state.steps += 1
            yield state.emit(StepStarted, step=state.steps)
            reply = _Reply()
            async with aclosing(self._read(reply)) as events:
                async for event in events:
                    yield event
            async with aclosing(self._act(reply)) as events:
                async for event in events:
                    yield event
            if self._failure is not None:
                raise self._failure

    async def _read(self, reply: _Reply) -> AsyncGenerator[Event, None]:
        """Read one reply; one that breaks off is asked for once more, and a model that is down is replaced."""
        for event in self._state.keep_in():
            yield event
        cut = False
        while True:
            try:
                async with aclosing(self._read_once(reply)) as events:
                    async for event in events:
                        yield event
                return
            except ModelUnavailableError as exc:
                if isinstance(exc, ReplyCutError) and not cut:
                    cut = True
                    yield self._state.ask_again()
                else:
                    fallback = self._state.fallback
                    if fallback is None:
                        raise
                    yield self._state.take_over(fallback, "model_unavailable")
                reply.reset()

    async def _read_once(self, reply: _Reply) -> AsyncGenerator[Event, None]:
        state = self._state
        since = state.parts.clock.monotonic()
        messages, told = state.concise(self._messages())
        for event in told:
            yield event
        reader = state.reader(messages, "step")
        try:
            async with aclosing(self._pieces(reader)) as pieces:
                async for piece in pieces:
                    match piece:
                        case EventBase():
                            yield piece
                        case ThoughtText(text=text):
                            reply.thought.append(text)
                            yield state.emit(ThoughtDelta, step=state.steps, text=text)
                        case AnswerText(text=text):
                            reply.answer.append(text)
                        case AnswerEnd():
                            reply.answered = True
                        case Call() | Malformed():
                            reply.actions.append(piece)
        except ReplyCutError:
            yield state.used(reader, since)  # what came of it was worked for
            raise
        reply.raw = reader.text
        yield state.used(reader, since)

    async def _pieces(self, reader: ReplyReader) -> AsyncGenerator[Piece | Event, None]:
        """Read a reply, and meanwhile tell the reader when its first piece is long in coming."""
        state, settings = self._state, self._state.parts.settings
        async with aclosing(reader.pieces(parser_for(state.form, state.whitelist))) as pieces:
            if state.tape.next_is_told:
                first = await anext(pieces, None)
            else:
                left = max(0.0, state.deadline - asyncio.get_running_loop().time() - settings.slow_step_s)
                waiting = Waiting(
                    _first(pieces),
                    state.emit,
                    until=lambda: math.inf,  # the reader of the reply keeps the deadline
                    patience_s=settings.slow_step_s,
                    slow=lambda: state.slow("step", left),
                )
                async with aclosing(waiting.events()) as events:
                    async for event in events:
                        yield event
                first = waiting.result
            if first is None:
                return
            yield first
            async for piece in pieces:
                yield piece

    async def _gate(self, before: Before) -> AsyncGenerator[Event, None]:
        """Stop where a person wants it, and take up what was changed meanwhile."""
        state = self._state
        async with aclosing(state.desk.gate(before)) as events:
            async for event in events:
                yield event
                if isinstance(event, RunEdited):
                    self._take_up(event)
        state.deadline += state.desk.take_waited()

    def _take_up(self, edit: RunEdited) -> None:
        state, language = self._state, self._state.request.language
        match edit.target:
            case "question":
                state.request = state.request.model_copy(update={"question": edit.text})
                state.tools.question = edit.text
                self._context.reask(edit.text)
                self._notes.append(render_note(language, "question_changed", text=neutralise(edit.text)))
            case "plan_item":
                state.tools.plan.reword(edit.item, edit.text)
                text = state.tools.plan.what_next(language)
                self._notes.append(render_note(language, "plan_changed", text=neutralise(text)))
            case "call":
                self._arguments = edit.arguments

    def _messages(self) -> tuple[Message, ...]:
        """Return the conversation; what people changed stands with its last message."""
        messages = self._context.messages()
        if not self._notes:
            return messages
        last = messages[-1]
        return (*messages[:-1], last.model_copy(update={"content": "\n\n".join([last.content, *self._notes])}))

    async def _act(self, reply: _Reply) -> AsyncGenerator[Event, None]:
        if reply.answered and not any(isinstance(action, Call) for action in reply.actions):
            reminder = remind(self._state.tools.plan, self._state.request.language)
            if reminder:
                yield self._state.emit(Notice, code="plan_open", message=reminder)
                self._context.add_reminder(reply.raw, neutralise(reminder))
                return
            self._state.answer = reply.answer
            self._done = True
            return
        self._thought = "".join(reply.thought)
        observations: list[str] = []
        called: list[Call] = []
        broken: list[str] = []
        self._at_once = sum(isinstance(action, Call) for action in reply.actions)
        for action in reply.actions:
            if isinstance(action, Malformed):
                broken.append(action.reason)
                yield self._state.emit(FormatError, step=self._state.steps, reason=action.reason)
                observations.append(self._context.format_error(action.reason))
                continue
            async with aclosing(self._call(action, observations, broken)) as events:
                async for event in events:
                    yield event
            called.append(action)
            if self._done:
                return
        if called:
            self._context.add_calls("".join(reply.thought), called, observations)
        else:
            self._context.add_broken(reply.raw, " ".join(broken))
        if not broken:
            self._broken_replies, self._last_broken = 0, ""
            return
        self._broken_replies += 1
        again = not called and self._broken_replies > 1 and reply.raw == self._last_broken
        self._last_broken = reply.raw
        if again or self._broken_replies > self._state.parts.settings.format_retries:
            # A model that says the same once more will not be talked out of it.
            for event in self._give_up_on_form():
                yield event

    def _give_up_on_form(self) -> list[Event]:
        """The model will not keep to the protocol: the fallback goes on, or plain text ends the run.

        Without retrieval there is nothing the fallback could answer from, and plain text is what
        the model can write: it is asked for the answer alone.
        """
        state = self._state
        fallback = state.fallback
        guard = self._guard(
            "format_retries", f"{state.model.name} broke the form {self._broken_replies} times in a row"
        )
        self._broken_replies, self._last_broken = 0, ""
        if state.tier == "none" and not state.tools.passages:
            self._done = True
            return [guard]
        if fallback is None:
            self._failure = MalformedModelOutputError(
                f"the model {state.model.name} did not keep to the form of its replies"
            )
            return [guard]
        return [guard, state.take_over(fallback, "malformed_model_output")]

    async def _call(self, call: Call, observations: list[str], broken: list[str]) -> AsyncGenerator[Event, None]:
        """Run one call; an unknown name is a broken form, everything else an observation."""
        state = self._state
        try:
            found = state.parts.tools.resolve(call.name, {spec.name for spec in state.whitelist})
        except UnknownToolError as exc:
            broken.append(str(exc))
            observations.append(self._context.format_error(str(exc)))
            yield state.emit(FormatError, step=state.steps, reason=str(exc))
            return
        tool = found.tool.spec.name
        async with aclosing(self._gate("call")) as events:
            async for event in events:
                yield event
        if self._arguments is not None:
            call, self._arguments = replace(call, arguments=self._arguments, repaired=False), None
        self._calls += 1
        call_id = f"call_{self._calls}"
        yield state.emit(
            ToolCalled,
            step=state.steps,
            call_id=call_id,
            tool=tool,
            arguments=call.arguments,
            requested_name=found.requested_name,
        )
        working = ToolCalls(state, self._executor, found.tool, call)
        async with aclosing(working.events()) as events:
            async for event in events:
                yield event
        outcome = working.outcome
        result = outcome.result
        state.tools.seen_labels.update(result.labels)
        showing = self._observations.shown(tool, outcome, at_once=self._at_once)
        shown = await within(state.deadline, showing)
        for event in self._small.used() if self._small is not None else ():
            yield event
        yield state.emit(
            ToolReturned,
            step=state.steps,
            call_id=call_id,
            tool=tool,
            ok=result.ok,
            observation=shown,
            shortened_from=len(outcome.observation) if shown != outcome.observation else None,
            quality_score=result.quality_score,
            latency_ms=outcome.latency_ms,
        )
        if result.error_code == RunTimeoutError.code:
            raise RunTimeoutError("the run took longer than it may")
        if result.passages:
            yield self._enter(result, call)
        self._note_search(result, reads_knowledge=found.tool.spec.reads_knowledge)
        state.observations.append((tool, shown))
        if result.ends_run:
            self._done = True
            return
        verdict = self._repetition.look(tool, call.arguments, _without_label(outcome))
        note = self._remark(tool, call, repeated=verdict == "repeated")
        observations.append(self._context.observation(tool, ok=result.ok, text=shown, note=note))
        if verdict == "stuck":
            yield self._stop("repetition", f"{tool} was called three times with the same arguments and result")

    def _remark(self, tool: str, call: Call, *, repeated: bool) -> str:
        """Return what is said to the model beside a result: that it goes round in circles, or off its plan."""
        state = self._state
        if repeated:
            return render_note(state.request.language, "repeated")
        plan = state.tools.plan
        if not drifts(plan, state.request.question, tool, call.arguments, self._thought):
            return ""
        text = neutralise(plan.what_next(state.request.language))
        return render_note(state.request.language, "drift", text=text)

    def _enter(self, result: ToolResult, call: Call) -> Event:
        """Let passages into the run; their labels may be cited from here on."""
        state = self._state
        state.tools.passages.add(result.passages)
        asked = result.query if result.query is not None else str(call.arguments.get("document", ""))
        return state.emit(PassagesRetrieved, question=asked, filter=result.filter, passages=result.passages)

    def _note_search(self, result: ToolResult, *, reads_knowledge: bool) -> None:
        state = self._state
        if result.query is not None:
            state.searched.append(result.query)
        if not reads_knowledge:
            return
        if result.ok:
            state.search_failure = None
        elif result.error_code != "tool_arguments" and not state.searched:
            state.search_failure = result.error_code

    def _stop(self, guard: _Guard, reason: str) -> Event:
        self._done = True
        self._state.stopped = True
        return self._guard(guard, reason)

    def _guard(self, guard: _Guard, reason: str) -> Event:
        return self._state.emit(GuardFired, guard=guard, reason=reason)


async def _first(pieces: AsyncGenerator[Piece, None]) -> Piece | None:
    return await anext(pieces, None)


def _without_label(outcome: Outcome) -> str:
    """Return the observation without the label of the call, which differs each time."""
    label = outcome.result.label
    return outcome.observation.replace(label, "") if label else outcome.observation
