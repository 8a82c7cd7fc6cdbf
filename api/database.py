"""The SQL engine and its migrations. Owners of tables receive the engine, never create it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from api.errors import DatabaseUnavailableError, SettingsError

MIGRATIONS = Path(__file__).parent / "migrations"


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


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # WAL lets the reader and the one writer work side by side; FULL because an
    # acknowledged upload must survive a power cut.
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    # What is deleted is overwritten: a deletion receipt speaks of the file too.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.execute("PRAGMA busy_timeout=10000")
    cursor.close()
