"""What a tool is: its declaration, what it is given, what it returns."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import Field, model_validator

from agent.artifacts import RunArtifacts
from agent.egress import document_labels
from agent.plan import Plan
from agent.plan_items import PlanItem
from agent.ports import Library, Searcher
from agent.tools.wording import say
from retrieval.labels import LabelBook
from retrieval.types import Passage, Principal, Right, SearchFilter, Value

_PLAIN_RE = re.compile(r"[^\w-]+")
_NAME_CHARS = 24
"""Of a database's or a table's name in a label, which is at most 64 characters long."""

RunsIn = Literal["loop", "thread", "process"]
Approval = Literal["approved", "denied"]


class ToolSpec(Value):
    """A tool's declaration, as the prompt shows it and the executor enforces it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    description: str
    """For the model: when to use it and what it gives."""
    arguments: dict[str, Any]
    """JSON Schema (2020-12) of the arguments object."""
    results: dict[str, Any] | None = None
    """JSON Schema of `ToolResult.values`; how far they fill it counts in the quality score."""
    timeout_ms: int = Field(default=3000, gt=0)
    """Of one attempt."""
    retries: int = Field(default=0, ge=0, le=5)
    """Further attempts after a failure that may pass; none for a tool with side effects, which may have acted."""
    rate_limit_per_minute: int | None = Field(default=None, ge=1)
    """Calls in any sixty seconds, by tenant; None: no limit."""
    max_concurrency: int | None = Field(default=None, ge=1)
    """Calls that go on at once in one process; None: no limit."""
    runs_in: RunsIn = "loop"
    """`loop`: `run` is a coroutine. `thread` and `process`: it blocks (`agent.tools.blocking`)."""
    side_effects: bool = False
    """True: asked for before each call, never matched to a misspelt name, never run with mended arguments."""
    approval: Literal["always", "untrusted"] = "always"
    """When a tool with side effects waits for a person: always, or once untrusted text is in the run."""
    external: bool = False
    """True: its results come from outside, so that they are untrusted like retrieved text."""
    requires: Right | None = None
    """The right a principal needs."""
    feature: str | None = None
    """The feature that it belongs to and is switched off with (`agent.switches`)."""
    reads_knowledge: bool = False
    """True: not offered where the run does not retrieve."""
    takes_artifacts: bool = True
    """True: an argument that is the name of an artifact is replaced by its whole text."""
    announced: bool = True
    """False: prompts name it only where it is of use, not from the beginning."""

    @model_validator(mode="after")
    def _acts_once(self) -> ToolSpec:
        if self.side_effects and self.retries:
            raise ValueError(f"tool {self.name}: a tool with side effects is not retried; set retries to 0")
        return self


class ToolResult(Value):
    """What a tool gives back. Text is data: the executor cleans it and makes it inert."""

    ok: bool = True
    text: str = ""
    values: dict[str, Any] | None = None
    """The result as a JSON object, for tools that declare `results`; without `text` it is shown as JSON."""
    passages: tuple[Passage, ...] = ()
    """Passages that enter the run; each is shown to the model in the fixed form."""
    query: str | None = None
    """What was searched, when `passages` come from a search."""
    filter: SearchFilter = SearchFilter()
    label: str | None = None
    """A label that the answer may cite for `text`, reserved in the run's book."""
    labels: frozenset[str] = frozenset()
    """Of the documents that `text` speaks of (`agent.egress`); passages bring their own."""
    quality_score: float = Field(default=1.0, ge=0, le=1)
    error_code: str | None = None
    ends_run: bool = False
    """True: the model asked to write the answer now."""


class RunPassages:
    """The passages of one run in the order they were retrieved, each once."""

    def __init__(self) -> None:
        self._by_label: dict[str, Passage] = {}

    def add(self, passages: Iterable[Passage]) -> None:
        """Take passages in; one that is known keeps its place, with the better score."""
        for passage in passages:
            known = self._by_label.get(passage.label)
            if known is None or passage.score > known.score:
                self._by_label[passage.label] = passage

    def all(self) -> tuple[Passage, ...]:
        """Return all passages."""
        return tuple(self._by_label.values())

    def get(self, label: str) -> Passage | None:
        """Return the passage of a label."""
        return self._by_label.get(label)

    def __len__(self) -> int:
        return len(self._by_label)


