"""Keeps a run to its task: which tools of its own it is offered, drift from the plan, items left open. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeVar

from agent.plan import Plan

Language = Literal["zh", "en"]
PLANNING = frozenset({"plan_create", "plan_update"})
OF_THE_TASK = PLANNING | {"ask_user", "hand_over", "finish", "reason", "calculate"}
"""Tools whose calls serve any item."""

_SENTENCE_RE = re.compile(r"[?？。；;!！]\s*(?=\S)|\n+(?=\s*\S)")
_LISTED_RE = re.compile(r"(?:^|\s|[：:，,；;])(?:\(?\d{1,2}[.)、）](?!\d)|[①-⑳]|[一二三四五六七八九]、|[-*•]\s)")
_THEN_RE = re.compile(
    r"\b(?:and then|after that|afterwards|finally|step by step|first(?:ly)?,?\b.{1,120}\bthen)\b"
    r"|先.{1,60}(?:再|然后)|然后|接着|最后|分别|逐一|依次",
    re.IGNORECASE | re.DOTALL,
)
_WORD_RE = re.compile(r"[a-z0-9]{3,}|[\u3400-\u9fff]+", re.IGNORECASE)


class Named(Protocol):
    """A tool's declaration, as far as this looks at it."""

    @property
    def name(self) -> str:
        """Of the tool."""
        ...


S = TypeVar("S", bound=Named)


def supervised(specs: Sequence[S], question: str, *, attended: bool) -> tuple[S, ...]:
    """Leave out the run's own tools where they are of no use: each that is offered costs every prompt a line.

    A plan is for a task of several parts. Questions to the reader need one who is there; handing over
    is for both: a single question that nobody waits at is answered with what is found.
    """
    several = has_parts(question)
    useless: set[str] = set()
    if not several:
        useless |= PLANNING
    if not attended:
        useless.add("ask_user")
    if not attended and not several:
        useless.add("hand_over")
    return tuple(spec for spec in specs if spec.name not in useless)


def has_parts(question: str) -> bool:
    """Tell whether a request is a task of several parts rather than one question."""
    text = question.strip()
    if len(_LISTED_RE.findall(text)) >= 2 or _THEN_RE.search(text):
        return True
    return len(_SENTENCE_RE.findall(text)) >= 2


def drifts(plan: Plan, question: str, tool: str, arguments: dict[str, Any], thought: str) -> bool:
    """Tell whether a call serves no open item: it shares no word with any of them, nor does its Thought.

    The words of the question count for every item, for what is asked may be looked up at any time.
    """
    if tool in OF_THE_TASK or not len(plan):
        return False
    said = _words(f"{thought} {_flat(arguments)}")
    if not said:
        return False
    return not any(said & _words(item.text) for item in plan.open()) and not said & _words(question)


def remind(plan: Plan, language: Language) -> str:
    """Return what to say, once, to a model that ends with items open; empty where there is nothing to say."""
    left = plan.open()
    if not left or plan.reminded:
        return ""
    plan.reminded = True
    items = ", ".join(f"{item.id} {item.text}" for item in left)
    if language == "zh":
        return f"计划中还有未完成的事项：{items}。请完成它们，或用 plan_update 说明放弃的理由，然后再回答。"
    return f"The plan has open items: {items}. Do them, or drop them with plan_update and a reason; then answer."


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(_flat(each) for each in value.values())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return " ".join(_flat(each) for each in value)  # pyright: ignore[reportUnknownVariableType]
    return str(value)


def _words(text: str) -> set[str]:
    found: set[str] = set()
    for word in _WORD_RE.findall(text.casefold()):
        if word[0] >= "\u3400":
            found |= {word[i : i + 2] for i in range(max(1, len(word) - 1))}
        else:
            found.add(word[:6])  # plurals and other endings
    return found - _EMPTY


_EMPTY = frozenset({"the", "and", "for", "from", "with", "what", "which", "this", "that", "search", "find", "docume"})
