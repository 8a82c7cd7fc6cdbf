"""What the model is shown of a result: inert, in the fixed form."""

from __future__ import annotations

from typing import Literal

from agent.tools.base import ToolResult
from retrieval.labels import format_tag
from retrieval.passages import format_passage, neutralise


def observe(result: ToolResult, language: Literal["zh", "en"]) -> str:
    """Return a cleaned result as an observation."""
    parts = [format_passage(passage, language) for passage in result.passages]
    if result.text:
        tag = f" {format_tag(result.label)}" if result.label else ""
        parts.append(neutralise(result.text) + tag)
    return "\n\n".join(parts)
