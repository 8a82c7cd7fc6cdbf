"""Tool: read a document, or some of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.errors import ToolArgumentsError
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from retrieval.labels import find_tags
from retrieval.passages import make_passage
from retrieval.types import Chunk, Passage

_UNRANKED = 0.5
"""Score of a passage that was read, not ranked: medium confidence."""


class ReadDocument:
    """Gives a document's passages in order, as many as one observation holds."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        number = {"type": "integer", "minimum": 1}
        return ToolSpec(
            name="read_document",
            description="Read a document in order, from one page (or section, where there are no pages) to another. "
            "Gives passages with their source labels.",
            arguments={
                "type": "object",
                "properties": {
                    "document": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 400,
                        "description": "The document's id, its title, or the label of a passage of it.",
                    },
                    "from_page": number,
                    "to_page": number,
                },
                "required": ["document"],
                "additionalProperties": False,
            },
            reads_knowledge=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Read within the run's filter; a document that is not admitted does not exist."""
        chunks = await self._chunks(str(arguments["document"]), context)
        first, last = int(arguments.get("from_page", 1)), arguments.get("to_page")
        wanted = [c for c in chunks if _place(c) >= first and (last is None or _start(c) <= int(last))]
        if not wanted:
            raise ToolArgumentsError(f"The document has nothing from {first} on; it ends at {_place(chunks[-1])}.")
        taken = _fitting(wanted, context.max_chars)
        passages = tuple(_passage(chunk, context) for chunk in taken)
        return ToolResult(passages=passages, text=_rest(wanted, len(taken), context.language))

    async def _chunks(self, name: str, context: ToolContext) -> Sequence[Chunk]:
        name = next((tag.label for tag in find_tags(name)), name.strip())
        cited = context.passages.get(name)
        document_id = cited.chunk.document_id if cited else name
        chunks = await context.library.read_document(context.principal, document_id, context.filter)
        if chunks:
            return chunks
        cards = await context.library.list_documents(context.principal, context.filter, limit=500)
        titled = [
            card.document_id for card in cards if card.title.casefold().strip() == name.casefold().strip("《》\"' ")
        ]
        if len(titled) != 1:
            raise ToolArgumentsError("There is no such document. Use list_documents for the ids.")
        return await context.library.read_document(context.principal, titled[0], context.filter)


def _start(chunk: Chunk) -> int:
    """Page, else section, else the place in the document; 1-based."""
    return chunk.page_start or chunk.section_number or chunk.ordinal + 1


def _place(chunk: Chunk) -> int:
    """The last page (section, place) that the chunk covers."""
    return chunk.page_end or _start(chunk)


def _fitting(chunks: Sequence[Chunk], max_chars: int) -> list[Chunk]:
    taken: list[Chunk] = []
    room = max_chars
    for chunk in chunks:
        room -= len(chunk.text) + 200
        if taken and room < 0:
            break
        taken.append(chunk)
    return taken


def _passage(chunk: Chunk, context: ToolContext) -> Passage:
    return make_passage(context.book.label(chunk), chunk, _UNRANKED, (), ())


def _rest(wanted: Sequence[Chunk], taken: int, language: str) -> str:
    if taken == len(wanted):
        return ""
    start = _start(wanted[taken])
    return f"后面还有内容：from_page={start}。" if language == "zh" else f"There is more: from_page={start}."
