"""What the model is shown of a result: inert, in the fixed form."""

from __future__ import annotations

from typing import Literal

from agent.tools.base import ToolResult
from agent.tools.clean import HEDGE_BELOW
from agent.tools.wording import say
from retrieval.labels import format_tag
from retrieval.passages import format_passage, neutralise


def remark(result: ToolResult, language: Literal["zh", "en"]) -> str:
    """Return what the model is told of a result's quality; empty where there is nothing to tell."""
    if not result.ok or result.quality_score >= HEDGE_BELOW:
        return ""
    return "\n" + say("low_quality", language, score=f"{result.quality_score:.2f}")


def observe(result: ToolResult, language: Literal["zh", "en"]) -> str:
    """Return a cleaned result as an observation."""
    parts = [format_passage(passage, language) for passage in result.passages]
    if result.text:
        tag = f" {format_tag(result.label)}" if result.label else ""
        parts.append(neutralise(result.text) + tag)
    return "\n\n".join(parts)
