"""Fingerprints of erased values, written by two processes at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import event

from ingest.erased import ErasedValues
from ingest.fakes import sqlite_engine
from retrieval.types import Principal


def test_two_processes_may_erase_the_same_value_at_once(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path)
    other = [True]

    def comes_in_between(*args: object) -> None:
        if other and str(args[2]).startswith("INSERT INTO vault_erased"):
            other.clear()
            with closing(sqlite3.connect(tmp_path / "ingest.db")) as database, database:
                row = ("acme", "f" * 64, "phone", "2024-10-01 00:00:00", "bob", "first")
                database.execute("INSERT INTO vault_erased VALUES (?, ?, ?, ?, ?, ?)", row)

    event.listen(engine, "before_cursor_execute", comes_in_between)
    erased = ErasedValues(engine)
    erased.add(Principal(tenant="acme", user="ann"), {"f" * 64: "phone", "e" * 64: "phone"})
    assert not other
    assert erased.of("acme") == {"f" * 64, "e" * 64}
    engine.dispose()
