"""Tools whose `run` blocks: in a thread, or, where it computes for long, in a process that is killed at its time-out.

A thread cannot be ended from outside: after a time-out or a cancellation it is told through
`ToolScope.cancelled` and goes on until it looks. A process is spawned for each call (some
tenths of a second), so that a tool can neither block the others nor outlive its time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal, Protocol, cast, runtime_checkable

from agent.errors import ToolError
from agent.tools.base import Tool, ToolContext, ToolResult, ToolSpec

_THREADS = 8
_THREAD_POOL = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="tool")


@dataclass(frozen=True, slots=True)
class ToolScope:
    """What a blocking tool is told of the run: plain values."""

    tenant: str
    user: str
    language: Literal["zh", "en"]
    max_chars: int
    cancelled: threading.Event | None = field(default=None, compare=False)
    """Set when nobody waits for the result any more; None in a process, which is killed instead."""


@runtime_checkable
class BlockingTool(Protocol):
    """A tool with a plain `def run`. For `runs_in="process"` it and its arguments must be picklable."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration; constant."""
        ...

    def run(self, arguments: dict[str, Any], scope: ToolScope) -> ToolResult:
        """Run with arguments that fit the schema. Raises `ToolError` with a message for the model."""
        ...


def as_tool(tool: Tool | BlockingTool) -> Tool:
    """Return a tool that the loop can await, whatever `runs_in` says of the given one."""
    match tool.spec.runs_in:
        case "thread":
            return InThread(cast("BlockingTool", tool))
        case "process":
            return InProcess(cast("BlockingTool", tool))
        case "loop":
            return cast("Tool", tool)


class InThread:
    """Runs a blocking tool in one of eight threads that all of them share."""

    def __init__(self, tool: BlockingTool) -> None:
        self._tool = tool

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return self._tool.spec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Run it; on cancellation tell the thread."""
        cancelled = threading.Event()
        scope = _scope(context, cancelled)
        try:
            return await asyncio.get_running_loop().run_in_executor(_THREAD_POOL, self._tool.run, arguments, scope)
        finally:
            cancelled.set()


class InProcess:
    """Runs each call of a blocking tool in a process of its own."""

    def __init__(self, tool: BlockingTool) -> None:
        self._tool = tool

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return self._tool.spec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Run it; on cancellation, time-outs included, the process is killed.

        Raises:
            ToolError: the tool's own, or the process ended without a result.
        """
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_serve, args=(self._tool, arguments, _scope(context, None), theirs), daemon=True)
        starting = asyncio.ensure_future(asyncio.to_thread(child.start))
        try:
            await asyncio.shield(starting)
            theirs.close()
            ended, answer = await asyncio.to_thread(_receive, ours)
        finally:
            await asyncio.wait([starting])
            theirs.close()
            child.kill()
            # The reader in its thread sees the end of the pipe, so that no thread is left behind.
            await asyncio.shield(asyncio.to_thread(_bury, child))
        if ended == "ok":
            return ToolResult.model_validate_json(answer)
        if ended == "tool_error":
            raise ToolError(answer)
        raise RuntimeError(f"{self.spec.name}: {answer}")


def _scope(context: ToolContext, cancelled: threading.Event | None) -> ToolScope:
    principal = context.principal
    return ToolScope(principal.tenant, principal.user, context.language, context.max_chars, cancelled)


def _serve(tool: BlockingTool, arguments: dict[str, Any], scope: ToolScope, pipe: Connection) -> None:
    """Run in the child: send one pair of strings."""
    try:
        answer = ("ok", tool.run(arguments, scope).model_dump_json())
    except ToolError as exc:
        answer = ("tool_error", str(exc))
    except Exception as exc:  # noqa: BLE001 -- foreign code: its class is told, its text may hold what it read
        answer = ("failed", type(exc).__name__)
    pipe.send_bytes("\n".join(answer).encode("utf-8", "replace"))


def _receive(pipe: Connection) -> tuple[str, str]:
    try:
        # Bytes, not objects: nothing that a tool sends is unpickled.
        ended, _, answer = pipe.recv_bytes().decode("utf-8").partition("\n")
    except (EOFError, OSError):
        return "failed", "the process ended without a result"
    finally:
        pipe.close()
    return ended, answer


def _bury(child: BaseProcess) -> None:
    child.join()
    child.close()
