"""One table or view of a database as blocks: what it is, its columns, its keys, a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Inspector, column, func, select, table
from sqlalchemy.exc import CompileError, SQLAlchemyError

from ingest.parsers.grid import Cell, table_block
from ingest.types import Block

SAMPLE_ROWS = 3
_SAMPLE_COLUMNS = 30
_MAX_VALUE = 80
"""Characters shown of a value."""
_MAX_DEFAULT = 60
_MAX_DEFINITION = 1500


@dataclass(frozen=True, slots=True)
class TableRows:
    """What was read of a table's rows; `count` is None where counting took too long or failed."""

    count: int | None
    columns: tuple[str, ...] = ()
    sample: tuple[tuple[object, ...], ...] = ()


def read_rows(connection: Connection, name: str, schema: str | None, columns: Sequence[str]) -> TableRows:
    """Count a table's rows and take the first few. What fails is left out: the structure alone is worth having."""
    source = table(name, schema=schema)
    shown = tuple(columns[:_SAMPLE_COLUMNS])
    try:
        count = connection.execute(select(func.count()).select_from(source)).scalar_one()
    except SQLAlchemyError:
        connection.rollback()
        count = None
    try:
        query = select(*map(column, shown)).select_from(source).limit(SAMPLE_ROWS)
        sample = tuple(tuple(row) for row in connection.execute(query)) if shown else ()
    except SQLAlchemyError:
        connection.rollback()
        sample = ()
    return TableRows(count, shown, sample)


def table_blocks(inspector: Inspector, name: str, schema: str | None, rows: TableRows) -> list[Block]:
    """Describe a table.

    Raises:
        SQLAlchemyError: it cannot be reflected.
    """
    columns = inspector.get_columns(name, schema)
    keys = _key_marks(inspector, name, schema)
    lines = [f"Table {name}, {'rows not counted' if rows.count is None else f'{rows.count} rows'}."]
    lines += [text for text in (_comment(inspector, name, schema),) if text]
    lines += _constraints(inspector, name, schema)
    blocks = [Block(kind="heading", text=name, level=1), Block(kind="paragraph", text="\n".join(lines))]
    blocks += _columns_table(columns, keys)
    header = [Cell(text, header=True) for text in rows.columns]
    sample = table_block([header, *([Cell(_value(value)) for value in row] for row in rows.sample)], 1)
    if rows.sample and sample is not None:
        blocks += [Block(kind="caption", text=f"Sample rows of {name}"), sample]
    return blocks


def view_blocks(columns: Sequence[Mapping[str, Any]], name: str, definition: str) -> list[Block]:
    """Describe a view by its columns and the beginning of its definition. A view is never run."""
    blocks = [Block(kind="heading", text=name, level=1), Block(kind="paragraph", text=f"View {name}.")]
    blocks += _columns_table(columns, {})
    text = definition.strip()
    if text:
        blocks.append(Block(kind="code", text=text[:_MAX_DEFINITION] + ("…" if len(text) > _MAX_DEFINITION else "")))
    return blocks


def _columns_table(columns: Sequence[Mapping[str, Any]], keys: Mapping[str, str]) -> list[Block]:
    commented = any(col.get("comment") for col in columns)
    defaults = [_default(col) for col in columns]
    extra = [*(["Default"] if any(defaults) else []), *(["Comment"] if commented else [])]
    names = ["Column", "Type", "Null", "Key", *extra]
    cells = [[Cell(text, header=True) for text in names]]
    for col, default in zip(columns, defaults, strict=True):
        texts = [
            str(col["name"]),
            _type(col.get("type")),
            "yes" if col.get("nullable", True) else "no",
            keys.get(str(col["name"]), ""),
            *([default] if any(defaults) else []),
            *([str(col.get("comment") or "")] if commented else []),
        ]
        cells.append([Cell(text) for text in texts])
    block = table_block(cells, 1)
    return [block] if block is not None else []


def _default(col: Mapping[str, Any]) -> str:
    if col.get("computed"):
        return "computed"
    return "" if col.get("default") is None else str(col["default"])[:_MAX_DEFAULT]


def _key_marks(inspector: Inspector, name: str, schema: str | None) -> dict[str, str]:
    marks: dict[str, list[str]] = {}
    for key in inspector.get_pk_constraint(name, schema).get("constrained_columns") or ():
        marks.setdefault(key, []).append("primary key")
    for foreign in inspector.get_foreign_keys(name, schema):
        target = foreign["referred_table"]
        referred = foreign["referred_columns"] or [""] * len(foreign["constrained_columns"])
        for own, other in zip(foreign["constrained_columns"], referred, strict=False):
            marks.setdefault(own, []).append(f"→ {target}.{other}".rstrip("."))
    return {key: ", ".join(texts) for key, texts in marks.items()}


def _constraints(inspector: Inspector, name: str, schema: str | None) -> list[str]:
    lines: list[str] = []
    primary = inspector.get_pk_constraint(name, schema).get("constrained_columns") or []
    if primary:
        lines.append(f"Primary key: {', '.join(primary)}.")
    for foreign in inspector.get_foreign_keys(name, schema):
        referred = ", ".join(foreign["referred_columns"] or ())
        target = f"{foreign['referred_table']}({referred})" if referred else foreign["referred_table"]
        lines.append(f"Foreign key: {', '.join(foreign['constrained_columns'])} → {target}.")
    unique = [constraint["column_names"] for constraint in inspector.get_unique_constraints(name, schema)]
    lines += [f"Unique: {', '.join(filter(None, names))}." for names in unique]
    for index in inspector.get_indexes(name, schema):
        names = ", ".join(filter(None, index["column_names"])) or "expression"
        if index["column_names"] not in unique:
            lines.append(f"{'Unique index' if index['unique'] else 'Index'} {index['name']}: {names}.")
    return lines


def _comment(inspector: Inspector, name: str, schema: str | None) -> str:
    try:
        return str(inspector.get_table_comment(name, schema).get("text") or "")
    except NotImplementedError:
        return ""


def _type(kind: object) -> str:
    try:
        text = str(kind)
    except CompileError:
        return ""
    return "" if text == "NULL" else text


def _value(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes | bytearray):
        return f"({len(value)} bytes)"
    text = " ".join(str(value)[: 4 * _MAX_VALUE].split())
    return text if len(text) <= _MAX_VALUE else text[:_MAX_VALUE] + "…"
