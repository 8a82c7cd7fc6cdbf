"""Tool: search the documents."""

from __future__ import annotations

from typing import Any

from agent.errors import ToolArgumentsError
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from retrieval.errors import BadFilterError
from retrieval.filters import FilterReader, both
from retrieval.types import SearchFilter

_NOTHING = {
    "zh": "没有找到相关段落。可以换一种说法再检索，或说明文档中没有答案。",
    "en": "No passage was found. Search again in other words, or say that the documents do not hold the answer.",
}


_READ_ARGUMENTS: dict[str, Any] = {
    "period": {
        "type": "string",
        "maxLength": 256,
        "description": "Only passages that state this period, such as Q3 2024.",
    },
    "symbols": {
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 256},
        "maxItems": 10,
        "description": "Only passages with each of these values or codes.",
    },
}
"""Arguments that the symbol language must read."""


class SearchKnowledge:
    """Finds passages for a question, inside given documents when they are named."""

    def __init__(self, read: FilterReader | None = None, *, timeout_ms: int = 10_000, top_k: int | None = None) -> None:
        """Prepare the tool; without `read` a search cannot be narrowed by period and symbols."""
        self._read, self._top_k = read, top_k
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
                    "queries": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 2000},
                        "maxItems": 3,
                        "description": "The same question in other words or in the other language.",
                    },
                    "document_ids": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 256},
                        "maxItems": 20,
                        "description": "Search only inside these documents.",
                    },
                    **(_READ_ARGUMENTS if read is not None else {}),
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
        filter = both(context.filter, self._asked(arguments, context.principal.tenant))
        found = await context.searcher.search(
            query,
            context.principal,
            book=context.book,
            filter=filter,
            top_k=self._top_k,
            also=tuple(str(each) for each in arguments.get("queries") or ()),
            run_id=context.run_id,
        )
        text = "" if found.passages else _NOTHING[context.language]
        return ToolResult(passages=tuple(found.passages), text=text, query=query, filter=filter)

    def _asked(self, arguments: dict[str, Any], tenant: str) -> SearchFilter:
        """Return what the arguments narrow to; an empty list or text names nothing and narrows nothing."""
        written = SearchFilter(
            document_ids=frozenset(arguments.get("document_ids") or ()) or None,
            period=arguments.get("period") or None,
            symbols=frozenset(arguments.get("symbols") or ()),
        )
        if self._read is None:
            return written
        try:
            return self._read(written, tenant)
        except BadFilterError as exc:
            raise ToolArgumentsError(str(exc).removeprefix("filter.")) from exc
