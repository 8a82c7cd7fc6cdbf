"""What a run takes from outside, in order: the replies of models and the results of tools.

Kept beside the journal it makes runs repeatable: the same code given the same tape makes the same events.
So a run that broke off goes on from where its journal ends, and a replay shows where changed code differs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from agent.emitter import Emitter
from agent.errors import AgentError, ModelUnavailableError, NotResumableError, ReplayEndedError, ReplyCutError
from agent.events import Event, EventBase, Notice, RunCancelled
from agent.llm import ChatModel, ChatPiece, ChatRequest
from agent.protocols.pieces import CallDelta
from agent.reading import RunTimeoutError
from agent.tools.base import ToolContext, ToolResult
from agent.tools.executor import Outcome
from retrieval.types import Value

OF_THE_RUN = frozenset({
    *("plan_create", "plan_update", "ask_user", "hand_over", "finish", "write_document", "read_artifact"),
})
"""Tools that change nothing but the run itself: they are run again, not read from the tape."""
TIMED = frozenset({"resumed", "taking_longer"})
"""Codes of notices that come of time and restarts, not of what the run does."""
_LOST = frozenset({
    *("step_started", "thought_delta", "notice", "tool_called", "approval_requested", "approval_decided"),
})
"""What may stand in the journal from a step that broke off and is made again."""


class ReplyPiece(Value):
    """One piece of a streamed reply."""

    text: str = ""
    thinking: str = ""
    calls: tuple[CallDelta, ...] = ()
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ReplyEntry(Value):
    """One model call, as it was streamed."""

    kind: Literal["reply"] = "reply"
    seq: int
    """Number of the event that came next when the call began."""
    model: str
    pieces: tuple[ReplyPiece, ...]
    error: Literal["unavailable", "cut", "stopped", "failed"] | None = None
    """How it broke off, without its message, which may name hosts; `stopped`: by a time limit or with the run."""


class ToolEntry(Value):
    """One tool call's outcome, and what it left in the run's context."""

    kind: Literal["tool"] = "tool"
    seq: int
    end_seq: int
    """Number of the event that came next when it had ended; those between belong to the call."""
    tool: str
    result: ToolResult
    observation: str
    latency_ms: float
    citable: dict[str, str] = Field(default_factory=dict[str, str])
    low_quality: tuple[str, ...] = ()
    untrusted: bool = False
    queries: int = 0


class OfferEntry(Value):
    """The tools that the run was offered: what is of use to whom changes with the documents."""

    kind: Literal["offer"] = "offer"
    seq: int
    tools: tuple[str, ...]


class HintsEntry(Value):
    """The labels of the documents that the first prompt named."""

    kind: Literal["hints"] = "hints"
    seq: int
    labels: tuple[str, ...]


Entry = Annotated[ReplyEntry | ToolEntry | OfferEntry | HintsEntry, Field(discriminator="kind")]
ENTRY_ADAPTER: TypeAdapter[Entry] = TypeAdapter(Entry)


class Tape:
    """The tape of one run: records, and plays what was recorded before.

    A run that is played makes its stored events once more; they are compared by kind and not passed on.
    """

    def __init__(self, stored: Sequence[Event] = (), entries: Sequence[Entry] = (), *, strict: bool = False) -> None:
        """Take a former recording.

        Args:
            stored: the run's events so far, from 0 on without a gap.
            entries: what was recorded of it.
            strict: only play; nothing outside is asked.
        """
        self.stored = tuple(stored)
        self._strict = strict
        self._entries = list(entries)
        self._at = 0
        self._live = not stored and not strict
        self._new: list[Entry] = []

    @property
    def answered_before(self) -> bool:
        """True where the run gave an answer of before again."""
        return any(isinstance(event, Notice) and event.code == "answer_from_cache" for event in self.stored)

    @property
    def strict(self) -> bool:
        """True: nothing outside is asked."""
        return self._strict

    def thread(self, emit: Emitter) -> None:
        """Prepare the maker of the run's events."""
        timed = (event for event in self.stored if isinstance(event, Notice) and event.code in TIMED)
        emit.passed_over = frozenset(event.seq for event in timed)

    @property
    def playing(self) -> bool:
        """True as long as the run repeats what was."""
        return not self._live

    @property
    def next_is_told(self) -> bool:
        """True where the next thing from outside is on the tape, so that there is nothing to wait for."""
        return not self._live and self._at < len(self._entries)

    def peek(self, emit: Emitter) -> Event | None:
        """Return the stored event in the place of the one that is made next."""
        return self.stored[emit.next_seq] if not self._live and emit.next_seq < len(self.stored) else None

    def is_new(self, event: EventBase) -> bool:
        """Tell whether an event is not stored yet; all that a strict tape makes are for who compares them."""
        return self._strict or event.seq >= len(self.stored)

    def passes(self, event: EventBase) -> bool:
        """Tell whether an event is new.

        Raises:
            NotResumableError: it differs from the one that is stored in its place.
        """
        new = self.is_new(event)
        if not new and self.stored[event.seq].kind != getattr(event, "kind", ""):
            raise NotResumableError("the run does not repeat what its journal says")
        return new

    def take(self, kind: Literal["reply", "tool", "offer", "hints"], emit: Emitter) -> Entry | None:
        """Return the next entry, or None where the run goes on by itself from here.

        Raises:
            NotResumableError: the tape says something else, or more was told already than can be made again.
            ReplayEndedError: strictly played, and the tape is at its end.
        """
        if self._live:
            return None
        if self._at == len(self._entries):
            self.go_live(emit)
            return None
        entry = self._entries[self._at]
        if entry.kind != kind:
            raise NotResumableError(f"the tape has a {entry.kind} where the run asks for a {kind}")
        self._at += 1
        if entry.seq > emit.next_seq:
            emit.jump(entry.seq)  # what a former start left half-done before it
        return entry

    def go_live(self, emit: Emitter) -> None:
        """Go on by itself: the next event follows the last stored one."""
        if self._live:
            return
        if self._strict:
            raise ReplayEndedError("the tape has ended")
        lost = self.stored[emit.next_seq :]
        if not {event.kind for event in lost} <= _LOST:
            raise NotResumableError("the answer was being written when the process ended")
        self._live = True
        self.settle(emit)
        emit.aside(Notice, code="resumed", message="The process was restarted; the run goes on.")

    def settle(self, emit: Emitter) -> None:
        """Let the next event follow the last stored one, whatever was repeated so far."""
        if emit.next_seq < len(self.stored):
            emit.jump(len(self.stored))

    def half_done(self, emit: Emitter) -> tuple[Event, ...] | None:
        """Return what is told of the call that comes next, where it had begun and its outcome is not known."""
        begun = not self._live and emit.next_seq <= len(self.stored) and self._at == len(self._entries)
        return self.stored[emit.next_seq :] if begun else None

    def add(self, entry: Entry) -> None:
        """Record."""
        if self._live:
            self._new.append(entry)

    def drain(self) -> list[Entry]:
        """Hand out what was recorded since the last call."""
        new, self._new = self._new, []
        return new


