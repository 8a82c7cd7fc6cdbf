"""Tool: list the documents."""

from __future__ import annotations

from typing import Any

from agent.egress import document_labels
from agent.ports import DocumentCard
from agent.tools.base import ToolContext, ToolResult, ToolSpec

_MOST = 50


class ListDocuments:
    """Names the documents that the principal may see."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="list_documents",
            description="List the documents there are, with their ids and titles.",
            arguments={
                "type": "object",
                "properties": {
                    "contains": {"type": "string", "maxLength": 200, "description": "Only titles that contain this."}
                },
                "additionalProperties": False,
            },
            reads_knowledge=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """List at most fifty documents."""
        cards = await context.library.list_documents(context.principal, context.filter, limit=500)
        wanted = str(arguments.get("contains", "")).casefold()
        matching = [card for card in cards if wanted in card.title.casefold()]
        lines = [_line(card) for card in matching[:_MOST]]
        if len(matching) > _MOST:
            lines.append(f"… ({len(matching) - _MOST})")
        nothing = "没有这样的文档。" if context.language == "zh" else "There is no such document."
        labels = document_labels(*(card.labels for card in matching[:_MOST]))
        return ToolResult(text="\n".join(lines) or nothing, labels=labels)


def _line(card: DocumentCard) -> str:
    notes = [card.issuer, card.authority, f"{card.pages} pp." if card.pages else ""]
    return f"- {card.document_id}  {' '.join(card.title.split())} ({', '.join(note for note in notes if note)})"
