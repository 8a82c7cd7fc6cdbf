"""SQLite files: their tables and views, described by the code that describes configured databases."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from ingest.errors import CorruptDocumentError
from ingest.parsers.data.database import parse_engine
from ingest.parsers.data.database_time import deadline_of
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.data.sqlite_connection import sqlite_engine
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

_VIRTUAL = re.compile(r"\s*create\s+virtual\s+table\b", re.I)
_STORAGE_PARTS = (
    "content",
    "segments",
    "segdir",
    "docsize",
    "stat",
    "data",
    "idx",
    "config",
    "node",
    "parent",
    "rowid",
)
"""Tables in which FTS3 to FTS5 and R-trees keep what they index."""


def parse_sqlite(
    path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
    """Describe the tables and views of a SQLite file.

    Raises:
        CorruptDocumentError: SQLite cannot read it.
        NoTextError: it has no tables.
    """
    deadline = deadline_of(limits)
    engine = sqlite_engine(path, deadline, immutable=True)
    try:
        storage, virtual = _special_tables(engine)
        name = Path(display_name).stem or display_name
        return parse_engine(engine, name, "sqlite", deadline, session, storage, virtual)
    except (SQLAlchemyError, sqlite3.Error) as exc:
        raise CorruptDocumentError(f"{display_name}: the SQLite file cannot be read; it may be damaged") from exc
    finally:
        engine.dispose()


def _special_tables(engine: Engine) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tables that hold a virtual table's content, and the virtual ones.

    `PRAGMA table_list` would tell, but it resolves every view.
    """
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")).all()
    virtual = frozenset(str(name) for name, sql in rows if _VIRTUAL.match(str(sql)))
    storage = frozenset(f"{name}_{part}" for name in virtual for part in _STORAGE_PARTS)
    return storage, virtual
