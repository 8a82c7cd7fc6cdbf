"""A database as a document: one section per table or view, through SQLAlchemy's reflection.

Serves databases that an operator configured; `ingest.parsers.data.sqlite` reads SQLite files with
the same code. Nothing is written, views are never run, and the URL reaches no block and no message.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from sqlalchemy import Connection, Engine, Inspector, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from ingest.errors import NoTextError, SourceUnavailableError, UnsupportedDocumentError
from ingest.parsers.data.database_tables import TableRows, read_rows, table_blocks, view_blocks
from ingest.parsers.data.database_time import TABLE_S, Deadline, deadline_of
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.data.sqlite_connection import sqlite_engine
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

MAX_TABLES = 2_000
"""Tables and views described; the rest are named."""
_MAX_EXPANSION = 500
"""Views that resolving one view may touch; nested ones grow exponentially."""
_READ_ONLY: dict[str, tuple[str, ...]] = {
    "postgresql": ("SET default_transaction_read_only = on", f"SET statement_timeout = {int(TABLE_S * 1000)}"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {int(TABLE_S * 1000)}"),
    "mariadb": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {int(TABLE_S)}"),
}
_WORD = re.compile(r"\w+")


def parse_database(url: str | URL, name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Describe a configured database.

    Args:
        url: an operator's SQLAlchemy URL, its password included; never an API caller's.
        name: what the database is called; stands in blocks and messages in place of the URL.
        limits: its wall time bounds the reflection.
        session: hears of the progress, a table a page.

    Raises:
        UnsupportedDocumentError: no such dialect, or its driver is not installed.
        SourceUnavailableError: it cannot be reached just now.
        NoTextError: it has no tables.
    """
    deadline = deadline_of(limits)
    # No `from exc` in what follows: drivers put the URL, password and all, into their messages.
    try:
        engine = _engine(make_url(url), deadline)
    except (SQLAlchemyError, ImportError, ValueError, TypeError):
        raise UnsupportedDocumentError(f"{name}: the database URL names no dialect with an installed driver") from None
    try:
        return parse_engine(engine, name, "database", deadline, session)
    except SQLAlchemyError as exc:
        raise SourceUnavailableError(f"{name}: the database cannot be read ({type(exc).__name__})") from None
    finally:
        engine.dispose()


def _engine(url: URL, deadline: Deadline) -> Engine:
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        return sqlite_engine(url.database, deadline, immutable=False)
    engine = create_engine(url, hide_parameters=True)
    statements = _READ_ONLY.get(url.get_backend_name(), ())

    def make_read_only(connection: object, record: object) -> None:
        cursor = connection.cursor()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        for statement in statements:
            cursor.execute(statement)  # pyright: ignore[reportUnknownMemberType]
        cursor.close()  # pyright: ignore[reportUnknownMemberType]

    if statements:
        event.listen(engine, "connect", make_read_only)
    return engine


def parse_engine(
    engine: Engine,
    name: str,
    format: Literal["sqlite", "database"],
    deadline: Deadline,
    session: ParseSession = QUIET,
    skipped: frozenset[str] = frozenset(),
    unread: frozenset[str] = frozenset(),
) -> ParsedDocument:
    """Describe every table and view of the default schema.

    Args:
        engine: connects read-only.
        name: the document's title.
        format: which of the two kinds of document it is.
        deadline: what is left when it comes is named and no more.
        session: hears of the progress.
        skipped: tables that are another table's storage.
        unread: tables whose rows are not touched (virtual ones, whose modules would run).

    Raises:
        SQLAlchemyError: the list of tables cannot be read.
        NoTextError: there is neither table nor view.
    """
    with warnings.catch_warnings(), engine.connect() as connection:
        warnings.simplefilter("ignore", SAWarning)  # types that reflection does not know
        reader = _Reader(connection, deadline, session, unread)
        blocks = tuple(reader.read(skipped))
    if not blocks:
        raise NoTextError(f"{name}: the database has no tables")
    return ParsedDocument(format=format, blocks=blocks, title=name, notes=tuple(reader.notes))


class _Reader:
    def __init__(
        self, connection: Connection, deadline: Deadline, session: ParseSession, unread: frozenset[str]
    ) -> None:
        self._connection, self._deadline, self._session, self._unread = connection, deadline, session, unread
        self._inspector: Inspector = inspect(connection)
        self.notes: list[str] = []

    def read(self, skipped: frozenset[str]) -> Iterator[Block]:
        tables = [name for name in self._inspector.get_table_names() if name not in skipped]
        views = self._inspector.get_view_names()
        definitions = self._definitions(views[: max(0, MAX_TABLES - len(tables))])
        unsafe = _too_nested(definitions)
        total = len(tables) + len(views)
        left: list[str] = []
        for done, (name, is_view) in enumerate([*((t, False) for t in tables), *((v, True) for v in views)]):
            if done >= MAX_TABLES or self._deadline.is_over:
                left.append(name)
                continue
            self._deadline.start_table()
            try:
                yield from self._view(name, definitions, unsafe) if is_view else self._table(name)
            except SQLAlchemyError as exc:
                self._connection.rollback()
                self.notes.append(f"{name} could not be described ({type(exc).__name__})")
                yield Block(kind="heading", text=name, level=1)
                yield Block(kind="paragraph", text=f"{'View' if is_view else 'Table'} {name}, structure not readable.")
            self._deadline.stop_table()
            self._session.page_done(done + 1, total)
        if left:
            self.notes.append(f"{len(left)} of {total} tables and views are only named: too many, or out of time")
            yield Block(kind="heading", text="Further tables", level=1)
            yield Block(kind="paragraph", text=", ".join(left))

    def _table(self, name: str) -> list[Block]:
        if name in self._unread:
            return table_blocks(self._inspector, name, None, TableRows(None))
        columns = [str(col["name"]) for col in self._inspector.get_columns(name)]
        rows = read_rows(self._connection, name, None, columns)
        if rows.count is None:
            self.notes.append(f"the rows of {name} were not counted")
        return table_blocks(self._inspector, name, None, rows)

    def _view(self, name: str, definitions: dict[str, str], unsafe: frozenset[str]) -> list[Block]:
        if name in unsafe:
            self.notes.append(f"the columns of the view {name} were not resolved: it nests too many views")
            return view_blocks((), name, definitions.get(name, ""))
        return view_blocks(self._inspector.get_columns(name), name, definitions.get(name, ""))

    def _definitions(self, views: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in views:
            if self._deadline.is_over:
                break
            try:
                found[name] = self._inspector.get_view_definition(name) or ""
            except (SQLAlchemyError, NotImplementedError):
                self._connection.rollback()
        return found


def _too_nested(definitions: dict[str, str]) -> frozenset[str]:
    """Return the views that refer to themselves, or that resolve to very many others.

    Resolving a view resolves all that it names, each as often as it is named: thirty views
    that each join the one before twice are a thousand million.
    """
    by_name = {name.casefold(): name for name in definitions}
    named = {
        name: Counter(by_name[word] for word in map(str.casefold, _WORD.findall(sql)) if word in by_name)
        for name, sql in definitions.items()
    }
    for name, counts in named.items():
        counts[name] -= 1  # its own name in `CREATE VIEW name`
    cost = dict.fromkeys(definitions, 1)
    for _ in range(64):
        grown = {
            name: min(10 * _MAX_EXPANSION, 1 + sum(cost[other] * max(0, times) for other, times in counts.items()))
            for name, counts in named.items()
        }
        if grown == cost:
            break
        cost = grown
    return frozenset(name for name, total in cost.items() if total > _MAX_EXPANSION)
