"""Bodies and answers of the routes that control runs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from agent.control import Waiting
from agent.events import Event
from agent.tape import Entry
from retrieval.types import Value


class EditBody(Value):
    """A change of a paused run: its question, an item of its plan, or the arguments of the call that comes next."""

    question: str | None = Field(default=None, min_length=1, max_length=8000)
    plan_item: str | None = Field(default=None, max_length=8)
    text: str | None = Field(default=None, min_length=1, max_length=500)
    """The item's new wording."""
    arguments: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> EditBody:
        if sum(each is not None for each in (self.question, self.plan_item, self.arguments)) != 1:
            raise ValueError("give one of question, plan_item (with text) and arguments")
        if (self.plan_item is None) != (self.text is None):
            raise ValueError("text is the new wording of plan_item: give both or neither")
        return self


class AnswerBody(Value):
    """The reader's answer to the run's question."""

    text: str = Field(min_length=1, max_length=2000)


class Standing(Value):
    """How a run stands."""

    run_id: str
    state: Literal["running", "completed", "failed", "cancelled"]
    waiting: Waiting | None = None
    """What it waits for: to be resumed, for approval, for an answer; None: it goes on, or has ended."""


class ExportedRun(Value):
    """A run as a case: what was asked, what came from outside, what became of it."""

    format: Literal["attest-run-1"] = "attest-run-1"
    question: str
    language: Literal["zh", "en"]
    events: tuple[Event, ...]
    tape: tuple[Entry, ...]
