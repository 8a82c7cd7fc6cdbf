"""Databases: what reflection gives is what is there; a hostile file is refused or bounded, and never run."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from ingest.chunking import chunk_document
from ingest.errors import CorruptDocumentError, NoTextError, SourceUnavailableError, UnsupportedDocumentError
from ingest.parsers.data.database import parse_database
from ingest.parsers.data.sqlite import parse_sqlite
from ingest.settings import ChunkSettings, ParserSettings
from ingest.types import Block, ParsedDocument

LIMITS = ParserSettings()
SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city TEXT DEFAULT 'Bern', photo BLOB);
CREATE TABLE "order" (id INTEGER, line INTEGER, customer_id INTEGER REFERENCES customer(id), total NUMERIC(10,2),
    PRIMARY KEY (id, line), UNIQUE (total, line));
CREATE INDEX by_customer ON "order" (customer_id);
CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM "order" GROUP BY customer_id;
INSERT INTO customer VALUES (1, '张三', NULL, x'0102'), (2, 'Anna | Ben', 'Basel', NULL);
"""


def made(folder: Path, script: str) -> Path:
    path = folder / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()
    return path


def sections(document: ParsedDocument) -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {}
    for block in document.blocks:
        if block.kind == "heading":
            found[block.text] = []
        else:
            found[list(found)[-1]].append(block)
    return found


def test_sqlite_describes_tables_and_views(tmp_path: Path) -> None:
    document = parse_sqlite(made(tmp_path, SHOP), "shop.sqlite", LIMITS)
    found = sections(document)
    assert document.title == "shop"
    assert list(found) == ["customer", "order", "totals"]
    about, columns = found["order"]
    assert about.text.split("\n") == [
        "Table order, 0 rows.",
        "Primary key: id, line.",
        "Foreign key: customer_id → customer(id).",
        "Unique: total, line.",
        "Index by_customer: customer_id.",
    ]
    assert columns.rows == (
        ("Column", "Type", "Null", "Key"),
        ("id", "INTEGER", "yes", "primary key"),
        ("line", "INTEGER", "yes", "primary key"),
        ("customer_id", "INTEGER", "yes", "→ customer.id"),
        ("total", "NUMERIC(10, 2)", "yes", ""),
    )
    assert [block.kind for block in found["totals"]] == ["paragraph", "table", "code"]


def test_sqlite_shows_a_few_rows_and_no_bytes(tmp_path: Path) -> None:
    about, _, caption, sample = sections(parse_sqlite(made(tmp_path, SHOP), "a", LIMITS))["customer"]
    assert about.text.startswith("Table customer, 2 rows.")
    assert caption.text == "Sample rows of customer"
    assert sample.rows == (
        ("id", "name", "city", "photo"),
        ("1", "张三", "NULL", "(2 bytes)"),
        ("2", "Anna | Ben", "Basel", "NULL"),
    )


def test_sqlite_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = made(tmp_path, SHOP)
    before = path.read_bytes()
    parse_sqlite(path, "a", LIMITS)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["shop.sqlite"]


def test_sqlite_that_is_damaged_is_corrupt(tmp_path: Path) -> None:
    path = made(tmp_path, SHOP)
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 5000)
    with pytest.raises(CorruptDocumentError):
        parse_sqlite(path, "a.db", LIMITS)


def test_sqlite_damaged_in_its_rows_still_tells_its_structure(tmp_path: Path) -> None:
    path = made(tmp_path, "CREATE TABLE t (a TEXT);" + "INSERT INTO t VALUES (hex(randomblob(2000)));" * 50)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    document = parse_sqlite(path, "a.db", LIMITS)
    assert sections(document)["t"][1].rows[1][:2] == ("a", "TEXT")
    assert document.notes == ("the rows of t were not counted",)


def test_sqlite_without_tables_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(NoTextError):
        parse_sqlite(made(tmp_path, "CREATE TABLE a (b); DROP TABLE a;"), "a.db", LIMITS)


