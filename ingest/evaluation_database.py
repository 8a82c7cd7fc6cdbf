"""Compares what a database's description says with what the database itself says: columns, keys, row counts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from ingest.chunking import chunk_document
from ingest.evaluation_transcripts import rough_tokens
from ingest.parsers.registry import parse
from ingest.settings import ChunkSettings, ParserSettings
from ingest.types import Block, ParsedDocument
from retrieval.types import Value


class DatabaseCounts(Value):
    """Facts of the tables, and how many the description has right."""

    tables: int
    tables_right: int
    """With every column, key and the row count right, and nothing else."""
    columns: int
    columns_right: int
    """Name, declared type, whether NULL is allowed, and primary key."""
    foreign_keys: int
    foreign_keys_right: int
    row_counts_right: int
    chunks: int
    tables_in_one_chunk: int
    """Tables whose description was not divided."""
    chunks_of_several_tables: int


def evaluate_database(path: Path) -> DatabaseCounts:
    """Describe a SQLite file and compare it with its own PRAGMAs and counts."""
    parsed = parse(path, "sqlite", path.name, ParserSettings())
    said = _said(parsed)
    counts = dict.fromkeys(DatabaseCounts.model_fields, 0)
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [str(name) for (name,) in connection.execute(query)]
        for name in names:
            _compare(connection, name, said.get(name, []), counts)
    counts["tables"] = len(names)
    chunks = chunk_document(parsed, rough_tokens, ChunkSettings(), 512)
    paths = [chunk.heading_path for chunk in chunks]
    counts["chunks"] = len(chunks)
    counts["tables_in_one_chunk"] = sum(1 for name in names if paths.count((name,)) == 1)
    about = [sum(1 for name in names if f"Table {name}, " in chunk.text) for chunk in chunks]
    counts["chunks_of_several_tables"] = sum(1 for tables in about if tables > 1)
    return DatabaseCounts(**counts)


def _said(parsed: ParsedDocument) -> dict[str, list[Block]]:
    sections: dict[str, list[Block]] = {}
    for block in parsed.blocks:
        if block.kind == "heading":
            sections[block.text] = []
        else:
            sections[next(reversed(sections))].append(block)
    return sections


def _compare(connection: sqlite3.Connection, name: str, blocks: list[Block], counts: dict[str, int]) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    columns = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
    foreign = connection.execute(f"PRAGMA foreign_key_list({quoted})").fetchall()
    (rows,) = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()
    about = blocks[0].text.split("\n") if blocks else []
    described = next((block.rows for block in blocks if block.kind == "table"), ())
    told = {row[0]: row for row in described[1:]}
    right = sum(
        1 for _, column, kind, required, _, key, *_ in columns if _is_right(told.get(column), kind, required, key)
    )
    links = sum(1 for key in foreign if told.get(key[3]) and f"→ {key[2]}.{key[4]}" in told[key[3]][3])
    counted = about[:1] == [f"Table {name}, {rows} rows."]
    counts["columns"] += len(columns)
    counts["columns_right"] += right
    counts["foreign_keys"] += len(foreign)
    counts["foreign_keys_right"] += links
    counts["row_counts_right"] += counted
    everything = right == len(columns) == len(told) and links == len(foreign) and counted
    counts["tables_right"] += everything


def _is_right(row: tuple[str, ...] | None, kind: str, required: int, key: int) -> bool:
    """SQLite lets a primary key that is not declared NOT NULL hold NULL; reflection says what is declared."""
    if row is None:
        return False
    same_type = "".join(row[1].split()).upper() == "".join(kind.split()).upper()
    return same_type and (row[2] == "no") == bool(required) and ("primary key" in row[3]) == bool(key)
