"""Tools of your own: objects that installed packages name in the entry point group `attest.tools`.

An entry point names a tool, a class or function without arguments that makes one, or several of them in a
list. What does not fit ends the start with a message that names it: a tool that is silently missing would be
found out by wrong answers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, Final, cast

import jsonschema
import jsonschema.exceptions

from agent.tools.base import Tool, ToolContext, ToolResult, ToolSpec
from agent.tools.blocking import BlockingTool, as_tool
from agent.tools.whitelist import Conditional
from retrieval.types import Principal, SearchFilter

GROUP: Final = "attest.tools"
FEATURE: Final = "external_tools"
"""What they are switched off with, all at once."""
RESERVED: Final = frozenset({
    *("search_knowledge", "read_document", "list_documents", "query_database", "calculate", "reason"),
    *("write_document", "read_artifact", "plan_create", "plan_update", "ask_user", "hand_over", "finish"),
    *("final_answer", "answer", "thought", "action", "observation"),
})
"""Names of tools that are there, and words of the forms in which calls are written."""
_RESERVED_RE = re.compile(r"(?:mcp|team)_.*")


class OwnToolError(ValueError):
    """An entry point gives no tool that can be offered; the message names it and says why."""


class OwnTool:
    """A tool of an entry point, as runs are offered it."""

    def __init__(self, tool: Tool | BlockingTool) -> None:
        self._tool = as_tool(tool)
        spec = tool.spec
        self.spec = spec if spec.feature is not None else spec.model_copy(update={"feature": FEATURE})

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Run it."""
        return await self._tool.run(arguments, context)

    async def is_of_use(self, principal: Principal, filter: SearchFilter) -> bool:
        """Ask the tool, where it has something to say."""
        return not isinstance(self._tool, Conditional) or await self._tool.is_of_use(principal, filter)


def load_own_tools(entries: Iterable[EntryPoint]) -> list[OwnTool]:
    """Return the tools of these entry points, in the order of their names.

    Raises:
        OwnToolError: one cannot be imported, is no tool, does not declare itself rightly, or has a name that is taken.
    """
    tools: dict[str, OwnTool] = {}
    for entry in sorted(entries, key=lambda each: (each.name, each.value)):
        for made in _made(entry):
            tool = OwnTool(_checked(made, entry))
            if tool.spec.name in tools:
                raise _refused(entry, f"another entry point has a tool named {tool.spec.name!r} too")
            tools[tool.spec.name] = tool
    return list(tools.values())


def _made(entry: EntryPoint) -> Sequence[object]:
    try:
        found: Any = entry.load()
        if isinstance(found, type) or (callable(found) and not hasattr(found, "spec")):
            found = found()
    except Exception as exc:
        raise _refused(entry, f"{type(exc).__name__}: {exc}") from exc
    return list(cast("Sequence[object]", found)) if isinstance(found, list | tuple) else [found]


def _checked(made: object, entry: EntryPoint) -> Tool | BlockingTool:
    try:
        spec = getattr(made, "spec", None)
    except Exception as exc:
        raise _refused(entry, f"its declaration fails with {type(exc).__name__}: {exc}") from exc
    run = getattr(made, "run", None)
    if not isinstance(spec, ToolSpec) or not callable(run):
        raise _refused(entry, f"{type(made).__name__} is no tool; it needs `spec`, a ToolSpec, and `run`")
    if spec.name in RESERVED or _RESERVED_RE.fullmatch(spec.name):
        raise _refused(entry, f"the name {spec.name!r} is taken")
    if inspect.iscoroutinefunction(run) != (spec.runs_in == "loop"):
        wanted = "async def run" if spec.runs_in == "loop" else "a plain def run"
        raise _refused(entry, f"{spec.name} is to run in a {spec.runs_in}; that needs {wanted}")
    for what, schema in (("arguments", spec.arguments), ("results", spec.results)):
        try:
            jsonschema.Draft202012Validator.check_schema({} if schema is None else schema)
        except jsonschema.exceptions.SchemaError as exc:
            raise _refused(entry, f"the schema of {spec.name}'s {what} is none: {exc.message}") from exc
    if spec.arguments.get("type") != "object":
        raise _refused(entry, f"the schema of {spec.name}'s arguments must be of type object")
    return cast("Tool | BlockingTool", made)


def _refused(entry: EntryPoint, why: str) -> OwnToolError:
    package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
    return OwnToolError(f"{GROUP}: the entry point {entry.name} = {entry.value}{package} gives no tool: {why}")
