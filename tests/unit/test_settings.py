"""Settings come from the environment and `attest.toml`, and a wrong name is never ignored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.errors import SettingsError
from api.settings import load_settings
from ingest.settings import ParserSettings


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in os.environ if n.startswith("ATTEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path))


def test_environment_reaches_its_section(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ATTEST_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    settings = load_settings()
    assert settings.home == tmp_path
    assert settings.llm.base_url == "http://127.0.0.1:1/v1"
    assert settings.database_url == f"sqlite:///{tmp_path / 'attest.sqlite3'}"


def test_file_lies_below_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "attest.toml").write_text("[search]\ntop_k = 5\nrerank_k = 7\n", encoding="utf-8")
    monkeypatch.setenv("ATTEST_SEARCH_TOP_K", "4")
    settings = load_settings()
    assert (settings.search.top_k, settings.search.rerank_k) == (4, 7)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ATTEST_LLM_BASURL", "x", "llm.basurl"),
        ("ATTEST_FOO_BAR", "x", "ATTEST_FOO_BAR"),
        ("ATTEST_SERVER_PORT", "many", "server.port"),
    ],
)
def test_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=told):
        load_settings()


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ATTEST_KEYS_VAULT", "ab" * 32)
    shown = repr(load_settings())
    assert "sk-very-secret" not in shown
    assert "ab" * 32 not in shown


def test_a_broken_file_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "attest.toml").write_text("[search\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings()


@pytest.mark.parametrize(("processors", "processes"), [(None, 1), (1, 1), (2, 1), (6, 3), (64, 4)])
def test_settings_leave_half_of_the_processors_to_the_encoder(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, processes: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert ParserSettings().processes == processes
