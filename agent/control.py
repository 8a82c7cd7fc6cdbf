"""What people want of a run that is going on: pause, edit, resume, approve, deny, answer.

Nothing is stored here: what was wanted becomes an event when it takes effect, and a run that goes on
after a restart finds its state in its journal. All use is on one event loop, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Literal

from agent.emitter import Emitter
from agent.errors import RunConflictError
from agent.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandedOver,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    RunEdited,
    RunPaused,
    RunResumed,
)
from agent.plan_items import PlanItem
from agent.tape import Tape
from agent.tools.base import Approval, ToolSpec
from retrieval.types import Value

Waiting = Literal["paused", "approval", "answer"]
Before = Literal["step", "call"]


class Edit(Value):
    """A change of a paused run; secrets of its texts already replaced by pseudonyms."""

    target: Literal["question", "plan_item", "call"]
    item: str = ""
    text: str = ""
    arguments: dict[str, Any] | None = None


class RunControl:
    """The controls of one run."""

    def __init__(self) -> None:
        self._pause = False
        self._wanted: asyncio.Queue[Edit | Literal["resume"]] = asyncio.Queue()
        self._reply: asyncio.Future[bool | str] | None = None
        self._waiting: Waiting | None = None
        self._waits = asyncio.Event()
        self.before: Before = "step"
        """Where a paused run stands."""
        self.plan_items: Callable[[], frozenset[str]] = frozenset
        """Ids of the items of its plan."""
        self.leaving = False
        """True: the process goes; the run is left as it is, without an end."""

    @property
    def waiting(self) -> Waiting | None:
        """What the run waits for."""
        return self._waiting

    @waiting.setter
    def waiting(self, waiting: Waiting | None) -> None:
        self._waiting = waiting
        if waiting is not None:
            self._waits.set()
        else:
            self._waits.clear()

    async def waits(self) -> None:
        """Return as soon as the run waits for a person."""
        await self._waits.wait()

    def pause(self) -> None:
        """Stop before the next step or call."""
        self._pause = True

    def resume(self) -> None:
        """Go on.

        Raises:
            RunConflictError: it is not paused, and no pause was asked for.
        """
        if self.waiting == "paused":
            self._wanted.put_nowait("resume")
            self.waiting = None
        elif not self._pause:
            raise RunConflictError("the run is not paused")
        self._pause = False

    def edit(self, edit: Edit) -> None:
        """Change the question, a plan item or the arguments of the call that comes next.

        Raises:
            RunConflictError: it is not paused, or has nothing of the kind to change.
        """
        if self.waiting != "paused":
            raise RunConflictError("only a paused run can be edited; pause it and wait for run_paused")
        if edit.target == "call" and self.before != "call":
            raise RunConflictError("the run does not stand before a call")
        if edit.target == "plan_item" and edit.item not in self.plan_items():
            raise RunConflictError(f"the plan has no item {edit.item!r}")
        self._wanted.put_nowait(edit)

    def decide(self, *, approved: bool) -> None:
        """Approve or deny what waits for it.

        Raises:
            RunConflictError: nothing waits for approval.
        """
        self._answer("approval", approved, "nothing of the run waits for approval")

    def answer(self, text: str) -> None:
        """Answer the run's question.

        Raises:
            RunConflictError: it has asked nothing.
        """
        self._answer("answer", text, "the run has asked nothing")

    def _answer(self, waiting: Waiting, value: bool | str, else_: str) -> None:
        if self.waiting != waiting or self._reply is None or self._reply.done():
            raise RunConflictError(else_)
        self._reply.set_result(value)

    async def wanted(self) -> Edit | Literal["resume"]:
        """Wait for the next thing that is wanted of the paused run."""
        return await self._wanted.get()

    async def replied(self, waiting: Literal["approval", "answer"]) -> bool | str:
        """Wait for a person."""
        self._reply = asyncio.get_running_loop().create_future()
        self.waiting = waiting
        try:
            return await self._reply
        finally:
            self.waiting, self._reply = None, None

    @property
    def pause_wanted(self) -> bool:
        """Whether the run is to stop at the next place where it can."""
        return self._pause


class Desk:
    """Where a run meets people: each thing that waits is an event, and so is what becomes of it.

    While the run is repeated from its journal, people have answered already.
    """

    def __init__(self, control: RunControl | None, tape: Tape, emit: Emitter, *, attended: bool = False) -> None:
        """Take the controls; without them nobody can be asked.

        Args:
            control: of the run.
            tape: of the run.
            emit: makes its events.
            attended: somebody reads the run while it goes on and answers what it asks.
        """
        self._control = control
        self._tape = tape
        self._emit = emit
        self._waited_s = 0.0
        self.may_ask = attended
        """False: the reader cannot be asked."""
        self.questions = 0
        """Asked so far."""

    @property
    def waiting(self) -> bool:
        """True while the run waits for a person."""
        return self._control is not None and self._control.waiting is not None

    @property
    def waited_s(self) -> float:
        """Seconds of waiting for people that no limit of the run has been moved by."""
        return self._waited_s

    def take_waited(self) -> float:
        """Return those seconds, and begin to count anew."""
        waited, self._waited_s = self._waited_s, 0.0
        return waited

    async def approve(self, spec: ToolSpec, arguments: dict[str, Any]) -> Approval:
        """Ask whether a call may run."""
        return await self._approval(what="call", tool=spec.name, arguments=arguments)

    async def confirm(self, item: str, text: str) -> Approval:
        """Ask whether a plan item may be done."""
        return await self._approval(what="plan_item", item=item, text=text)

    async def ask(self, question: str) -> str:
        """Ask the reader and wait for the answer."""
        self.questions += 1
        self._emit.aside(QuestionAsked, question=question)
        told = self._tape.peek(self._emit)
        if isinstance(told, QuestionAnswered):
            return self._emit.aside(QuestionAnswered, text=told.text).text
        self._tape.go_live(self._emit)
        text = str(await self._person("answer"))
        return self._emit.aside(QuestionAnswered, text=text).text

    def planned(self, items: Sequence[PlanItem]) -> None:
        """Tell how the plan stands."""
        self._emit.aside(PlanChanged, items=tuple(items))

    def hand_over(self, question: str, reason: str, items: Sequence[PlanItem]) -> None:
        """Tell that the run goes to a person."""
        self._emit.aside(HandedOver, question=question, reason=reason, plan=tuple(items))

    async def _approval(self, **asked: Any) -> Approval:
        if self._control is None and not self._tape.playing:
            return "denied"
        if not isinstance(self._tape.peek(self._emit), ApprovalRequested):
            self._tape.go_live(self._emit)
        self._emit.aside(ApprovalRequested, **asked)
        told = self._tape.peek(self._emit)
        if isinstance(told, ApprovalDecided):
            approved = told.approved
        else:
            self._tape.go_live(self._emit)
            approved = bool(await self._person("approval"))
        self._emit.aside(ApprovalDecided, approved=approved)
        if not self._tape.playing:
            await self._emit.told()  # before anything is done: after a crash it must be known that it may have been
        return "approved" if approved else "denied"

    async def gate(self, before: Before) -> AsyncGenerator[Event, None]:
        """Stop here if that is wanted; the events tell what was done meanwhile."""
        control, tape, emit = self._control, self._tape, self._emit
        pause = not tape.playing and control is not None and control.pause_wanted
        if not (pause or isinstance(tape.peek(emit), RunPaused)):
            return
        yield emit(RunPaused, before=before)
        while True:
            told = tape.peek(emit)
            if isinstance(told, RunEdited):
                yield emit(RunEdited, target=told.target, item=told.item, text=told.text, arguments=told.arguments)
                continue
            if isinstance(told, RunResumed):
                yield emit(RunResumed)
                return
            tape.go_live(emit)
            wanted = await self._paused(before)
            if wanted == "resume":
                yield emit(RunResumed)
                return
            yield emit(RunEdited, **wanted.model_dump())

    async def _paused(self, before: Before) -> Edit | Literal["resume"]:
        control = self._control
        if control is None:
            return "resume"
        control.waiting, control.before = "paused", before
        since = asyncio.get_running_loop().time()
        try:
            return await control.wanted()
        finally:
            control.waiting = None
            self._waited_s += asyncio.get_running_loop().time() - since

    async def _person(self, waiting: Literal["approval", "answer"]) -> bool | str:
        if self._control is None:
            return False if waiting == "approval" else ""
        since = asyncio.get_running_loop().time()
        try:
            return await self._control.replied(waiting)
        finally:
            self._waited_s += asyncio.get_running_loop().time() - since