class TapedModel:
    """A model whose replies are on the tape, or come to be."""

    def __init__(self, model: ChatModel, tape: Tape, emit: Emitter) -> None:
        self._model = model
        self._tape = tape
        self._emit = emit

    @property
    def name(self) -> str:
        """The model's own."""
        return self._model.name

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Play the next reply, or ask the model and record."""
        entry = self._tape.take("reply", self._emit)
        if isinstance(entry, ReplyEntry):
            for piece in entry.pieces:
                yield _piece(piece)
            self._break_off(entry)
            return
        async with aclosing(self._recorded(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _recorded(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        seq, pieces, fault = self._emit.next_seq, list[ReplyPiece](), dict[str, str]()
        stream = self._model.stream(request)
        try:
            async for piece in stream:
                pieces.append(_kept(piece))
                yield piece
        except ReplyCutError:
            fault = {"error": "cut"}
            raise
        except AgentError:
            fault = {"error": "unavailable"}
            raise
        except GeneratorExit:
            raise  # the reply is certain; its reader wants no more
        except Exception:
            fault = {"error": "failed"}
            raise
        except BaseException:
            fault = {"error": "stopped"}
            raise
        finally:
            aclose = getattr(stream, "aclose", None)
            if aclose is not None:
                await aclose()
            self._tape.add(ReplyEntry.model_validate({"seq": seq, "model": self.name, "pieces": pieces, **fault}))

    def _break_off(self, entry: ReplyEntry) -> None:
        match entry.error:
            case "unavailable":
                raise ModelUnavailableError(f"the model {entry.model} gave no answer")
            case "cut":
                raise ReplyCutError(f"the reply of {entry.model} broke off")
            case "failed":
                raise RuntimeError("the model failed")
            case "stopped":
                after = self._tape.peek(self._emit)
                if isinstance(after, RunCancelled) or after is None:
                    raise ReplayEndedError("the run was cancelled here")
                raise RunTimeoutError("the run took longer than it may")
            case None:
                return


def record_tool(tape: Tape, tool: str, seq: int, emit: Emitter, outcome: Outcome, before: ToolMarks) -> None:
    """Put one executed call on the tape."""
    context = before.context
    tape.add(
        ToolEntry(
            seq=seq,
            end_seq=emit.next_seq,
            tool=tool,
            result=outcome.result,
            observation=outcome.observation,
            latency_ms=outcome.latency_ms,
            citable={label: text for label, text in context.results.items() if label not in before.labels},
            low_quality=tuple(sorted(context.low_quality - before.low)),
            untrusted=context.untrusted,
            queries=context.queries,
        )
    )


def play_tool(entry: ToolEntry, emit: Emitter, context: ToolContext) -> Outcome:
    """Return the outcome of a recorded call, with what it left in the context."""
    if entry.end_seq > emit.next_seq:
        emit.jump(entry.end_seq)
    for passage in entry.result.passages:
        context.book.label(passage.chunk)
    for label in (*entry.citable, *([entry.result.label] if entry.result.label else [])):
        context.book.reserve(label)
    context.results.update(entry.citable)
    context.low_quality.update(entry.low_quality)
    context.untrusted, context.queries = entry.untrusted, entry.queries
    return Outcome(entry.result, entry.observation, entry.latency_ms)


class ToolMarks:
    """What stood in a context before a call."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context
        self.labels = frozenset(context.results)
        self.low = frozenset(context.low_quality)


def _kept(piece: ChatPiece) -> ReplyPiece:
    return ReplyPiece(
        text=piece.text,
        thinking=piece.thinking,
        calls=piece.calls,
        finish_reason=piece.finish_reason,
        prompt_tokens=piece.prompt_tokens,
        completion_tokens=piece.completion_tokens,
    )


def _piece(piece: ReplyPiece) -> ChatPiece:
    return ChatPiece(
        text=piece.text,
        thinking=piece.thinking,
        calls=piece.calls,
        finish_reason=piece.finish_reason,
        prompt_tokens=piece.prompt_tokens,
        completion_tokens=piece.completion_tokens,
    )
