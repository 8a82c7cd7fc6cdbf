"""Which form a model speaks, and the parser for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, assert_never, runtime_checkable

from agent.protocols.json_form import JsonProtocol
from agent.protocols.native import NativeProtocol, WithNativeCalls
from agent.protocols.pieces import ReplyParser
from agent.protocols.reasons import Form
from agent.protocols.xml import XmlProtocol
from agent.tools.base import ToolSpec

__all__ = ["Form", "Formed", "form_of", "parser_for"]


@runtime_checkable
class Formed(Protocol):
    """A model that was set to another form than the default."""

    @property
    def form(self) -> Form:
        """The form its replies are asked for in."""
        ...


def form_of(model: object) -> Form:
    """Return the form a model speaks: the one it was set to, else `xml`, which any chat model can follow."""
    return model.form if isinstance(model, Formed) else "xml"


def parser_for(form: Form, tools: Sequence[ToolSpec]) -> ReplyParser:
    """Return a fresh parser for one reply; `tools` are those the run may call."""
    match form:
        case "xml":
            return WithNativeCalls(XmlProtocol(), tools, form)
        case "json":
            return WithNativeCalls(JsonProtocol(tools), tools, form)
        case "native":
            return NativeProtocol(tools)
        case _:
            assert_never(form)
