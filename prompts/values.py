"""What the templates are filled with. Every text here is data: it is shown, never compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]

Form = Literal["xml", "json", "native"]
"""How a model writes calls and answers."""


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool as the prompt shows it."""

    name: str
    description: str
    arguments: str
    """The shape of the arguments, in one line."""


@dataclass(frozen=True, slots=True)
class DocumentHint:
    """A document that may hold a local answer."""

    document_id: str
    title: str


@dataclass(frozen=True, slots=True)
class FailedSentence:
    """A sentence of an answer that did not hold against its sources."""

    sentence: str
    findings: tuple[str, ...]
    """What was found wrong."""
    sources: tuple[str, ...] = ()
    """What its sources say in the places that decided, tagged."""


@dataclass(frozen=True, slots=True)
class PastTaskCard:
    """A question that was answered before, and how."""

    question: str
    tools: tuple[str, ...]
    steps: int
    risk: str


@dataclass(frozen=True, slots=True)
class Persona:
    """Who the assistant is. `instruction` is its owner's own text, shown as data."""

    role: str = ""
    """Empty: the standard role."""
    duties: tuple[str, ...] = ()
    """Empty: the standard duties."""
    instruction: str = ""
