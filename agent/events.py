"""What a run emits: frozen events tagged by `kind`, one gap-free sequence per run.

Invariants (tested): `seq` counts 0, 1, 2, …; the `text_delta` texts that follow the last
`answer_superseded` (mostly there is none) joined equal the terminal event's answer; every
`citation_added` names a passage retrieved in this run; each `tool_called` has one
`tool_returned`; exactly one terminal event, the last. New kinds are additive; renaming one is
a breaking change.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from agent.audit.verdicts import Audit, Risk, SentenceVerdict
from agent.plan_items import PlanItem
from retrieval.types import Passage, SearchFilter, Tier, Value


class EventBase(Value):
    """What every event carries."""

    run_id: str
    trace_id: str
    seq: int = Field(ge=0)
    at: datetime
    """UTC."""


class RunStarted(EventBase):
    """The first event."""

    kind: Literal["run_started"] = "run_started"
    question: str
    """Secrets already replaced by pseudonyms."""
    asked: str = ""
    """The question as it was written, where it was a follow-up and `question` is what it was taken for."""
    conversation_id: str | None = None
    model: str
    encoder: str


class TriggerDecided(EventBase):
    """Whether and how the run retrieves."""

    kind: Literal["trigger_decided"] = "trigger_decided"
    tier: Tier
    reasons: tuple[str, ...]
    scores: dict[str, float]
    candidate_documents: tuple[str, ...] = ()


class PassagesRetrieved(EventBase):
    """Passages that entered the run, by the trigger or by a tool; their labels are valid from here on."""

    kind: Literal["passages_retrieved"] = "passages_retrieved"
    question: str
    filter: SearchFilter = SearchFilter()
    passages: tuple[Passage, ...]


class StepStarted(EventBase):
    """A model call of the ReAct loop begins. `step` counts from 1."""

    kind: Literal["step_started"] = "step_started"
    step: int


class ThoughtDelta(EventBase):
    """A piece of a Thought while it is being written."""

    kind: Literal["thought_delta"] = "thought_delta"
    step: int
    text: str


class ToolCalled(EventBase):
    """The model asked for a tool and the call passed the whitelist."""

    kind: Literal["tool_called"] = "tool_called"
    step: int
    call_id: str
    tool: str
    arguments: dict[str, Any]
    requested_name: str
    """The name as the model wrote it; differs from `tool` after a near match."""


class ToolReturned(EventBase):
    """The one result of a tool call; failures and time-outs are results too."""

    kind: Literal["tool_returned"] = "tool_returned"
    step: int
    call_id: str
    tool: str
    ok: bool
    observation: str
    """As the model was shown it."""
    shortened_from: int | None = None
    """Characters of the whole, where the observation was shortened towards the question."""
    quality_score: float = Field(ge=0, le=1)
    latency_ms: float


class FormatError(EventBase):
    """The model broke the protocol; the reason was returned to it as an observation."""

    kind: Literal["format_error"] = "format_error"
    step: int
    reason: str


class GuardFired(EventBase):
    """A guard of the loop stepped in."""

    kind: Literal["guard_fired"] = "guard_fired"
    guard: Literal["max_steps", "repetition", "format_retries", "run_timeout", "token_budget", "money_budget"]
    reason: str


class ModelUsed(EventBase):
    """Tokens and time of one model call."""

    kind: Literal["model_used"] = "model_used"
    step: int
    model: str
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    money: Decimal | None = None
    """What the call costs; None where the model has no price."""
    currency: str = ""


class Notice(EventBase):
    """Something the reader should know while it happens (fallback model, slow step)."""

    kind: Literal["notice"] = "notice"
    code: str
    message: str


class RunPaused(EventBase):
    """A person stopped the run before its next step or call; it waits, across restarts, until it is resumed."""

    kind: Literal["run_paused"] = "run_paused"
    before: Literal["step", "call"]


class RunEdited(EventBase):
    """A person changed something of a paused run."""

    kind: Literal["run_edited"] = "run_edited"
    target: Literal["question", "plan_item", "call"]
    item: str = ""
    """Id of the plan item."""
    text: str = ""
    """The new question or wording; secrets already replaced by pseudonyms."""
    arguments: dict[str, Any] | None = None
    """The new arguments of the next call."""


class RunResumed(EventBase):
    """The paused run goes on."""

    kind: Literal["run_resumed"] = "run_resumed"


class ApprovalRequested(EventBase):
    """Something waits for a person's yes: a call with side effects, or a plan item that needs confirmation."""

    kind: Literal["approval_requested"] = "approval_requested"
    what: Literal["call", "plan_item"]
    tool: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    item: str = ""
    text: str = ""
    """Wording of the plan item."""


