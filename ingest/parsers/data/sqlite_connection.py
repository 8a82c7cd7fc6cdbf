"""A connection to a SQLite file that can read and nothing else; the file is hostile until proven otherwise."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

from ingest.parsers.data.database_time import Deadline

_MAX_VALUE_BYTES = 16 * 1024 * 1024
_MAX_SQL_BYTES = 1024 * 1024
_STEPS = 10_000
"""Virtual machine steps between two looks at the clock."""
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION})
_PRAGMAS = frozenset({
    "table_info",
    "table_xinfo",
    "foreign_key_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "database_list",
    "read_uncommitted",
})
_HARDENING = ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "PRAGMA cell_size_check = ON")


def sqlite_engine(path: str | Path, deadline: Deadline, *, immutable: bool) -> Engine:
    """Return an engine whose connection reads and nothing else, and stops at the deadline.

    Args:
        path: the file.
        deadline: looked at every few thousand steps; what runs then is interrupted.
        immutable: nobody writes to it, so no locks are taken and no journal is looked for.
    """
    address = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if immutable else ''}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=5.0, check_same_thread=False)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_SQL_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for statement in _HARDENING:
            connection.execute(statement)
        connection.text_factory = _decode
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline.current), _STEPS)
        connection.set_authorizer(_authorise)
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=StaticPool, hide_parameters=True)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _authorise(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    """Allow reading. Everything else that a schema could smuggle in is refused: writes, ATTACH, recursion."""
    if action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
