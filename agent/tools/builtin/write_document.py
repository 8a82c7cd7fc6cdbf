"""Tool: write a document and keep it as an artifact."""

from __future__ import annotations

from typing import Any

from agent.tools.base import ToolContext, ToolResult, ToolSpec

_KEPT = {
    "zh": "已保存为 {name}《{title}》（{chars} 字）。摘要：{summary}\n在其他工具的参数中写 {name}，即代表全文。",
    "en": (
        'Kept as {name}, "{title}" ({chars} characters). Summary: {summary}\n'
        "As an argument of another tool, {name} stands for the whole text."
    ),
}


class WriteDocument:
    """Keeps a text that the model wrote; the context holds its title and the beginning of it."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="write_document",
            description="Keep a long text that was asked for (a report, a letter). Answers are not written with it.",
            arguments={
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "maxLength": 200},
                    "text": {"type": "string", "minLength": 1, "maxLength": 200_000},
                },
                "required": ["title", "text"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Keep it. Nothing outside the run changes."""
        kept = context.artifacts.write(str(arguments["title"]), str(arguments["text"]))
        said = _KEPT[context.language]
        text = said.format(name=kept.name, title=kept.title, chars=len(kept.text), summary=kept.summary)
        return ToolResult(text=text)
