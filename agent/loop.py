"""The agent: one question in, the events of one run out.

goal → trigger → (search) → steps of Thought, call, observation → answer → audit. The
run itself is in `agent/execution.py`; here is its boundary, where every failure becomes an event.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent.answer_cache import AnswerCache
from agent.budgets import BudgetKeeper, NoBudgets
from agent.clock import Clock, SystemClock
from agent.compression import Compressor, ExtractiveCompressor
from agent.control import RunControl
from agent.cost import PriceTable
from agent.emitter import Emitter
from agent.errors import AgentError, ReplayEndedError
from agent.events import Event, RunCancelled, RunFailed
from agent.execution import Execution
from agent.experience import Experience
from agent.llm import ChatModel
from agent.ports import Auditor, Library, Searcher, Trigger
from agent.run import RunRequest
from agent.settings import AuditSettings, LoopSettings
from agent.state import Parts, RunAbortedError
from agent.switches import Switches
from agent.tape import Tape
from agent.tools.gates import Gates
from agent.tools.registry import ToolRegistry
from prompts.errors import PromptError
from prompts.values import Persona
from retrieval.errors import RetrievalError
from retrieval.types import Principal

log = logging.getLogger(__name__)


class Agent:
    """Runs questions. Stateless between runs; several may go on at once."""

    def __init__(
        self,
        *,
        model: ChatModel,
        fallback: ChatModel | None,
        tools: ToolRegistry,
        searcher: Searcher,
        trigger: Trigger,
        auditor: Auditor,
        library: Library,
        encoder: str,
        settings: LoopSettings,
        persona: Persona | None = None,
        clock: Clock | None = None,
        answers: AnswerCache | None = None,
        spares: Sequence[ChatModel] = (),
        prices: PriceTable | None = None,
        budgets: BudgetKeeper | None = None,
        gates: Gates | None = None,
        switches: Switches | None = None,
        auditing: AuditSettings | None = None,
        compressor: Compressor | None = None,
        small: ChatModel | None = None,
        experience: Experience | None = None,
        shortening: ChatModel | None = None,
    ) -> None:
        """Take the parts of every run.

        Args:
            model: writes Thoughts, calls and answers.
            fallback: takes over when `model` is down or does not keep to the protocol; None: the run fails.
            tools: what runs may call.
            searcher: for the search that tier `strong` makes at once.
            trigger: decides the tier.
            auditor: checks every answer.
            library: names and reads documents.
            encoder: name of the encoder in use, told in events.
            settings: guards and limits.
            persona: role, duties and the assistant owner's instruction; None: the standard ones.
            clock: for tests.
            answers: gives again what was answered before; None: every question is worked out.
            spares: models that take over, in this order, before `fallback` does.
            prices: of the models; None: nothing has a price.
            budgets: refuses what would cost too much; None: nothing is refused.
            gates: rates, breakers and slots of tools; None: this agent's own.
            switches: what is off; None: nothing is.
            shortening: the model that shortens long results of tools; None: `compressor` does.
            experience: knows finished tasks, which the model is shown; None: none are.
            small: begins with simple questions; None: `model` begins with all.
            compressor: makes long results of tools fit; None: by their own sentences.
            auditing: what follows from audits, by tenant; None: their verdicts alone.
        """
        self._parts = Parts(
            model=model,
            fallback=None if fallback is model else fallback,
            tools=tools,
            searcher=searcher,
            trigger=trigger,
            auditor=auditor,
            library=library,
            encoder=encoder,
            settings=settings,
            persona=persona or Persona(),
            clock=clock or SystemClock(),
            answers=answers,
            spares=tuple(spares),
            prices=prices or PriceTable({}),
            budgets=budgets or NoBudgets(),
            gates=gates or Gates(),
            switches=switches or Switches(),
            small=small,
            experience=experience,
            shortening=shortening,
            compressor=compressor or ExtractiveCompressor(),
            auditing=auditing or AuditSettings(),
        )

    async def run(
        self,
        request: RunRequest,
        principal: Principal,
        *,
        control: RunControl | None = None,
        tape: Tape | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run one question; the last event is terminal.

        Cancelling the task that iterates gives `run_cancelled` and then raises as usual. Closing the
        iterator ends the run at once; nothing can be emitted any more, and `agent.run.record` writes
        the `run_cancelled`.

        Args:
            request: what is asked.
            principal: for whom.
            control: what people want of the run; None: nobody can be asked, and nothing waits.
            tape: records what comes from outside; one with a former recording makes the run go on from
                where its journal ends, and only new events come out.

        Raises:
            ReplayEndedError: a strict tape has nothing to go on with.
        """
        tape = tape or Tape()
        emit = Emitter(request.run_id, request.trace_id, self._parts.clock)
        tape.thread(emit)
        execution = Execution(self._parts, request, principal, emit, control, tape)
        try:
            async with aclosing(execution.events()) as events:
                async for event in events:
                    for each in (*emit.take_aside(below=event.seq), event):
                        if tape.passes(each):
                            yield each
        except asyncio.CancelledError:
            if not emit.ended and not (control is not None and control.leaving):
                for each in _last(emit, tape, RunCancelled):
                    yield each
            raise
        except ReplayEndedError:
            raise
        except (AgentError, RetrievalError, PromptError, RunAbortedError) as exc:
            log.warning("run %s failed: %s", request.run_id, exc.code)
            for each in _last(emit, tape, RunFailed, code=exc.code, message=_plain(exc)):
                yield each
        except Exception as exc:  # noqa: BLE001 -- the run boundary: every fault ends in an event
            # Frames only: the exception's own text may carry what a document says.
            frames = "".join(traceback.format_tb(exc.__traceback__))
            log.error("run %s failed with %s\n%s", request.run_id, type(exc).__name__, frames)
            message = "The run failed inside attest; the log has the trace."
            for each in _last(emit, tape, RunFailed, code="run_failed", message=message):
                yield each


def _last(emit: Emitter, tape: Tape, kind: type[RunCancelled | RunFailed], **fields: str) -> list[Event]:
    """Return the last events of a run, behind all that are stored."""
    if not tape.strict:
        tape.settle(emit)
    return [*(each for each in emit.take_aside() if tape.is_new(each)), emit(kind, **fields)]


_MESSAGES = {
    "model_unavailable": "The chat model gave no answer. Try again shortly.",
    "interrupted": "The process ended while the run was going on. Ask again.",
}


def _plain(exc: Exception) -> str:
    """Return the message for the reader: messages of stores and endpoints may name hosts, so they get fixed ones."""
    if isinstance(exc, RetrievalError):
        return exc.plainly()
    code = getattr(exc, "code", "")
    return _MESSAGES.get(code) or str(exc)
