"""One call of a tool in a run: executed, waited for and recorded, or taken from the tape."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent.events import ApprovalDecided, ApprovalRequested, Event
from agent.protocols.pieces import Call
from agent.reading import RunTimeoutError
from agent.state import RunState
from agent.tape import OF_THE_RUN, ToolEntry, ToolMarks, play_tool, record_tool
from agent.tools.base import Tool, ToolResult
from agent.tools.executor import Outcome, ToolExecutor
from agent.waiting import Waiting

_UNKNOWN_ZH = "{tool} 执行时进程中断，是否已经生效无法得知。请不要再次调用，在回答中说明这一点。"
_UNKNOWN_EN = (
    "The process ended while {tool} was at work; whether it took effect is not known. "
    "Do not call it again, and say so in the answer."
)


class ToolCalls:
    """One call. After `events` is exhausted its outcome stands."""

    def __init__(self, state: RunState, executor: ToolExecutor, tool: Tool, call: Call) -> None:
        self._state = state
        self._executor = executor
        self._tool = tool
        self._call = call
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """What became of the call."""
        assert self._outcome is not None, "the call has not ended"
        return self._outcome

    async def events(self) -> AsyncGenerator[Event, None]:
        """Call; the events are those that are made meanwhile (approvals, the plan, how long it takes)."""
        state, spec = self._state, self._tool.spec
        if spec.name not in OF_THE_RUN:
            half_done = state.tape.half_done(state.emit)
            entry = state.tape.take("tool", state.emit)
            if isinstance(entry, ToolEntry):
                self._outcome = play_tool(entry, state.emit, state.tools)
                return
            if half_done is not None and spec.side_effects and _may_have_acted(half_done):
                self._finish(self._unknown(), ToolMarks(state.tools), state.emit.next_seq)
                return
        marks, seq = ToolMarks(state.tools), state.emit.next_seq
        settings, begun = state.parts.settings, asyncio.get_running_loop().time()
        left = max(0.0, spec.timeout_ms / 1000 - settings.slow_tool_s)
        waiting = Waiting(
            self._executor.execute(self._tool, self._call.arguments, state.tools, repaired=self._call.repaired),
            state.emit,
            until=self._until,
            patience_s=settings.slow_tool_s,
            slow=lambda: state.slow("tool", left),
        )
        async with aclosing(waiting.events()) as events:
            async for event in events:
                yield event
        state.deadline += state.desk.take_waited()
        if waiting.expired:
            took = (asyncio.get_running_loop().time() - begun) * 1000
            self._finish(self._late(took), marks, seq)
        else:
            self._finish(waiting.result, marks, seq)

    def _until(self) -> float | None:
        """Return the deadline; while a person is waited for there is none."""
        desk = self._state.desk
        return None if desk.waiting else self._state.deadline + desk.waited_s

    def _finish(self, outcome: Outcome, marks: ToolMarks, seq: int) -> None:
        self._outcome = outcome
        if self._tool.spec.name not in OF_THE_RUN:
            record_tool(self._state.tape, self._tool.spec.name, seq, self._state.emit, outcome, marks)

    def _unknown(self) -> Outcome:
        said = _UNKNOWN_ZH if self._state.request.language == "zh" else _UNKNOWN_EN
        text = said.format(tool=self._tool.spec.name)
        return Outcome(ToolResult(ok=False, text=text, quality_score=0.0, error_code="outcome_unknown"), text, 0.0)

    def _late(self, took_ms: float) -> Outcome:
        text = f"{self._tool.spec.name} was ended with the time of the run."
        result = ToolResult(ok=False, text=text, quality_score=0.0, error_code=RunTimeoutError.code)
        return Outcome(result, text, took_ms)


def _may_have_acted(told: Sequence[Event]) -> bool:
    """Tell by what was told of a call whether its tool may have begun: not while a person had not said yes."""
    decided = [event for event in told if isinstance(event, ApprovalDecided)]
    if decided:
        return decided[-1].approved
    return not any(isinstance(event, ApprovalRequested) for event in told)
