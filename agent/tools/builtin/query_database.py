"""Tool: query a database that was taken in. Its result is a source the answer can cite."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from agent.egress import document_labels
from agent.errors import ToolArgumentsError
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.databases import DatabaseCard, Databases
from agent.tools.sql.guard import MAX_SQL_CHARS, check_query
from agent.tools.sql.reading import Deadline, Rows, TableShape, dialect_of, read_rows, read_tables
from retrieval.passages import make_passage
from retrieval.types import Chunk, Principal, SearchFilter

_UNRANKED = 0.5
_MAX_CELL_CHARS = 200
_MAX_COLUMNS_SHOWN = 40

Hide = Callable[[str, str], str]
"""(text, tenant) → the text with pseudonyms in place of secrets."""


class QueryDatabase:
    """Reads with one SELECT; without one it shows the tables."""

    def __init__(self, databases: Databases, hide: Hide, *, timeout_s: float = 5.0, max_rows: int = 50) -> None:
        """Prepare the tool.

        Args:
            databases: what a principal may query.
            hide: applied to every text that comes out of a database.
            timeout_s: of one query.
            max_rows: shown of one result.
        """
        self._databases, self._hide = databases, hide
        self._timeout_s, self._max_rows = timeout_s, max_rows
        self._spec = ToolSpec(
            name="query_database",
            description="Read a database with one SQL SELECT; its rows can be cited. Leave sql out to see the "
            "databases, their tables and columns first. Let SQL count and add up; ask only for what is needed.",
            arguments={
                "type": "object",
                "properties": {
                    "database": {"type": "string", "maxLength": 200, "description": "Its name or document id."},
                    "sql": {"type": "string", "maxLength": MAX_SQL_CHARS, "description": "One SELECT statement."},
                },
                "additionalProperties": False,
            },
            # Its own limit ends a query first, with a message that helps.
            timeout_ms=int(timeout_s * 1000) + 3000,
            max_concurrency=4,
            feature="databases",
            reads_knowledge=True,
            external=True,
        )

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return self._spec

    async def is_of_use(self, principal: Principal, filter: SearchFilter) -> bool:
        """Tell whether there is a database that this run may read."""
        return bool(await self._databases.visible(principal, filter))

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Query one database, or show what there is."""
        cards = await self._databases.visible(context.principal, context.filter)
        sql = str(arguments.get("sql") or "").strip()
        wanted = _chosen(cards, str(arguments.get("database") or "").strip(), must=bool(sql))
        cancelled = threading.Event()
        try:
            if not sql:
                return await asyncio.to_thread(self._describe, wanted or cards, context, cancelled)
            assert wanted is not None
            return await asyncio.to_thread(self._query, wanted[0], sql, context, cancelled)
        finally:
            cancelled.set()

    def _describe(self, cards: Sequence[DatabaseCard], context: ToolContext, cancelled: threading.Event) -> ToolResult:
        if not cards:
            return ToolResult(text="没有可查询的数据库。" if context.language == "zh" else "There is no database.")
        parts: list[str] = []
        for card in cards:
            with self._databases.open(context.principal, card) as access:
                shapes = read_tables(access, Deadline(self._timeout_s, cancelled))
                parts.append(f"{card.name} ({card.title}), {dialect_of(access)}:\n{_shown(shapes)}")
        labels = document_labels(*(card.labels for card in cards))
        return ToolResult(text=self._hide("\n\n".join(parts), context.principal.tenant), labels=labels)

    def _query(self, card: DatabaseCard, sql: str, context: ToolContext, cancelled: threading.Event) -> ToolResult:
        deadline = Deadline(self._timeout_s, cancelled)
        with self._databases.open(context.principal, card) as access:
            tables = [shape.name for shape in read_tables(access, deadline)]
            checked = check_query(sql, dialect=dialect_of(access), tables=tables, max_rows=self._max_rows)
            rows = read_rows(access, checked.sql, self._max_rows, deadline)
        label = context.reserve_query(card.name, checked.tables[0])
        written = self._hide(_written(rows, context.max_chars), context.principal.tenant)
        notes = _notes(rows, written, context.language)
        passage = make_passage(label, _chunk(card, label, written, context), _UNRANKED, (), ())
        return ToolResult(passages=(passage,), text=notes)


def _chosen(cards: Sequence[DatabaseCard], name: str, *, must: bool) -> list[DatabaseCard] | None:
    if not name and (not must or len(cards) == 1):
        return list(cards) if must else None
    found = [card for card in cards if name.casefold() in {card.name.casefold(), card.document_id}]
    if not found:
        shown = ", ".join(card.name for card in cards[:20]) or "none"
        raise ToolArgumentsError(f"There is no such database. The databases are: {shown}.")
    return found


def _shown(shapes: Sequence[TableShape]) -> str:
    lines: list[str] = []
    for shape in shapes:
        columns = ", ".join(f"{name} {kind}" for name, kind in shape.columns[:_MAX_COLUMNS_SHOWN])
        lines.append(f"- {shape.name}({columns}{', …' if len(shape.columns) > _MAX_COLUMNS_SHOWN else ''})")
    return "\n".join(lines)


def _written(rows: Rows, max_chars: int) -> str:
    """Write rows as ingestion writes tables, whole rows until the room is used up."""
    lines = [" | ".join(rows.columns)]
    room = max_chars - len(lines[0])
    for row in rows.rows:
        line = " | ".join(_cell(value) for value in row)
        room -= len(line) + 1
        if room < 0 and len(lines) > 1:
            break
        lines.append(line)
    return "\n".join(lines)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bytes():
            return f"({len(value)} bytes)"
        case float():
            return f"{Decimal(repr(value)):f}" if value == value and abs(value) != float("inf") else str(value)
        case datetime() | date():
            return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        case _:
            written = " ".join(str(value).replace("|", "/").split())
            return written if len(written) <= _MAX_CELL_CHARS else written[: _MAX_CELL_CHARS - 1] + "…"


def _notes(rows: Rows, written: str, language: str) -> str:
    shown = written.count("\n")
    if not rows.rows:
        return "查询没有结果行。" if language == "zh" else "The query gave no row."
    if not rows.cut and shown == len(rows.rows):
        return ""
    said = "只显示前 {} 行，还有更多。" if language == "zh" else "Only the first {} rows are shown; there are more."
    return said.format(shown)


def _chunk(card: DatabaseCard, label: str, text: str, context: ToolContext) -> Chunk:
    """Make the result a chunk of its document, so that citations, audit and deletion know where it is from."""
    digest = hashlib.sha256(f"{context.run_id}/{label}/{text}".encode("utf-8", "replace")).hexdigest()
    return Chunk(
        chunk_id=f"query-{digest[:32]}",
        tenant=context.principal.tenant,
        document_id=card.document_id,
        ordinal=0,
        text=text,
        index_text="",
        start_char=0,
        end_char=len(text),
        kind="table",
        title=card.title,
        authority=card.authority,
        labels=card.labels,
        access=frozenset({f"user:{context.principal.user}"}),
    )
