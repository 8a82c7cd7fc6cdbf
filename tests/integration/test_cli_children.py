"""`attest ingest` on messages and archives, with passwords, and on a watched folder."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

# Written by pyzipper with the password `open sesame`: two members.
ENCRYPTED = base64.b64decode(
    "UEsDBBQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAZGVmbGF0ZWQudHh0AZkHAAIAQUUDCADRGC4SWgF7ASNtP0pNLyWn+6WhbdQBU1c2HNx1qLSf"
    "pI/q0XjGPeJ2lRVua+0FdBcqifa//mouX+REwQIOiG+IkPmDDFZ/FRZiUEsDBBQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAc3RvcmVkLnR4dAGZ"
    "BwACAEFFAQAA1x9Aspbpk/7QV9NWEcoTOZNjTSmx5F1TlaFkZibDwlBLAQIUAxQAAQBjANODfl0AAAAASQAAALwCAAAMAAsAAAAAAAAAAACAAQAA"
    "AABkZWZsYXRlZC50eHQBmQcAAgBBRQMIAFBLAQIUAxQAAQBjANODfl0AAAAAHwAAAAsAAAAKAAsAAAAAAAAAAACAAX4AAABzdG9yZWQudHh0AZkH"
    "AAIAQUUBAABQSwUGAAAAAAIAAgCIAAAA0AAAAAAA"
)
ATTEST = str(Path(sys.executable).with_name("attest"))
TAXI = "# Night taxi\n\nA taxi after ten in the evening is paid up to 88 dollars.\n"


def message(path: Path) -> Path:
    """An e-mail with a text, an archive with a text and a picture, and a calendar entry."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("parking.md", "# Parking\n\nParking is paid up to 41 dollars a day.\n")
        archive.writestr("broken.pdf", b"%PDF-1.7\n% nothing else\n")
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "li@example.org", "ann@example.org", "New rules"
    mail["Message-ID"], mail["Date"] = "<1@example.org>", "Mon, 07 Oct 2024 10:00:00 +0000"
    mail.set_content("The rules are attached.")
    mail.add_attachment(TAXI.encode(), maintype="text", subtype="markdown", filename="taxi.md")
    mail.add_attachment(packed.getvalue(), maintype="application", subtype="zip", filename="rules.zip")
    path.write_bytes(mail.as_bytes())
    return path


def test_ingest_waits_for_what_is_inside_and_names_it(attest: Any, tmp_path: Path) -> None:
    path = message(tmp_path / "rules.eml")
    attest.serve()
    outcomes = attest.json("ingest", path, code=1)
    below = [(o["path"].removeprefix(str(path)), o["state"], o["error_code"]) for o in outcomes]
    assert below == [
        ("", "succeeded", None),
        ("/rules.zip", "succeeded", None),
        ("/rules.zip/broken.pdf", "failed", "corrupt_document"),
        ("/rules.zip/parking.md", "succeeded", None),
        ("/taxi.md", "succeeded", None),
    ]
    assert [o["parent_id"] for o in outcomes][1] == outcomes[0]["document_id"]
    listed = attest.json("documents", "list", "--parent", outcomes[0]["document_id"])["documents"]
    assert sorted(each["source"] for each in listed) == ["rules.eml/rules.zip", "rules.eml/taxi.md"]
    again = attest("ingest", path, code=1).stdout.splitlines()
    assert again[0] == f"ok      {path}: unchanged, nothing to do"
    assert again[-1] == "4 of 5 documents ready"
    deleted = attest("documents", "delete", outcomes[0]["document_id"]).stdout
    assert "and 4 documents found inside it" in deleted
    assert attest.json("documents", "list")["documents"] == []


def test_ingest_takes_a_password_from_a_file_and_a_retry_another(attest: Any, tmp_path: Path) -> None:
    attest.serve()
    path, password = tmp_path / "a.zip", tmp_path / "password"
    path.write_bytes(ENCRYPTED)
    password.write_text("wrong\n", encoding="utf-8")
    (failed,) = attest.json("ingest", path, "--password-file", password, code=1)
    assert failed["error_code"] == "encrypted_document"
    password.write_text("open sesame\nnot this line\n", encoding="utf-8")
    outcomes = attest.json("ingest", path, "--password-file", password)
    assert [o["state"] for o in outcomes] == ["succeeded"] * 3
    assert attest("ingest", path, "--password-file", tmp_path / "none", code=2).stderr
    assert attest("ingest", path, "--password-file", password, "--password-prompt", code=2).stderr
    (job,) = [j for j in attest.json("jobs", "list")["jobs"] if j["state"] == "failed"]
    answer = attest("jobs", "retry", job["job_id"], "--password-file", password, code=1)
    assert "unknown_document" in answer.stderr  # the second upload took its place


class Watched:
    """`attest ingest --watch` on a folder, as a process."""

    def __init__(self, home: Path, folder: Path, *options: str) -> None:
        environment = os.environ | {"ATTEST_HOME": str(home), "ATTEST_MODELS_ENCODER": "lexical"}
        self.process = subprocess.Popen(
            [ATTEST, "ingest", "--watch", str(folder), "--json", *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def next(self) -> tuple[str, str, str | None]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        outcome = json.loads(line)
        return Path(outcome["path"]).name, outcome["state"], outcome["outcome"]

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said
        assert "Traceback" not in said
        return said


def test_watch_takes_in_what_comes_and_deletes_what_went(attest: Any, tmp_path: Path) -> None:
    attest.serve()
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.md").write_text(TAXI, encoding="utf-8")
    (folder / "b.md").write_text(TAXI, encoding="utf-8")
    first = Watched(attest.home, folder, "--delete-missing")
    assert [first.next(), first.next()] == [("a.md", "succeeded", "new"), ("b.md", "succeeded", "new")]
    (folder / "below").mkdir()
    (folder / "below" / "c.md.part").write_text(TAXI, encoding="utf-8")
    (folder / "a.md").write_text(TAXI.replace("88", "99"), encoding="utf-8")
    assert first.next() == ("a.md", "succeeded", "new_version")
    (folder / "below" / "c.md.part").rename(folder / "below" / "c.md")
    assert first.next() == ("c.md", "succeeded", "new")
    (folder / "b.md").unlink()
    assert first.next() == ("b.md", "deleted", None)
    assert "watching ended" in first.end()

    # What went while nobody watched is found at the next start; what stayed is known.
    (folder / "below" / "c.md").unlink()
    second = Watched(attest.home, folder, "--delete-missing")
    assert second.next() == ("c.md", "deleted", None)
    assert second.next() == ("a.md", "succeeded", "unchanged")
    # An empty folder may be a drive that is not mounted: nothing is deleted.
    (folder / "a.md").unlink()
    second.end()
    assert [d["source"] for d in attest.json("documents", "list")["documents"]] == ["papers/a.md"]


@pytest.mark.parametrize("options", [("--delete-missing",), ("--watch", "--title", "x"), ("--watch", "file")])
def test_watch_options_that_do_not_fit_are_refused(attest: Any, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "a.md").write_text(TAXI, encoding="utf-8")
    target = tmp_path / "a.md" if "file" in options else tmp_path
    assert attest("ingest", target, *(o for o in options if o != "file"), code=2).stderr
