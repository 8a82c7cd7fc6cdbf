"""The conversation of one run with the model: built by the system from results, never by the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from agent.llm import Message, Role, WrittenCall
from agent.protocols.pieces import Call
from agent.protocols.reasons import Form
from agent.protocols.writing import written_calls
from agent.tools.base import ToolSpec
from agent.tools.signature import arguments_line
from prompts.render import (
    ExampleKind,
    render_example,
    render_finish,
    render_format_error,
    render_general,
    render_observation,
    render_step,
    render_system,
)
from prompts.values import DocumentHint, Persona, ToolCard
from retrieval.labels import format_tag
from retrieval.passages import format_passage, neutralise
from retrieval.question_form import question_form
from retrieval.types import Passage, Tier

_ECHO_CHARS = 1000
"""How much of a broken reply the model is shown of itself."""


_TURNS: tuple[Role, Role] = ("user", "assistant")


class RunContext:
    """Messages of one run. Everything untrusted that enters is inert."""

    def __init__(
        self,
        *,
        question: str,
        language: Literal["zh", "en"],
        tier: Tier,
        tools: Sequence[ToolSpec],
        hints: Sequence[DocumentHint],
        passages: Sequence[Passage],
        persona: Persona,
        form: Form = "xml",
    ) -> None:
        self._question = neutralise(question)
        self._language: Literal["zh", "en"] = language
        self._form: Form = form
        self._calls = 0
        cards = [_card(spec) for spec in tools]
        if tier == "none":
            system = render_general(language, tools=cards, persona=persona, form=form)
        else:
            system = render_system(language, tools=cards, knowledge=hints, persona=persona, form=form)
        example = render_example(language, _example_kind(question, tier, at_hand=bool(passages)), form=form)
        first = render_step(
            language,
            question=self._question,
            passages=self._formatted(passages),
            tags=[format_tag(passage.label) for passage in passages],
            retrieves=tier != "none",
            form=form,
        )
        self._messages = [
            Message(role="system", content=system),
            *(Message(role=_TURNS[i % 2], content=text) for i, text in enumerate(example)),
            Message(role="user", content=first),
        ]

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation so far; user and assistant take turns, results of native calls between them."""
        return tuple(self._messages)

    def finish_messages(self, passages: Sequence[Passage], results: dict[str, str]) -> tuple[Message, ...]:
        """Return a conversation that asks for the answer itself, from everything that was found."""
        found = [f"{neutralise(text)} {format_tag(label)}" for label, text in results.items()]
        asked = render_finish(
            self._language, question=self._question, passages=self._formatted(passages), results=found
        )
        return (Message(role="user", content=asked),)

    def add_calls(self, thought: str, calls: Sequence[Call], observations: Sequence[str]) -> None:
        """Add a reply that called tools, and what came of it."""
        if self._form == "native" and len(calls) == len(observations):
            self._native_turn(thought, calls, observations)
        else:
            self._turn(written_calls(self._form, thought, calls), "\n\n".join(observations))

    def add_broken(self, reply: str, reason: str) -> None:
        """Add a reply that was not used, and why."""
        self._turn(reply.strip()[:_ECHO_CHARS] or "…", self.format_error(reason))

    def observation(self, tool: str, *, ok: bool, text: str, note: str = "") -> str:
        """Render a tool's result for the model."""
        return render_observation(self._language, tool=tool, ok=ok, text=text, note=note)

    def format_error(self, reason: str) -> str:
        """Render what was wrong with a reply."""
        return render_format_error(self._language, reason=reason)

    def _native_turn(self, thought: str, calls: Sequence[Call], observations: Sequence[str]) -> None:
        """Add calls and results as the endpoint's own messages: each result names the call it answers."""
        made = [
            WrittenCall(
                id=f"call{self._calls + n:05d}",  # nine letters and figures: some endpoints take no other id
                name=call.name,
                arguments=json.dumps(call.arguments, ensure_ascii=False),
            )
            for n, call in enumerate(calls, 1)
        ]
        self._calls += len(made)
        self._messages.append(Message(role="assistant", content=thought.strip(), calls=tuple(made)))
        self._messages += [
            Message(role="tool", content=text, call_id=call.id) for call, text in zip(made, observations, strict=True)
        ]

    def _turn(self, reply: str, answer: str) -> None:
        self._messages += [Message(role="assistant", content=reply), Message(role="user", content=answer)]

    def _formatted(self, passages: Sequence[Passage]) -> list[str]:
        return [format_passage(passage, self._language) for passage in passages]


def _example_kind(question: str, tier: Tier, *, at_hand: bool) -> ExampleKind:
    if tier == "none":
        return "arithmetic" if question_form(question) == "arithmetic" else "talk"
    return "passages" if at_hand else "search"


def _card(spec: ToolSpec) -> ToolCard:
    return ToolCard(spec.name, spec.description, arguments_line(spec.arguments))
