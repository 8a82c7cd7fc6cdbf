"""Fakes of ingestion's Protocols, and values for tests. They obey the same errors as the real parts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from ingest.tables import metadata


class ManualClock:
    """A clock that moves when told to, and by a microsecond at each reading, so that no two times are equal."""

    def __init__(self, start: datetime = datetime(2024, 10, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Return the time."""
        self._now += timedelta(microseconds=1)
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._now += timedelta(seconds=seconds)


def sqlite_engine(folder: Path) -> Engine:
    """Return an engine on a fresh SQLite file with ingestion's tables."""
    engine = create_engine(f"sqlite:///{folder / 'ingest.db'}")
    event.listen(engine, "connect", _fast)
    metadata.create_all(engine)
    return engine


def _fast(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # Survives a killed process, not a power cut; the fsyncs would be most of a test's time.
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=OFF")
    cursor.close()
