"""Tool: search the documents."""

from __future__ import annotations

from typing import Any

from agent.tools.base import ToolContext, ToolResult, ToolSpec
from retrieval.types import SearchFilter

_NOTHING = {
    "zh": "没有找到相关段落。可以换一种说法再检索，或说明文档中没有答案。",
    "en": "No passage was found. Search again in other words, or say that the documents do not hold the answer.",
}


class SearchKnowledge:
    """Finds passages for a question, inside given documents when they are named."""

    def __init__(self, *, timeout_ms: int = 10_000, top_k: int | None = None) -> None:
        self._top_k = top_k
        self._spec = ToolSpec(
            name="search_knowledge",
            description="Search the documents. Gives the best passages with their source labels.",
            arguments={
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 2000,
                        "description": "A complete question, with names and period.",
                    },
                    "document_ids": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 20,
                        "description": "Search only inside these documents.",
                    },
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            timeout_ms=timeout_ms,
            reads_knowledge=True,
        )

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return self._spec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Search within the run's filter."""
        query = str(arguments["query"])
        filter = _narrowed(context.filter, arguments.get("document_ids"))
        found = await context.searcher.search(
            query, context.principal, book=context.book, filter=filter, top_k=self._top_k
        )
        text = "" if found.passages else _NOTHING[context.language]
        return ToolResult(passages=tuple(found.passages), text=text, query=query, filter=filter)


def _narrowed(filter: SearchFilter, document_ids: list[str] | None) -> SearchFilter:
    """AND the run's filter with the named documents; an empty list names none and narrows nothing."""
    if not document_ids:
        return filter
    named = frozenset(document_ids)
    within = named if filter.document_ids is None else filter.document_ids & named
    return filter.model_copy(update={"document_ids": within})
