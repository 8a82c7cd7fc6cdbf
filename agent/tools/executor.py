"""Run one tool call: validate, authorise, run with a time-out, clean. Every outcome is an observation."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema

from agent.errors import AgentError, ToolArgumentsError, ToolError, ToolTimeoutError
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.clean import clean
from retrieval.errors import RetrievalError
from retrieval.labels import format_tag
from retrieval.passages import format_passage, neutralise

log = logging.getLogger(__name__)

_DETAIL_CHARS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """One executed call."""

    result: ToolResult
    observation: str
    """Inert text for the prompt: passages in their fixed form, other text neutralised."""
    latency_ms: float


class ToolExecutor:
    """Executes calls of tools that are on the run's whitelist."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic

    async def execute(
        self, tool: Tool, arguments: dict[str, Any], context: ToolContext, *, repaired: bool = False
    ) -> Outcome:
        """Run a tool; never raises but for cancellation."""
        started = self._monotonic()
        result = await self._result(tool, arguments, context, repaired)
        cleaned = clean(result.text, context.max_chars)
        if result.text:
            result = result.model_copy(update={"quality_score": min(result.quality_score, cleaned.quality_score)})
        observation = _observation(result, cleaned.text, context.language)
        return Outcome(result, observation, (self._monotonic() - started) * 1000)

    async def _result(self, tool: Tool, arguments: dict[str, Any], context: ToolContext, repaired: bool) -> ToolResult:
        spec = tool.spec
        try:
            _validate(tool, arguments, repaired)
            if spec.requires is not None and not context.principal.may(spec.requires):
                return _failure(
                    "forbidden", f"You may not use {spec.name} here: the right {spec.requires!r} is missing."
                )
            return await _limited(tool, arguments, context)
        except ToolError as exc:
            return _failure(exc.code, str(exc))
        except RetrievalError as exc:
            # Its message names hosts and folders; the model needs to know only that nothing was searched.
            log.warning("tool %s: retrieval failed (%s)", spec.name, exc.code)
            return _failure(exc.code, "The knowledge base gave no answer; this says nothing about what it holds.")
        except Exception as exc:  # noqa: BLE001 -- a tool is foreign code: its faults are observations
            return _hidden(spec.name, exc)


async def _limited(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    seconds = tool.spec.timeout_ms / 1000
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await tool.run(arguments, context)
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise ToolTimeoutError(f"{tool.spec.name} did not answer within {seconds:g} s.") from exc


def _validate(tool: Tool, arguments: dict[str, Any], repaired: bool) -> None:
    spec = tool.spec
    if repaired and spec.side_effects:
        raise ToolArgumentsError("The arguments were not valid JSON, and this tool does not act on mended ones.")
    try:
        jsonschema.validate(arguments, spec.arguments, cls=jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as exc:
        where = f" at {exc.json_path}" if exc.path else ""
        message = f"The arguments do not fit {spec.name}{where}: {exc.message[:_DETAIL_CHARS]}"
        raise ToolArgumentsError(message) from exc


def _failure(code: str, message: str) -> ToolResult:
    return ToolResult(ok=False, text=message, quality_score=0.0, error_code=code)


def _hidden(name: str, exc: BaseException) -> ToolResult:
    # Frames only: the exception's own text may carry what a document says.
    frames = "".join(traceback.format_tb(exc.__traceback__))
    log.error("tool %s failed with %s\n%s", name, type(exc).__name__, frames)
    code = exc.code if isinstance(exc, AgentError) else ToolError.code
    return _failure(code, f"{name} failed. Try other arguments or go on without it.")


def _observation(result: ToolResult, text: str, language: Literal["zh", "en"]) -> str:
    parts = [format_passage(passage, language) for passage in result.passages]
    if text:
        tag = f" {format_tag(result.label)}" if result.label else ""
        parts.append(neutralise(text) + tag)
    return "\n\n".join(parts)
