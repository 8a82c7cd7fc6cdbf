"""Tool: read a kept text, or the whole of what was shortened."""

from __future__ import annotations

from typing import Any

from agent.artifacts import Artifact
from agent.compression import shorten
from agent.errors import ToolArgumentsError
from agent.tools.base import ToolContext, ToolResult, ToolSpec

_REST = {
    "zh": "\n（后面还有：from={next}，共 {total} 字符）",
    "en": "\n(There is more: from={next} of {total} characters.)",
}


class ReadArtifact:
    """Gives an artifact in pieces, or what it says about something.

    A source label is a name too: the whole passage or result behind it is given, and stays citable.
    """

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="read_artifact",
            description="Read the whole of a text that is shown shortened, or a document that was kept.",
            arguments={
                "type": "object",
                "properties": {
                    "artifact": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "Its name, such as original_1, or a source label.",
                    },
                    "from": {"type": "integer", "minimum": 0, "description": "Where to go on reading."},
                    "about": {"type": "string", "maxLength": 500, "description": "Only what it says about this."},
                },
                "required": ["artifact"],
                "additionalProperties": False,
            },
            takes_artifacts=False,
            announced=False,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Read. What does not fit into one observation is read on with `from`."""
        found, label = _find(str(arguments["artifact"]), context)
        about, start = str(arguments.get("about") or ""), int(arguments.get("from") or 0)
        if about:
            return ToolResult(text=shorten(found.text, about, len, context.page_chars), label=label)
        if start >= len(found.text):
            raise ToolArgumentsError(f"{found.name} ends at {len(found.text)}.")
        piece = found.text[start : start + context.page_chars]
        end = start + len(piece)
        rest = "" if end >= len(found.text) else _REST[context.language].format(next=end, total=len(found.text))
        return ToolResult(text=piece + rest, label=label)


def _find(name: str, context: ToolContext) -> tuple[Artifact, str | None]:
    name = name.strip().removeprefix("[SOURCE:").removesuffix("]").strip()
    artifact = context.artifacts.get(name)
    if artifact is not None:
        return artifact, None
    passage = context.passages.get(name)
    if passage is not None:
        return Artifact(name, passage.chunk.title, passage.chunk.text), name
    result = context.results.get(name)
    if result is None:
        raise ToolArgumentsError("There is no such text, or it is kept no more.")
    return Artifact(name, "", result), name
