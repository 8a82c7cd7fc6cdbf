"""The conversation of one run with the model: built by the system from results, never by the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from agent.compression import shorten
from agent.drafts import shown as shown_draft
from agent.evidence import fit_passages, fit_results
from agent.experience import PastTask
from agent.history import History, Turn
from agent.llm import Message, Role, WrittenCall
from agent.protocols.pieces import Call
from agent.protocols.reasons import Form
from agent.protocols.writing import written_calls
from agent.run import Exchange
from agent.tools.base import ToolSpec
from agent.tools.signature import arguments_line
from agent.tools.wording import say
from agent.windows import EVIDENCE_SHARE, Window
from prompts.render import (
    ExampleKind,
    render_conversation,
    render_example,
    render_experience,
    render_finish,
    render_format_error,
    render_general,
    render_observation,
    render_step,
    render_system,
)
from prompts.values import DocumentHint, PastTaskCard, Persona, ToolCard
from retrieval.labels import format_tag
from retrieval.neutralise import neutralise_line
from retrieval.passages import format_passage, neutralise
from retrieval.question_form import question_form
from retrieval.types import Passage, Tier

_ECHO_CHARS = 1000
"""How much of a broken reply the model is shown of itself."""
_ARGUMENT_CHARS, _THOUGHT_CHARS = 400, 600
"""How much of its own long arguments and Thoughts: what it wrote with a tool is kept as an artifact."""
_CONVERSATION_SHARE = 0.1
_PAST_CHARS = 160
_QUESTION_SHARE, _HEAD_SHARE, _FINISH_SHARE, _RESULTS_SHARE = 0.25, 0.6, 0.6, 0.15
"""Parts of a prompt; `agent.windows` has the others."""


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
        window: Window | None = None,
        before: Sequence[Exchange] = (),
        experience: Sequence[PastTask] = (),
    ) -> None:
        """Begin the conversation; with a `window` every prompt is kept inside it."""
        self._window = window
        self._question = _fitting(neutralise(question), window)
        self._language: Literal["zh", "en"] = language
        self._form: Form = form
        self._calls = 0
        self._before = _learnt(experience, language) + _said(before, language, window)
        self._shortened: dict[str, str] = {}
        self._history = History(question, language, window)
        cards = [_card(spec) for spec in tools if spec.announced]
        if tier == "none":
            system = render_general(language, tools=cards, persona=persona, form=form)
        else:
            system = render_system(language, tools=cards, knowledge=hints, persona=persona, form=form)
        example = render_example(language, _example_kind(question, tier, at_hand=bool(passages)), form=form)
        turns = [Message(role=_TURNS[i % 2], content=text) for i, text in enumerate(example)]
        begin = [Message(role="system", content=system), *turns]
        if window is not None and window.size(begin) > window.part(_HEAD_SHARE):
            begin = begin[:1]  # the example helps; what the question needs comes first
        self._head = [*begin, self._first(begin, tier, passages)]

    def _first(self, begin: Sequence[Message], tier: Tier, passages: Sequence[Passage]) -> Message:
        """Return the message with the question and the passages at hand, as many as fit behind `begin`."""
        window = self._window
        room = 0
        if window is not None:
            bare = window.count(self._asked(tier, ())) + window.count(self._before)
            room = min(window.part(EVIDENCE_SHARE), window.part(0.75) - window.size(begin) - bare)
        shown = fit_passages(passages, self._question, window, max(0, room), self._language)
        return Message(role="user", content=self._before + self._asked(tier, shown))

    def _asked(self, tier: Tier, passages: Sequence[Passage]) -> str:
        return render_step(
            self._language,
            question=self._question,
            passages=self._formatted(passages),
            tags=[format_tag(passage.label) for passage in passages],
            retrieves=tier != "none",
            form=self._form,
        )

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation so far; user and assistant take turns, results of native calls between them.

        Early turns are folded to a line each where the window has no room for all.
        """
        return self._history.messages(self._head)

    def finish_messages(
        self, passages: Sequence[Passage], results: dict[str, str], draft: str = ""
    ) -> tuple[Message, ...]:
        """Return a conversation that asks for the answer itself, from everything that was found and a draft."""
        window, language = self._window, self._language
        room, rest = (0, 0) if window is None else (window.part(_FINISH_SHARE), window.part(_RESULTS_SHARE))
        shown = fit_passages(passages, self._question, window, room, language)
        results = {label: self._short(label, text) for label, text in results.items()}
        found = fit_results(results, self._question, window, rest)
        asked = render_finish(
            language,
            question=self._question,
            passages=self._formatted(shown),
            results=found,
            draft=shown_draft(draft),
        )
        return (Message(role="user", content=asked),)

    def _short(self, label: str, text: str) -> str:
        """Return a result as it was shown, with the remark that stands at its end."""
        short = self._shortened.get(label)
        if short is None:
            return text
        remark = say("uncertain", self._language)
        return f"{short} {remark}" if text.endswith(remark) else short

    def note_shortened(self, label: str, text: str) -> None:
        """Take the shortened text of a citable result, for the prompt that asks for the answer."""
        self._shortened[label] = text

    def add_calls(self, thought: str, calls: Sequence[Call], observations: Sequence[str]) -> None:
        """Add a reply that called tools, and what came of it."""
        if self._window is not None:
            thought = thought[:_THOUGHT_CHARS]
            calls = [replace(call, arguments=_abridged(call.arguments)) for call in calls]
        if self._form == "native" and len(calls) == len(observations):
            messages = self._native_turn(thought, calls, observations)
        else:
            messages = _turn(written_calls(self._form, thought, calls), "\n\n".join(observations))
        folded = zip((f"{call.name} {_json(call.arguments)}" for call in calls), observations, strict=False)
        self._history.add(Turn(messages, tuple(folded)))

    def add_broken(self, reply: str, reason: str) -> None:
        """Add a reply that was not used, and why."""
        self._history.add(Turn(_turn(reply.strip()[:_ECHO_CHARS] or "…", self.format_error(reason))))

    def add_reminder(self, reply: str, reminder: str) -> None:
        """Add a reply that was well formed but came too early, and why."""
        self._history.add(Turn(_turn(reply.strip()[:_ECHO_CHARS] or "…", reminder)))

    def reask(self, question: str) -> None:
        """Take another question for what is asked from here on."""
        self._question = _fitting(neutralise(question), self._window)

    def observation(self, tool: str, *, ok: bool, text: str, note: str = "") -> str:
        """Render a tool's result for the model."""
        return render_observation(self._language, tool=tool, ok=ok, text=text, note=note)

    def format_error(self, reason: str) -> str:
        """Render what was wrong with a reply."""
        return render_format_error(self._language, reason=reason)

    def _native_turn(self, thought: str, calls: Sequence[Call], observations: Sequence[str]) -> tuple[Message, ...]:
        """Return calls and results as the endpoint's own messages: each result names the call it answers."""
        made = [
            WrittenCall(
                id=f"call{self._calls + n:05d}",  # nine letters and figures: some endpoints take no other id
                name=call.name,
                arguments=_json(call.arguments),
            )
            for n, call in enumerate(calls, 1)
        ]
        self._calls += len(made)
        results = zip(made, observations, strict=True)
        return (
            Message(role="assistant", content=thought.strip(), calls=tuple(made)),
            *(Message(role="tool", content=text, call_id=call.id) for call, text in results),
        )

    def _formatted(self, passages: Sequence[Passage]) -> list[str]:
        return [format_passage(passage, self._language) for passage in passages]


