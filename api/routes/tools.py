"""The tools of runs over plain HTTP; `attest mcp` stands on these routes."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from agent.tools.base import ToolSpec
from api.auth import Caller
from api.container import Wired
from retrieval.types import Value

router = APIRouter(prefix="/v1/tools", tags=["tools"])


class ToolView(Value):
    """One tool that the caller may call."""

    name: str
    description: str
    arguments: dict[str, Any]
    """JSON Schema."""

    @classmethod
    def of(cls, spec: ToolSpec) -> ToolView:
        """Make the view of a declaration."""
        return cls(name=spec.name, description=spec.description, arguments=spec.arguments)


class ToolList(Value):
    """What the caller may call."""

    tools: tuple[ToolView, ...]


class CallBody(Value):
    """A call."""

    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    session: str = Field(default="", max_length=64)
    """Calls of one session share labels, kept texts and the plan; empty: the session all calls without one share."""


class CallAnswer(Value):
    """What a call gave."""

    text: str
    ok: bool


@router.get("")
async def list_tools(caller: Caller, wired: Wired) -> ToolList:
    """Return the tools the caller may call."""
    return ToolList(tools=tuple(ToolView.of(spec) for spec in await wired.desk.offered(caller)))


@router.post("/{name}")
async def call_tool(name: str, body: CallBody, caller: Caller, wired: Wired) -> CallAnswer:
    """Call a tool; a refusal is an answer with `ok: false`."""
    text, ok = await wired.desk.call(caller, body.session, name, body.arguments)
    return CallAnswer(text=text, ok=ok)
