"""Migrations bring an empty database to exactly the tables that the rooms declare."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import agent.tables
import ingest.tables
from api.database import migrate, open_engine


def test_migrations_and_tables_agree(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        for metadata in (ingest.tables.metadata, agent.tables.metadata):
            differences = [
                d for d in compare_metadata(context, metadata) if d[0] not in {"remove_table", "remove_index"}
            ]
            assert differences == []
    engine.dispose()


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    migrate(engine)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar() == 1
    engine.dispose()