def _learnt(experience: Sequence[PastTask], language: Literal["zh", "en"]) -> str:
    cards = [
        PastTaskCard(neutralise_line(task.question)[:_PAST_CHARS], task.tools, task.steps, task.risk)
        for task in experience
    ]
    return f"{render_experience(language, tasks=cards)}\n\n" if cards else ""


def _said(before: Sequence[Exchange], language: Literal["zh", "en"], window: Window | None) -> str:
    """Return what was said before, as much of it as has room, the newest first to get some."""
    room = None if window is None else window.part(_CONVERSATION_SHARE)
    turns: list[tuple[str, str]] = []
    for each in reversed(before):
        turns.insert(0, (neutralise_line(each.question), neutralise_line(each.answer)))
        if window is not None and room is not None and window.count(_conversation(turns, language)) > room:
            del turns[0]
            break
    return _conversation(turns, language) if turns else ""


def _conversation(turns: Sequence[tuple[str, str]], language: Literal["zh", "en"]) -> str:
    return f"{render_conversation(language, turns=turns)}\n\n"


def _turn(reply: str, answer: str) -> tuple[Message, ...]:
    return (Message(role="assistant", content=reply), Message(role="user", content=answer))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fitting(question: str, window: Window | None) -> str:
    """Return a question that leaves room for its answer: of one that is a document, what stands first and matters."""
    if window is None:
        return question
    return shorten(question, question[:500], lambda text: float(window.count(text)), window.part(_QUESTION_SHARE))


def _abridged(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as the model is shown them later."""
    return {
        name: value if not isinstance(value, str) or len(value) <= _ARGUMENT_CHARS else value[:_ARGUMENT_CHARS] + "…"
        for name, value in arguments.items()
    }


def _example_kind(question: str, tier: Tier, *, at_hand: bool) -> ExampleKind:
    if tier == "none":
        return "arithmetic" if question_form(question) == "arithmetic" else "talk"
    return "passages" if at_hand else "search"


def _card(spec: ToolSpec) -> ToolCard:
    return ToolCard(spec.name, spec.description, arguments_line(spec.arguments))
