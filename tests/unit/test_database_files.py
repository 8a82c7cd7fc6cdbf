"""The files of the database and of the originals are their owner's alone, and SQLite's log can be emptied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from api.database import EmptiesLog, empty_log, open_engine
from ingest.originals import Originals


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.usefixtures("open_umask")
@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_database_is_its_owners_alone_even_where_it_was_everybodys(tmp_path: Path) -> None:
    file = tmp_path / "attest.sqlite3"
    for _ in range(2):
        engine = open_engine(f"sqlite:///{file}")
        with engine.begin() as connection:
            connection.exec_driver_sql("INSERT INTO knowledge_versions VALUES (hex(randomblob(8)), 1)")
            files = sorted(tmp_path.iterdir())
            assert {path.name: mode(path) for path in files} == {path.name: 0o600 for path in files}
            assert len(files) == 3
        engine.dispose()
        file.chmod(0o644)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_originals_are_their_owners_alone_even_where_they_were_everybodys(tmp_path: Path) -> None:
    folder = tmp_path / "originals"
    originals = Originals(folder, bytes(32), "one")
    with originals.writing("acme", "0" * 32, 100) as writer:
        writer.feed(b"text")
        writer.commit()
    assert [mode(folder), mode(folder / "00"), mode(folder / "scratch")] == [0o700] * 3
    originals.close()
    folder.chmod(0o755)
    again = Originals(folder, bytes(32), "two")
    again.hold()
    assert mode(folder) == 0o700
    again.close()


async def test_emptied_log_holds_nothing_that_was_replaced(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    log = tmp_path / "attest.sqlite3-wal"
    for statement in (
        "INSERT INTO knowledge_versions VALUES ('blue zebrafish', 1)",
        "UPDATE knowledge_versions SET tenant = 'acme'",
    ):
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
    assert b"zebrafish" in log.read_bytes()
    assert await EmptiesLog(engine).rewrite("acme", str.upper) == 0
    assert log.read_bytes() == b""
    assert b"zebrafish" not in (tmp_path / "attest.sqlite3").read_bytes()
    engine.dispose()


def test_emptying_the_log_passes_where_a_reader_is_in_the_way(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'attest.sqlite3'}")
    with engine.connect() as reader:
        reader.exec_driver_sql("BEGIN")
        reader.exec_driver_sql("SELECT count(*) FROM vault").all()
        with engine.connect() as writer:
            writer.exec_driver_sql("INSERT INTO knowledge_versions VALUES ('acme', 1)")
            writer.commit()
        with caplog.at_level("INFO", "api.database"):
            impatient = create_engine(engine.url, connect_args={"timeout": 0})
            empty_log(impatient)
            impatient.dispose()
    assert "in use" in caplog.text
    engine.dispose()
