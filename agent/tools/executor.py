"""Run one tool call: validate, authorise, ask, rate limit, breaker, slot, run with time-out and retries, clean.

Every outcome is an observation. A refusal by the schema, a missing right, a person or a limit says
nothing about the tool and does not count in its breaker; a time-out or a fault does.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema

from agent.errors import AgentError, NotResumableError, ReplayEndedError, ToolArgumentsError, ToolError
from agent.tools.attempts import attempt
from agent.tools.base import Tool, ToolContext, ToolResult, ToolSpec
from agent.tools.clean import HEDGE_BELOW, clean, clean_values, completeness
from agent.tools.gates import Gates
from agent.tools.observing import observe, remark
from agent.tools.wording import say
from retrieval.errors import RetrievalError

log = logging.getLogger(__name__)

_DETAIL_CHARS = 300
_MOST_CHARS = 400_000
"""Of a result; what the model is shown of it is decided later (`agent.observations`)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One executed call."""

    result: ToolResult
    observation: str
    """Inert text for the prompt: passages in their fixed form, other text neutralised."""
    latency_ms: float


class ToolExecutor:
    """Executes calls of tools that are on the run's whitelist."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic, gates: Gates | None = None) -> None:
        """Take the clock and what calls have in common; without `gates` nothing is shared with others."""
        self._monotonic = monotonic
        self._gates = gates or Gates.of_process(monotonic=monotonic)

    async def execute(
        self, tool: Tool, arguments: dict[str, Any], context: ToolContext, *, repaired: bool = False
    ) -> Outcome:
        """Run a tool; never raises but for cancellation."""
        started = self._monotonic()
        spec = tool.spec
        # A model may write a list where an object belongs; the schema refuses it below.
        if spec.takes_artifacts and isinstance(arguments, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            arguments = context.artifacts.expand(arguments)
        result = _cleaned(spec, await self._result(tool, arguments, context, repaired))
        observation = observe(result, context.language)
        if result.passages or (spec.external and result.text):
            context.untrusted = True
        if result.quality_score < HEDGE_BELOW and result.ok:
            context.low_quality.update(_labels(result))
            observation += remark(result, context.language)
        return Outcome(result, observation, (self._monotonic() - started) * 1000)

    async def _result(self, tool: Tool, arguments: dict[str, Any], context: ToolContext, repaired: bool) -> ToolResult:
        spec = tool.spec
        try:
            _validate(spec, arguments, repaired)
            if spec.requires is not None and not context.principal.may(spec.requires):
                return _failure(
                    "forbidden", f"You may not use {spec.name} here: the right {spec.requires!r} is missing."
                )
            if _must_ask(spec, context) and not await _approved(spec, arguments, context):
                return _failure("not_approved", say("not_approved", context.language, tool=spec.name))
            return await self._gated(tool, arguments, context)
        except (NotResumableError, ReplayEndedError):
            raise  # of the run, not of the tool
        except ToolError as exc:
            return _failure(exc.code, str(exc))
        except RetrievalError as exc:
            # Its message names hosts and folders; the model needs to know only that nothing was searched.
            log.warning("tool %s: retrieval failed (%s)", spec.name, exc.code)
            return _failure(exc.code, "The knowledge base gave no answer; this says nothing about what it holds.")
        except Exception as exc:  # noqa: BLE001 -- a tool is foreign code: its faults are observations
            return _hidden(spec.name, exc)

    async def _gated(self, tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Pass the limits that all runs share, then run."""
        spec, gates, language = tool.spec, self._gates, context.language
        # Per tenant: one that calls too often, or whose server is down, is nobody else's trouble.
        key = f"{context.principal.tenant}/{spec.name}"
        if spec.rate_limit_per_minute is not None:
            wait = await gates.limits.take(key, spec.rate_limit_per_minute)
            if wait > 0:
                return _failure("rate_limited", say("rate_limited", language, tool=spec.name, seconds=_whole(wait)))
        wait = await gates.breakers.admit(key)
        if wait > 0:
            return _failure("breaker_open", say("breaker_open", language, tool=spec.name, seconds=_whole(wait)))
        told = gates.breakers.abandoned
        try:
            result = await attempt(tool, arguments, context, gates.slots)
            told = gates.breakers.succeeded
        except (ToolError, RetrievalError) as exc:
            # An error that no repetition changes is an answer: the tool works.
            told = gates.breakers.failed if exc.retryable else gates.breakers.succeeded
            raise
        except Exception:
            told = gates.breakers.failed
            raise
        finally:
            await told(key)
        return result


def _must_ask(spec: ToolSpec, context: ToolContext) -> bool:
    untrusted = context.untrusted or len(context.passages) > 0
    return spec.side_effects and (spec.approval == "always" or untrusted)


async def _approved(spec: ToolSpec, arguments: dict[str, Any], context: ToolContext) -> bool:
    return context.approve is not None and await context.approve(spec, arguments) == "approved"


def _validate(spec: ToolSpec, arguments: dict[str, Any], repaired: bool) -> None:
    if repaired and spec.side_effects:
        raise ToolArgumentsError("The arguments were not valid JSON, and this tool does not act on mended ones.")
    try:
        jsonschema.validate(arguments, spec.arguments, cls=jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as exc:
        where = f" at {exc.json_path}" if exc.path else ""
        message = f"The arguments do not fit {spec.name}{where}: {exc.message[:_DETAIL_CHARS]}"
        raise ToolArgumentsError(message) from exc


def _cleaned(spec: ToolSpec, result: ToolResult) -> ToolResult:
    """Clean text and values; the score is the least of the tool's own, the text's and the values'."""
    values = clean_values(result.values) if result.values is not None else None
    text = result.text or (json.dumps(values, ensure_ascii=False) if values else "")
    scores = [result.quality_score]
    if text:
        cleaned = clean(text, _MOST_CHARS)
        text = cleaned.text
        scores.append(cleaned.quality_score)
    if spec.results is not None and result.ok and not result.passages:
        scores.append(completeness(values, spec.results))
    return result.model_copy(update={"text": text, "values": values, "quality_score": min(scores)})


def _labels(result: ToolResult) -> list[str]:
    return [passage.label for passage in result.passages] + ([result.label] if result.label else [])


def _whole(seconds: float) -> int:
    return max(1, -int(-seconds // 1))


def _failure(code: str, message: str) -> ToolResult:
    return ToolResult(ok=False, text=message, quality_score=0.0, error_code=code)


def _hidden(name: str, exc: BaseException) -> ToolResult:
    # Frames only: the exception's own text may carry what a document says.
    frames = "".join(traceback.format_tb(exc.__traceback__))
    log.error("tool %s failed with %s\n%s", name, type(exc).__name__, frames)
    code = exc.code if isinstance(exc, AgentError) else ToolError.code
    return _failure(code, f"{name} failed. Try other arguments or go on without it.")
