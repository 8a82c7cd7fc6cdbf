"""One admitted call: its slot, its time limit, and its further attempts."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from agent.errors import ToolError, ToolTimeoutError
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.limits import Slots
from retrieval.errors import RetrievalError

_FIRST_WAIT_S = 0.2
_LONGEST_WAIT_S = 2.0


async def attempt(tool: Tool, arguments: dict[str, Any], context: ToolContext, slots: Slots) -> ToolResult:
    """Run a tool, again where a failure may pass; the waits between attempts double from 0.2 s to 2 s.

    Raises:
        ToolTimeoutError: the last attempt, with its wait for a slot, took longer than `timeout_ms`.
    """
    spec = tool.spec
    again = AsyncRetrying(
        stop=stop_after_attempt(spec.retries + 1),
        wait=wait_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S),
        retry=retry_if_exception(_may_pass),
        sleep=asyncio.sleep,
        reraise=True,
    )
    return await again(_once, tool, arguments, context, slots)


async def _once(tool: Tool, arguments: dict[str, Any], context: ToolContext, slots: Slots) -> ToolResult:
    spec = tool.spec
    seconds = spec.timeout_ms / 1000
    limit = asyncio.timeout(seconds)
    slot = nullcontext() if spec.max_concurrency is None else slots.hold(spec.name, spec.max_concurrency)
    try:
        async with limit, slot:
            return await tool.run(arguments, context)
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise ToolTimeoutError(f"{spec.name} did not answer within {seconds:g} s.") from exc


def _may_pass(exc: BaseException) -> bool:
    return isinstance(exc, ToolError | RetrievalError) and exc.retryable