def test_sqlite_view_bombs_are_named_and_not_resolved(tmp_path: Path) -> None:
    views = "".join(f"CREATE VIEW v{n} AS SELECT a.x FROM v{n - 1} a, v{n - 1} b;" for n in range(1, 40))
    script = f"CREATE TABLE t (x); CREATE VIEW v0 AS SELECT x FROM t; {views}"
    document = parse_sqlite(made(tmp_path, script), "a.db", LIMITS)
    assert len(sections(document)) == 41
    assert any("v39 were not resolved" in note for note in document.notes)


def test_sqlite_schema_that_loops_or_lacks_its_module_costs_that_table_alone(tmp_path: Path) -> None:
    path = made(tmp_path, "CREATE TABLE t (x); CREATE TABLE gone (y); CREATE VIEW a AS SELECT * FROM t;")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = 'CREATE VIEW a AS SELECT * FROM a, a' WHERE name = 'a'")
    connection.execute(
        "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE gone USING nosuch(y)', rootpage = 0 WHERE name = 'gone'"
    )
    connection.commit()
    connection.close()
    document = parse_sqlite(path, "a.db", LIMITS)
    assert set(sections(document)) == {"t", "gone", "a"}


def test_sqlite_with_very_many_tables_is_bounded(tmp_path: Path) -> None:
    path = made(tmp_path, "BEGIN;" + "".join(f"CREATE TABLE t{n:05} (a, b);" for n in range(3000)) + "COMMIT;")
    document = parse_sqlite(path, "a.db", ParserSettings(timeout_s=2.0))
    assert "t02999" in document.blocks[-1].text
    assert "are only named" in document.notes[-1]


def test_sqlite_counting_stops_at_the_deadline(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        "CREATE TABLE t (a);"
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000)"
        " INSERT INTO t SELECT x FROM n;",
    )
    started = time.monotonic()
    document = parse_sqlite(path, "a.db", ParserSettings(timeout_s=0.02))
    assert document.blocks
    assert time.monotonic() - started < 60


def test_database_reads_a_configured_url(tmp_path: Path) -> None:
    path = made(tmp_path, SHOP)
    document = parse_database(f"sqlite:///{path}", "sales", LIMITS)
    assert (document.format, document.title, list(sections(document))) == (
        "database",
        "sales",
        ["customer", "order", "totals"],
    )
    assert str(tmp_path) not in document.model_dump_json()


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("nosuch://user:hunter2@host/db", UnsupportedDocumentError),
        ("postgresql+nodriver://user:hunter2@host/db", UnsupportedDocumentError),
        ("hunter2 is no url", UnsupportedDocumentError),
        ("sqlite:////nowhere/hunter2/db.sqlite", SourceUnavailableError),
    ],
)
def test_database_errors_never_tell_the_url(url: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        parse_database(url, "sales", LIMITS)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_database_chunks_are_one_a_table(tmp_path: Path) -> None:
    small = "".join(f"CREATE TABLE t{n} (a INTEGER);" for n in range(5))
    document = parse_sqlite(made(tmp_path, SHOP + small), "shop", LIMITS)
    chunks = chunk_document(document, lambda text: len(text) // 3, ChunkSettings(), 512)
    assert [chunk.heading_path for chunk in chunks] == [(name,) for name in sections(document)]


def test_database_table_too_wide_for_a_chunk_repeats_its_header(tmp_path: Path) -> None:
    columns = ", ".join(f"column_number_{n} VARCHAR({n + 1})" for n in range(150))
    document = parse_sqlite(made(tmp_path, f"CREATE TABLE wide ({columns}); CREATE TABLE next (a);"), "shop", LIMITS)
    chunks = chunk_document(document, lambda text: len(text) // 3, ChunkSettings(), 512)
    wide = [chunk for chunk in chunks if chunk.heading_path == ("wide",)]
    assert len(wide) > 2
    assert all("| Column | Type |" in chunk.text for chunk in wide if "column_number" in chunk.text)
    assert [chunk.heading_path for chunk in chunks].count(("next",)) == 1
