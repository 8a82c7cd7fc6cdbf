"""`attest ingest`, without a server and beside one: what became of every file is said, by file, code and exit code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

TRAVEL = "# Travel policy\n\n## Meals\n\nThe meal allowance is 120 dollars a day.\n"
CHINESE = "# 差旅制度\n\n出差到北京的住宿费每晚最高报销 650 元。\n"


@pytest.fixture
def folder(tmp_path: Path, samples: Path) -> Path:
    """A folder with good files, one of them below it, and with bad ones."""
    folder = tmp_path / "papers"
    (folder / "below").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "travel.md").write_text(TRAVEL, encoding="utf-8")
    (folder / "below" / "差旅.md").write_text(CHINESE, encoding="utf-8")
    (folder / "brief.pdf").write_bytes((samples / "q3-2024-brief.pdf").read_bytes())
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n% nothing else\n")
    (folder / "picture.bin").write_bytes(bytes(range(256)) * 20)
    (folder / "empty.txt").write_bytes(b"")
    (folder / ".hidden" / "secret.md").write_text("hidden", encoding="utf-8")
    return folder


def test_bad_files_are_named_with_reason_and_the_good_ones_are_ready(attest: Any, folder: Path) -> None:
    outcomes = attest.json("ingest", folder, code=1)
    by_name = {Path(o["path"]).name: o for o in outcomes}
    assert len(by_name) == len(outcomes) == 6
    assert {name: o["error_code"] for name, o in by_name.items() if o["state"] == "failed"} == {
        "broken.pdf": "corrupt_document",
        "picture.bin": "unsupported_document",
        "empty.txt": "no_text",
    }
    assert all(o["error"] for o in outcomes if o["state"] == "failed")
    good = [by_name[name] for name in ("travel.md", "差旅.md", "brief.pdf")]
    assert [(o["state"], o["outcome"], o["error"]) for o in good] == [("succeeded", "new", None)] * 3
    assert all(o["chunks"] >= 1 for o in good)

    # The same folder again, named from within it: the good files are known, the bad ones are tried again.
    again = attest("ingest", folder / "below" / "..", code=1)
    lines = {Path(line.split(": ")[0].split()[-1]).name: line for line in again.stdout.splitlines()[:-1]}
    for name in ("travel.md", "差旅.md", "brief.pdf"):
        assert lines[name].startswith("ok ")
        assert lines[name].endswith("unchanged, nothing to do")
    assert lines["broken.pdf"].startswith("failed ")
    assert lines["broken.pdf"].endswith("(corrupt_document)")
    assert lines["picture.bin"].count("picture.bin") == 1
    assert again.stdout.splitlines()[-1] == "3 of 6 documents ready"


def test_metadata_reaches_the_document_and_a_change_is_a_new_version(attest: Any, tmp_path: Path) -> None:
    attest.serve()
    path = tmp_path / "travel.md"
    path.write_text(TRAVEL, encoding="utf-8")
    options = ("--source", "handbook", "--title", "Travel", "--issuer", "Acme", "--authority", "official")
    options += ("--label", "hr", "--label", "travel", "--effective-from", "2024-01-01")
    (first,) = attest.json("ingest", path, *options)
    path.write_text(TRAVEL.replace("120", "130"), encoding="utf-8")
    result = attest("ingest", path, *options)
    assert result.stdout.splitlines() == [f"ok      {path}: new version, 1 chunk", "1 of 1 document ready"]
    (document,) = [d for d in attest.json("documents", "list")["documents"] if d["state"] == "ready"]
    assert document["document_id"] != first["document_id"]
    assert (document["source"], document["title"], document["version"]) == ("handbook", "Travel", 2)
    meta = document["meta"]
    assert (meta["issuer"], meta["authority"], meta["effective_from"]) == ("Acme", "official", "2024-01-01")
    assert sorted(meta["labels"]) == ["hr", "travel"]


def test_files_whose_names_cannot_be_shown_are_taken_in_beside_the_others(attest: Any, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    names = ["a_b.txt", "a\nb.txt", os.fsdecode(b"\xff\xfebad.txt"), os.fsdecode(b"\xfe\xffbad.txt")]
    for number, name in enumerate(names):
        (folder / name).write_text(f"This is text number {number}.\n", encoding="utf-8")
    attest.serve()
    outcomes = attest.json("ingest", folder)
    assert [o["outcome"] for o in outcomes] == ["new"] * 4
    assert sum(r"\xff\xfebad.txt" in o["path"] for o in outcomes) == 1
    assert {o["outcome"] for o in attest.json("ingest", folder)} == {"unchanged"}
    found = attest.json("documents", "list")["documents"]
    assert [d["state"] for d in found] == ["ready"] * 4
    assert len({d["source"] for d in found}) == 4
    assert r"\xff\xfebad.txt" in attest("ingest", folder / names[2]).stdout
    shown = attest.json("ingest", "--dry-run", folder / names[2])
    assert [each["path"].endswith(r"\xff\xfebad.txt") for each in shown] == [True]


def test_pipes_and_devices_are_refused(attest: Any, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    assert f"neither a regular file nor a folder: {pipe}" in attest("ingest", pipe, code=2).stderr.replace("\n", "")
    assert "not a regular file: /dev/zero" in attest("chunks", "/dev/zero", code=2).stderr
    assert "no such file: /dev/missing" in attest("chunks", "/dev/missing", code=2).stderr
