"""The SQL engine and its migrations. Owners of tables receive the engine, never create it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from api.errors import DatabaseUnavailableError, SettingsError

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
_PATIENCE_MS = 10_000
_LOG_PATIENCE_MS = 2_000


def open_engine(url: str) -> Engine:
    """Create the engine and bring the schema up to date.

    Raises:
        SettingsError: the URL cannot be read, or its driver is not installed.
        DatabaseUnavailableError: the database cannot be opened.
    """
    try:
        # Parameters are left out of logs and of errors' texts: they are what is stored.
        engine = create_engine(url, hide_parameters=True)
    except (ArgumentError, ModuleNotFoundError) as exc:  # not quoted: the URL may hold a password
        raise SettingsError(f"ATTEST_DATABASE_URL does not name a database ({type(exc).__name__})") from exc
    if engine.dialect.name == "sqlite":
        _keep_private(engine)
        event.listen(engine, "connect", _prepare_sqlite)
    try:
        migrate(engine)
    except OperationalError as exc:
        engine.dispose()
        raise DatabaseUnavailableError(f"the database {engine.url!r} cannot be opened: {exc.orig}") from exc
    return engine


def migrate(engine: Engine) -> None:
    """Run all migrations that the database has not seen."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def empty_log(engine: Engine) -> None:
    """Take out of SQLite's log what later writes have replaced in the database; other databases keep none of ours.

    Until then pages as they were lie in the file beside the database, where no query sees them. A reader that does
    not end within two seconds keeps them there until the next call.
    """
    if engine.dialect.name != "sqlite":
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Shorter than writers wait: while it waits for a reader they wait for it.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={_LOG_PATIENCE_MS}")
        try:
            busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={_PATIENCE_MS}")
    if busy:
        log.info("the log of the database is in use; what was replaced leaves it later")


class EmptiesLog:
    """Comes after all copies of texts (`ingest.copies.Copies`): what they held leaves the database's log too."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Empty the log; there is no text of its own to change."""
        await asyncio.to_thread(empty_log, self._engine)
        return 0


def _keep_private(engine: Engine) -> None:
    """Give the file of a database to its owner alone; SQLite's log and its index take its mode over."""
    file = engine.url.database
    if not file or file == ":memory:" or file.startswith("file:"):
        return
    path = Path(file)
    with suppress(OSError):  # opening it tells what is wrong
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if each.exists():
                each.chmod(0o600)


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # WAL lets the reader and the one writer work side by side; FULL because an
    # acknowledged upload must survive a power cut.
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    # What is deleted is overwritten: a deletion receipt speaks of the file too.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")
    cursor.close()
