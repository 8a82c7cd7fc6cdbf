"""Read a database: its tables, and the rows of a checked query. Blocking; nothing is ever written.

SQLite: opened `mode=ro`, an authoriser that knows reading alone, a look at the clock every few thousand
steps, so that an endless query ends in time. Others: a read-only transaction with the server's own
statement time-out.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from agent.errors import ToolArgumentsError, ToolError

_MAX_TABLES = 200
_MAX_VALUE_BYTES = 1024 * 1024
_STEPS = 5_000
_READING = frozenset({
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_TRANSACTION,
})
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})


@dataclass(frozen=True, slots=True)
class DatabaseAccess:
    """How a database is opened. The URL may hold a password: it reaches no message."""

    url: str
    """An SQLAlchemy URL."""
    immutable: bool = False
    """A SQLite file that nobody writes to: no lock is taken and no journal looked for."""


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table or view, with (name, type) of its columns."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a result; `cut` when there were more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    cut: bool


class Deadline:
    """When a query must have ended, or is not waited for any more."""

    def __init__(self, seconds: float, cancelled: threading.Event | None = None) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self._cancelled = cancelled

    @property
    def passed(self) -> bool:
        """Tell whether to stop."""
        return time.monotonic() > self._ends or (self._cancelled is not None and self._cancelled.is_set())


def dialect_of(access: DatabaseAccess) -> str:
    """Return the name of the SQL dialect for the parser."""
    backend = make_url(access.url).get_backend_name()
    return {"postgresql": "postgres", "mariadb": "mysql", "mssql": "tsql"}.get(backend, backend)


def read_tables(access: DatabaseAccess, deadline: Deadline) -> list[TableShape]:
    """Return tables and views of the default schema, at most two hundred.

    Raises:
        ToolError: the database cannot be read.
    """
    with _reading(access, deadline, free=True) as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # types that reflection does not know
        inspector = inspect(connection)
        names = [*inspector.get_table_names(), *inspector.get_view_names()][:_MAX_TABLES]
        shapes = {name: inspector.get_columns(name) for name in names}
    return [
        TableShape(name, tuple((str(column["name"]), str(column["type"])) for column in columns))
        for name, columns in shapes.items()
    ]


def read_rows(access: DatabaseAccess, sql: str, max_rows: int, deadline: Deadline) -> Rows:
    """Run a checked statement and return at most `max_rows` rows.

    Raises:
        ToolArgumentsError: the database refused it, or it took too long; the message is for the model.
    """
    with _reading(access, deadline, free=False) as connection:
        result = connection.execution_options(stream_results=True).execute(text(sql.replace(":", r"\:")))
        rows = result.fetchmany(max_rows + 1)
        keys = result.keys()
        columns = tuple(str(key) for key in keys)
    kept: Sequence[tuple[object, ...]] = [tuple(row) for row in rows[:max_rows]]
    return Rows(columns, tuple(kept), len(rows) > max_rows)


@contextmanager
def _reading(access: DatabaseAccess, deadline: Deadline, *, free: bool) -> Generator[Connection, None, None]:
    """Connect read-only; `free` lets reflection ask for the schema."""
    try:
        engine = _engine(access, deadline, free=free)
    except (SQLAlchemyError, ImportError, ValueError, TypeError):
        raise ToolError("The database cannot be opened.") from None
    try:
        with engine.connect() as connection:
            yield connection
    # Not quoted beyond the driver's one line: the rest of these texts holds the statement and the URL.
    except SQLAlchemyError as exc:
        if deadline.passed:
            raise ToolArgumentsError(f"The query took longer than {deadline.seconds:g} s; ask for less.") from None
        said = str(getattr(exc, "orig", "")).splitlines()[:1]
        raise ToolArgumentsError(f"The database refused the query: {' '.join(said)[:200]}") from None
    finally:
        engine.dispose()


def _engine(access: DatabaseAccess, deadline: Deadline, *, free: bool) -> Engine:
    url = make_url(access.url)
    if url.get_backend_name() == "sqlite":
        return create_engine(
            "sqlite://",
            creator=lambda: _open_sqlite(url.database or "", access.immutable, deadline, free=free),
            poolclass=StaticPool,
            hide_parameters=True,
        )
    engine = create_engine(url, hide_parameters=True)
    statements = _server_limits(url.get_backend_name(), deadline.seconds)

    def prepare(connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()

    event.listen(engine, "connect", prepare)
    return engine


def _server_limits(backend: str, seconds: float) -> tuple[str, ...]:
    match backend:
        case "postgresql":
            return ("SET default_transaction_read_only = on", f"SET statement_timeout = {int(seconds * 1000)}")
        case "mysql":
            return ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {int(seconds * 1000)}")
        case "mariadb":
            return ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {seconds:g}")
        case _:
            # Without a way to make it read-only and to end a query, it is not queried at all.
            raise ValueError(backend)


def _open_sqlite(path: str, immutable: bool, deadline: Deadline, *, free: bool) -> sqlite3.Connection:
    address = f"file:{quote(path)}?mode=ro{'&immutable=1' if immutable else ''}"
    connection = sqlite3.connect(address, uri=True, timeout=2.0, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    connection.text_factory = _decoded
    connection.set_progress_handler(lambda: int(deadline.passed), _STEPS)
    if not free:
        connection.set_authorizer(_authorise)
    return connection


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _authorise(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and second in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and first == "read_uncommitted" and second is None:
        return sqlite3.SQLITE_OK  # SQLAlchemy asks for it with every new connection
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
