"""`attest vault`: values come from standard input or a file, and every command needs a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PHONE = "13812345678"


def test_vault_commands_reveal_search_export_and_erase(attest: Any, tmp_path: Path) -> None:
    note = tmp_path / "desk.md"
    note.write_text(f"# Travel desk\n\nThe travel desk answers at {PHONE}.\n", encoding="utf-8")
    values = tmp_path / "values.txt"
    values.write_text(f"{PHONE}\n\nno secret\n", encoding="utf-8")
    person = ("--values", values, "--reason", "the person asked for it")
    attest("ingest", note)

    found = attest.json("vault", "search", *person)
    (value,) = found["values"]
    assert ([d["source"] for d in value["documents"]], found["unread"]) == (["desk.md"], [1])
    assert "line 2 is no secret" in attest("vault", "search", *person).stdout
    pseudonym = value["pseudonym"]
    assert attest("vault", "reveal", pseudonym, "--reason", "call back").stdout.strip() == PHONE
    assert "--reason" in attest("vault", "reveal", pseudonym, code=2).stderr
    assert "--reason" in attest("vault", "reveal", pseudonym, "--reason", " \u200b ", code=2).stderr
    assert attest("vault", "reveal", "--reason", "which", code=2).stderr
    log = attest.json("vault", "log", "--pseudonym", pseudonym)["reveals"]
    assert [entry["outcome"] for entry in log] == ["revealed", "searched", "searched"]

    out = tmp_path / "person.json"
    attest("vault", "export", "-o", out, *person)
    assert [each["value"] for each in json.loads(out.read_text(encoding="utf-8"))["values"]] == [PHONE]
    assert (out.stat().st_mode & 0o777) == (0o600 if os.name == "posix" else out.stat().st_mode & 0o777)
    assert "cannot be made" in attest("vault", "export", "-o", out, *person, code=2).stderr

    erased = attest("vault", "erase", "--documents", "list", "--yes", *person).stdout
    assert "forgotten: 1 value" in erased
    assert "its encrypted original still holds the value" in erased
    attest("vault", "reveal", pseudonym, "--reason", "still there?", code=1)


def test_vault_takes_no_value_from_the_command_line(attest: Any, tmp_path: Path) -> None:
    assert attest("vault", "search", PHONE, "--reason", "x", code=2).stdout == ""
    assert "no values" in attest("vault", "erase", "--documents", "list", "--reason", "x", "--yes", code=2).stderr
