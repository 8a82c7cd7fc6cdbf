"""The state of one run, shared by its phases: what it was asked, what it found, which model speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent.answer_cache import AnswerCache
from agent.budgets import BudgetKeeper, NoBudgets, Overdrawn
from agent.clock import Clock
from agent.compression import Compressor, ExtractiveCompressor
from agent.control import Desk
from agent.cost import CostMeter, PriceTable
from agent.egress import may_read
from agent.emitter import Emitter
from agent.events import Event, GuardFired, ModelUsed, Notice
from agent.experience import Experience
from agent.llm import ChatModel, ChatRequest, Message, RunFacts
from agent.ports import Auditor, Library, Searcher, Trigger
from agent.protocols.choice import Form, Formed, form_of
from agent.reading import ReplyReader
from agent.routing import is_simple
from agent.run import RunRequest
from agent.settings import AuditSettings, LoopSettings
from agent.switches import Switches
from agent.tape import Tape, TapedModel
from agent.tokens import estimate_tokens
from agent.tools.base import ToolContext, ToolSpec
from agent.tools.gates import Gates
from agent.tools.offering import offers
from agent.tools.registry import ToolRegistry
from agent.windows import Window, smallest_window
from prompts.render import render_note
from prompts.values import Persona
from retrieval.types import Principal, SearchFilter, Tier

TakeOverReason = Literal["model_unavailable", "malformed_model_output", "run_timeout", "budget_exceeded", "egress"]
_TAKE_OVER_ZH: dict[TakeOverReason, str] = {
    "model_unavailable": "没有应答",
    "malformed_model_output": "没有遵守格式",
    "run_timeout": "没有在时限内答完",
    "budget_exceeded": "的预算已用完",
    "egress": "不在本机，而找到的部分文档不得外传",
}
_TAKE_OVER_EN: dict[TakeOverReason, str] = {
    "model_unavailable": "gave no answer",
    "malformed_model_output": "did not keep to the form",
    "run_timeout": "did not finish in time",
    "budget_exceeded": "may spend no more",
    "egress": "is on another machine, where some of the documents found must not go",
}


_SLOW_ZH = "{what}比平时慢，最多还要 {seconds} 秒；运行在后台继续，可以稍后再来看。"
_SLOW_EN = "{what} takes longer than usual, at most {seconds} s more; the run goes on in the background."
_LAYERS = {"step": ("模型", "The model"), "tool": ("工具", "The tool"), "retrieval": ("检索", "The search")}


class RunAbortedError(Exception):
    """The run cannot go on; `code` and message are for the reader."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Parts:
    """What every run of an agent uses."""

    model: ChatModel
    fallback: ChatModel | None
    tools: ToolRegistry
    searcher: Searcher
    trigger: Trigger
    auditor: Auditor
    library: Library
    encoder: str
    settings: LoopSettings
    persona: Persona
    clock: Clock
    answers: AnswerCache | None = None
    gates: Gates = field(default_factory=Gates)
    """Rates, breakers and slots of tools, common to all runs."""
    switches: Switches = field(default_factory=Switches)
    spares: tuple[ChatModel, ...] = ()
    """Who takes over, in this order, before `fallback` does."""
    prices: PriceTable = field(default_factory=lambda: PriceTable({}))
    budgets: BudgetKeeper = field(default_factory=NoBudgets)
    auditing: AuditSettings = field(default_factory=AuditSettings)
    """What follows from audits."""
    experience: Experience | None = None
    """Knows finished tasks; None: they are not asked."""
    shortening: ChatModel | None = None
    """Shortens long results of tools; None: their own sentences do."""
    small: ChatModel | None = None
    """Begins with simple questions; None: nobody does."""
    compressor: Compressor = field(default_factory=ExtractiveCompressor)
    """Makes long results of tools fit into a prompt."""

    @property
    def window(self) -> Window | None:
        """What every model that may speak reads in one call; None where nothing bounds it."""
        routed = () if self.small is None else (self.small,)
        return smallest_window([self.model, *self.spares, self.fallback, *routed])


