"""The command line takes a server's address only from the home that the server serves."""

from __future__ import annotations

import shutil
from pathlib import Path

from api.client import ServerFile, _announced, server_file


def _announce(home: Path) -> ServerFile:
    home.mkdir()
    note = ServerFile(url="http://127.0.0.1:8321", pid=1, instance="ab", home=str(home.resolve()))
    server_file(home).write_text(note.model_dump_json(), encoding="utf-8")
    return note


def test_address_is_found_in_the_home_that_is_served(tmp_path: Path) -> None:
    note = _announce(tmp_path / "home")
    assert _announced(tmp_path / "home") == note


def test_copied_home_does_not_lead_to_the_originals_server(tmp_path: Path) -> None:
    _announce(tmp_path / "home")
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    assert _announced(tmp_path / "copy") is None


def test_missing_or_garbled_address_is_no_server(tmp_path: Path) -> None:
    assert _announced(tmp_path) is None
    server_file(tmp_path).write_text("{", encoding="utf-8")
    assert _announced(tmp_path) is None
