"""Migrations bring an empty database to exactly the tables that the rooms declare."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import produce_migrations
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import agent.tables
import ingest.tables
import retrieval.decision_tables
from api.database import MIGRATIONS, migrate, open_engine


def test_migrations_and_tables_agree(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        declared = [ingest.tables.metadata, agent.tables.metadata, retrieval.decision_tables.metadata]
        differences = produce_migrations(context, declared).upgrade_ops
        assert differences is not None
        assert differences.as_diffs() == []
    engine.dispose()


def test_migrations_have_one_end(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    with engine.connect() as connection:
        reached = MigrationContext.configure(connection).get_current_heads()
    engine.dispose()
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == list(reached)
    assert len(reached) == 1


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    migrate(engine)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar() == 1
    engine.dispose()