Approve = Callable[[ToolSpec, dict[str, Any]], Awaitable[Approval]]
"""Asks a person whether a call of a tool with side effects may run."""


class Desk(Protocol):
    """Where a run meets people, for the tools that work on the run itself."""

    questions: int
    """Asked of the reader so far."""
    may_ask: bool
    """False: the reader cannot be asked."""

    async def confirm(self, item: str, text: str) -> Approval:
        """Ask whether a plan item may be done, and wait."""
        ...

    async def ask(self, question: str) -> str:
        """Ask the reader, and wait for the answer."""
        ...

    def planned(self, items: Sequence[PlanItem]) -> None:
        """Tell how the plan stands."""
        ...

    def hand_over(self, question: str, reason: str, items: Sequence[PlanItem]) -> None:
        """Tell that the run goes to a person."""
        ...


@dataclass(slots=True)
class ToolContext:
    """One run as its tools see it."""

    principal: Principal
    language: Literal["zh", "en"]
    book: LabelBook
    searcher: Searcher
    library: Library
    filter: SearchFilter
    """What the caller narrowed the run to; a tool may narrow further, never widen."""
    max_chars: int
    """Most characters of one observation."""
    artifacts: RunArtifacts = field(default_factory=RunArtifacts)
    """Texts that the run's context holds by reference."""
    page_chars: int = 2000
    """Characters of a kept text that are read at once, so many that they need not be shortened again."""
    run_id: str | None = None
    passages: RunPassages = field(default_factory=RunPassages)
    results: dict[str, str] = field(default_factory=dict[str, str])
    """Citable texts of tools other than passages, by label."""
    low_quality: set[str] = field(default_factory=set[str])
    """Labels of results below `clean.HEDGE_BELOW`: a sentence that rests on one must hedge."""
    approve: Approve | None = None
    """None: nobody can be asked, so that no tool with side effects runs."""
    queries: int = 0
    """Queries of databases so far."""
    seen_labels: set[str] = field(default_factory=set[str])
    """Of documents whose text came into the run otherwise than as passages: titles, the shape of a database."""
    question: str = ""
    """The run's."""
    plan: Plan = field(default_factory=Plan)
    desk: Desk | None = None
    """None: nobody can be asked."""
    handed_over: str | None = None
    """Why the run goes to a person."""
    untrusted: bool = False
    """True once text of others, retrieved or from outside, is in the run; it never becomes False again."""

    def remarked_results(self) -> dict[str, str]:
        """Return the citable results by label, those of low quality with the word that they are."""
        remark = say("uncertain", self.language)
        return {
            label: f"{text} {remark}" if label in self.low_quality else text for label, text in self.results.items()
        }

    def document_labels(self) -> frozenset[str]:
        """Return the labels of all documents whose text is in the run."""
        return document_labels(*(each.chunk.labels for each in self.passages.all())) | self.seen_labels

    def reserve(self, tool: str, text: str) -> str:
        """Hand out the label of a tool's citable result."""
        count = 1 + sum(label.startswith(f"tool_{tool}#") for label in self.results)
        label = self.book.reserve(f"tool_{tool}#{count}")
        self.results[label] = text
        return label

    def reserve_query(self, database: str, table: str) -> str:
        """Hand out the label of a query's result: `db_sales.orders#q2` for the second query of the run."""
        self.queries += 1
        names = (_PLAIN_RE.sub("_", name)[:_NAME_CHARS] or "_" for name in (database, table))
        return self.book.reserve(f"db_{'.'.join(names)}#q{self.queries}")


class Tool(Protocol):
    """Something the model may call."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration; constant."""
        ...

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Run with arguments that fit the schema.

        Raises:
            ToolError: with a message for the model. Any other exception is hidden from it.
        """
        ...