@dataclass(slots=True)
class RunState:
    """One run as far as it has come."""

    parts: Parts
    request: RunRequest
    principal: Principal
    emit: Emitter
    tools: ToolContext
    model: ChatModel
    """Who speaks now: the agent's model, or its fallback."""
    started: float
    """Of the run's clock."""
    deadline: float
    """Of the event loop's clock."""
    meter: CostMeter
    tape: Tape
    desk: Desk
    tier: Tier = "none"
    candidate_documents: tuple[str, ...] = ()
    whitelist: tuple[ToolSpec, ...] = ()
    searched: list[str] = field(default_factory=list[str])
    observations: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    search_failure: str | None = None
    """Code of a failed search, while no search has succeeded."""
    steps: int = 0
    answer: list[str] = field(default_factory=list[str])
    """The pieces of the answer; joined it is what the reader gets."""
    draft: str = ""
    """An answer of the model that one more call completes."""
    stopped: bool = False
    """True when a guard ended the steps."""
    routed: ChatModel | None = None
    """The small model, where it was chosen to begin with."""
    told_concise: bool = False
    """True once the reader was told that the model is asked to be brief."""
    overdrawn: bool = False
    """True when a budget ended the steps: nothing that costs may be asked any more."""
    gave_up: list[ChatModel] = field(default_factory=list[ChatModel])
    """The models that were replaced."""

    @property
    def filter(self) -> SearchFilter:
        """What the caller narrowed the run to."""
        return self.request.filter or SearchFilter()

    @property
    def form(self) -> Form:
        """How the model that speaks now writes calls: as the conversation was begun, or `xml` where it reads none."""
        return form_of(self.begun_by) if isinstance(self.model, Formed) else "xml"

    @property
    def begun_by(self) -> ChatModel:
        """The model that the run began with: the agent's, or the small one where the question was simple."""
        return self.parts.model if self.routed is None else self.routed

    @property
    def fallback(self) -> ChatModel | None:
        """The next model that may still take over."""
        last = self.parts.fallback
        first = () if self.routed is None else (self.parts.model,)
        chain = (*first, *self.parts.spares, *(() if last is None else (last,)))
        others = (each for each in chain if each is not self.model and each not in self.gave_up)
        return next((each for each in others if self.may_speak(each)), None)

    def may_speak(self, model: ChatModel) -> bool:
        """Tell whether a model may read what is in the run (`agent.egress`)."""
        return may_read(model, self.tools.document_labels(), self.principal.tenant)

    def keep_in(self) -> list[Event]:
        """Let another model go on where the one that speaks may not read what is in the run, and tell the reader.

        Raises:
            RunAbortedError: there is none.
        """
        if self.may_speak(self.model):
            return []
        if self.fallback is None:
            message = "Some of the documents found must not reach the model, and there is no other."
            raise RunAbortedError("egress_refused", message)
        return [self.take_over(self.fallback, "egress")]

    def take_over(self, fallback: ChatModel, why: TakeOverReason) -> Notice:
        """Let the fallback model speak from here on, and tell the reader."""
        former, self.model = self.model, fallback
        self.gave_up.append(former)
        zh = self.request.language == "zh"
        reason = _TAKE_OVER_ZH[why] if zh else _TAKE_OVER_EN[why]
        who = f"模型 {former.name} {reason}" if zh else f"the model {former.name} {reason}"
        message = f"{who}，改由 {fallback.name} 回答。" if zh else f"{who}; {fallback.name} answers instead."
        return self.emit(Notice, code="model_fallback", message=message)

    def route(self) -> list[Event]:
        """Let the small model begin where the question is simple, and tell the reader."""
        small = self.parts.small
        if small is None or not is_simple(self.request.question, self.tier) or not self.may_speak(small):
            return []
        self.model = self.routed = small
        zh = self.request.language == "zh"
        said = "问题简单，由 {} 回答。" if zh else "The question is simple: {} answers."
        return [self.emit(Notice, code="routed_small", message=said.format(small.name))]

    def concise(self, messages: Sequence[Message]) -> tuple[tuple[Message, ...], list[Event]]:
        """Return the messages, with the wish to be brief where they are many tokens, and what the reader is told."""
        limit = self.parts.settings.concise_above_tokens
        if limit is None or self.model is self.parts.fallback or self.model.name in PriceTable.FREE:
            return tuple(messages), []
        size = sum(estimate_tokens(message.content) for message in messages)
        if size <= limit:
            return tuple(messages), []
        last = messages[-1]
        wish = render_note(self.request.language, "concise")
        asked = (*messages[:-1], last.model_copy(update={"content": f"{last.content}\n\n{wish}"}))
        if self.told_concise:
            return asked, []
        self.told_concise = True
        zh = self.request.language == "zh"
        said = (
            "提示约 {} 个 token，超过 {}：要求简短作答。"
            if zh
            else "The prompt is about {} tokens, above {}: a brief answer is asked for."
        )
        return asked, [self.emit(Notice, code="concise", message=said.format(size, limit))]

    def ask_again(self) -> Notice:
        """Tell the reader that a reply broke off and the same model is asked once more."""
        zh, name = self.request.language == "zh", self.model.name
        said = "模型 {} 的回答中途断开，重新询问一次。" if zh else "the reply of {} broke off; it is asked again."
        return self.emit(Notice, code="reply_cut", message=said.format(name))

    def slow(self, what: Literal["step", "tool", "retrieval"], at_most_s: float) -> None:
        """Tell the reader that something takes longer than usual."""
        zh = self.request.language == "zh"
        said = _SLOW_ZH if zh else _SLOW_EN
        message = said.format(what=_LAYERS[what][0 if zh else 1], seconds=max(1, round(at_most_s)))
        self.emit.aside(Notice, code="taking_longer", message=message)

    def reader(self, messages: Sequence[Message], purpose: Literal["step", "finish"]) -> ReplyReader:
        """Prepare one call of the model that speaks now."""
        return self.reader_of(self.model, messages, purpose)

    def reader_of(
        self, model: ChatModel, messages: Sequence[Message], purpose: Literal["step", "finish"]
    ) -> ReplyReader:
        """Prepare one call of a model."""
        tools = offers(self.whitelist) if self.form == "native" and purpose == "step" else ()
        request = ChatRequest(
            messages=tuple(messages),
            facts=self._facts(),
            purpose=purpose,
            tools=tools,
            labels=self.tools.document_labels(),
            tenant=self.principal.tenant,
        )
        return ReplyReader(TapedModel(model, self.tape, self.emit), request, self.deadline)

    def used(self, reader: ReplyReader, since: float) -> ModelUsed:
        """Count one call of the model that speaks now and make its event; `since`: when it began on the run's clock."""
        return self.used_by(self.model, reader, since)

    def used_by(self, model: ChatModel, reader: ReplyReader, since: float) -> ModelUsed:
        """Count one call of a model and make its event."""
        money = self.meter.add(model.name, reader.prompt_tokens, reader.completion_tokens)
        return self.emit(
            ModelUsed,
            step=self.steps,
            model=model.name,
            prompt_tokens=reader.prompt_tokens,
            completion_tokens=reader.completion_tokens,
            latency_ms=(self.parts.clock.monotonic() - since) * 1000,
            money=money,
            currency=self.parts.prices.currency if money is not None else "",
        )

    async def over_budget(self, messages: Sequence[Message]) -> Overdrawn | None:
        """Tell which budget one more call of the model that speaks now would break."""
        if self.model is self.parts.fallback or self.model.name in PriceTable.FREE:
            return None
        if self.tape.playing:
            told = self.tape.peek(self.emit)
            if isinstance(told, GuardFired) and told.guard in ("token_budget", "money_budget"):
                return Overdrawn(told.guard, told.reason)
            if told is not None or self.tape.strict:
                return None
        size = sum(estimate_tokens(message.content) for message in messages)
        return await self.parts.budgets.check(self.principal, self.meter, size)

    def _facts(self) -> RunFacts:
        return RunFacts(
            question=self.request.question,
            language=self.request.language,
            tier=self.tier,
            passages=self.tools.passages.all(),
            searched=tuple(self.searched),
            candidate_documents=self.candidate_documents,
            observations=tuple(self.observations),
            tools=tuple(spec.name for spec in self.whitelist),
        )
