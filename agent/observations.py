"""What of a tool's outcome enters the next prompt: all of it where it fits, else what matters for the question.

The original stays: of a passage or a citable result under its label, of anything else as an artifact.
The audit compares with originals, never with what was shortened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from agent.compression import Compressor, Cost
from agent.evidence import fit_passages
from agent.tools.base import ToolContext, ToolResult
from agent.tools.executor import Outcome
from agent.tools.observing import observe, remark
from agent.windows import OBSERVATION_SHARE, Window
from retrieval.labels import format_tag

_SHORTENED = {
    "zh": '（已按问题缩短，原文 {chars} 字符。全文：read_artifact {{"artifact": "{name}"}}）',
    "en": '(Shortened towards the question from {chars} characters. The whole: read_artifact {{"artifact": "{name}"}})',
}
_REMARK_TOKENS = 60
_LEAST_TOKENS = 64
_CHARS_OF_TOKEN = 10
"""Text with more characters than this for each token is not worth being counted."""
_LONG = 8000
"""Measuring a longer text takes milliseconds: it is done in a thread, so that other runs go on."""


class Observations:
    """Shortens the results of one run."""

    def __init__(
        self,
        context: ToolContext,
        compressor: Compressor,
        window: Window | None,
        *,
        question: str,
        language: Literal["zh", "en"],
        shortened: Callable[[str, str], None],
    ) -> None:
        """Take the run's parts; `shortened` is told label and text of each citable result that is shortened."""
        self._context, self._compressor, self._window = context, compressor, window
        self._question, self._shortened = question, shortened
        self._language: Literal["zh", "en"] = language

    async def shown(self, tool: str, outcome: Outcome, *, at_once: int = 1) -> str:
        """Return an outcome as the model is shown it; `at_once` calls share the room of one observation."""
        if len(outcome.observation) < _LONG:
            fits = self._fits(outcome, at_once)
        else:
            fits = await asyncio.to_thread(self._fits, outcome, at_once)
        if fits:
            return outcome.observation
        result = outcome.result
        name = self._name_of_original(tool, result)
        room = self._tokens(at_once)
        passages = result.passages
        if self._window is not None and passages:
            share = room if not result.text else room * 3 // 4
            passages = tuple(
                await asyncio.to_thread(fit_passages, passages, self._question, self._window, share, self._language)
            )
        tag = self._count(format_tag(result.label)) if result.label else 0
        cost = self._cost(room - tag if not result.passages else room // 4)
        text = await self._compressor.compress(result.text, self._question, cost, 1.0) if result.text else ""
        if result.label is not None and text:
            self._shortened(result.label, text)
        short = observe(result.model_copy(update={"passages": passages, "text": text}), self._language)
        said = _SHORTENED[self._language].format(chars=len(outcome.observation), name=name)
        return f"{short}\n{said}{remark(result, self._language)}"

    def _fits(self, outcome: Outcome, at_once: int) -> bool:
        if len(outcome.result.text) > self._context.max_chars:
            return False
        if self._window is not None and len(outcome.observation) > _CHARS_OF_TOKEN * self._tokens(at_once):
            return False
        return self._window is None or self._count(outcome.observation) <= self._tokens(at_once) + _REMARK_TOKENS

    def _tokens(self, at_once: int) -> int:
        part = self._window.part(OBSERVATION_SHARE) if self._window is not None else 1_000_000
        return max(_LEAST_TOKENS, part // max(1, at_once) - _REMARK_TOKENS)

    def _count(self, text: str) -> int:
        return self._window.count(text) if self._window is not None else 0

    def _cost(self, tokens: int) -> Cost:
        """Return a measure by which a text that may be shown is at most 1."""
        most_chars = self._context.max_chars
        return lambda text: max(self._count(text) / max(1, tokens), len(text) / most_chars)

    def _name_of_original(self, tool: str, result: ToolResult) -> str:
        if result.label is not None:
            return result.label
        if result.passages:
            return result.passages[0].label
        return self._context.artifacts.keep_original(tool, result.text).name