class ApprovalDecided(EventBase):
    """The person's answer."""

    kind: Literal["approval_decided"] = "approval_decided"
    approved: bool


class QuestionAsked(EventBase):
    """The run asks its reader and waits."""

    kind: Literal["question_asked"] = "question_asked"
    question: str


class QuestionAnswered(EventBase):
    """The reader's answer; secrets already replaced by pseudonyms."""

    kind: Literal["question_answered"] = "question_answered"
    text: str


class PlanChanged(EventBase):
    """The whole plan as it stands now."""

    kind: Literal["plan_changed"] = "plan_changed"
    items: tuple[PlanItem, ...]


class HandedOver(EventBase):
    """The run goes to a person; self-contained, so that it can be sent to a queue or a webhook as it is."""

    kind: Literal["handed_over"] = "handed_over"
    question: str
    reason: str
    plan: tuple[PlanItem, ...] = ()


class TextDelta(EventBase):
    """A piece of the answer, tags included."""

    kind: Literal["text_delta"] = "text_delta"
    text: str
    draft: bool = False
    """True: the answer may still be replaced after its audit, as the tenant's policy has it."""


class AnswerSuperseded(EventBase):
    """The text streamed so far is not the answer: what follows is. At most once in a run."""

    kind: Literal["answer_superseded"] = "answer_superseded"
    reason: Literal["repaired", "withheld"]
    risk: Risk
    """Of what is superseded."""
    failed: tuple[SentenceVerdict, ...] = ()
    """Its sentences that did not hold, their spans in the superseded text; empty where it was never shown."""


class CitationAdded(EventBase):
    """The answer cites a passage of this run for the first time."""

    kind: Literal["citation_added"] = "citation_added"
    label: str
    document_id: str
    title: str
    page: int | None


class SentenceAudited(EventBase):
    """The auditor's verdict on one sentence of the answer."""

    kind: Literal["sentence_audited"] = "sentence_audited"
    verdict: SentenceVerdict
    provisional: bool = False
    """True: told while the answer is written; what follows it may change the verdict. Those at the end count."""


class RunCompleted(EventBase):
    """Terminal: the run has an answer. Stands alone: answer, audit, passages and usage."""

    kind: Literal["run_completed"] = "run_completed"
    status: Literal["answered", "not_in_documents", "general", "stopped_by_guard", "handed_over", "withheld"]
    answer: str
    audit: Audit
    passages: tuple[Passage, ...]
    tier: Tier
    model: str
    encoder: str
    steps: int
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    money: Decimal | None = None
    """Of all calls that have a price; None where none has one."""
    currency: str = ""
    labels: tuple[str, ...] = ()
    """Of all documents whose text was in the run, cited or not (`agent.egress`)."""


class RunFailed(EventBase):
    """Terminal: the run has no answer."""

    kind: Literal["run_failed"] = "run_failed"
    code: str
    message: str


class RunCancelled(EventBase):
    """Terminal: the caller ended the run."""

    kind: Literal["run_cancelled"] = "run_cancelled"


TerminalEvent = RunCompleted | RunFailed | RunCancelled

Event = Annotated[
    RunStarted
    | TriggerDecided
    | PassagesRetrieved
    | StepStarted
    | ThoughtDelta
    | ToolCalled
    | ToolReturned
    | FormatError
    | GuardFired
    | ModelUsed
    | Notice
    | RunPaused
    | RunEdited
    | RunResumed
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAsked
    | QuestionAnswered
    | PlanChanged
    | HandedOver
    | TextDelta
    | AnswerSuperseded
    | CitationAdded
    | SentenceAudited
    | RunCompleted
    | RunFailed
    | RunCancelled,
    Field(discriminator="kind"),
]
EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads a stored event back: `EVENT_ADAPTER.validate_json(text)`."""
