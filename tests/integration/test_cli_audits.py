"""`attest audits`: list, show, export, stale, reaudit and risk, from upload to replacement."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from api.audit_csv import COLUMNS, audit_csv
from api.main import main

POLICY = "# Travel\n\nThe allowance for Berlin is 300 dollars a day.\n"


def test_audits_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATTEST_MODELS_ENCODER", "lexical")
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "travel policy.md"

    def attest(*arguments: object, code: int = 0) -> str:
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", ["attest", *map(str, arguments)])
            with pytest.raises(SystemExit) as ended:
                main()
        printed = capsys.readouterr()
        assert (ended.value.code or 0) == code, printed
        return printed.out

    def read(*arguments: object, code: int = 0) -> Any:
        return json.loads(attest(*arguments, "--json", code=code))

    file.write_text(POLICY)
    attest("ingest", file)
    attest("ask", "What is the allowance for Berlin according to our travel policy?")
    (row,) = read("audits", "list")
    page = tmp_path / "audit.html"
    shown = attest("audits", "show", row["run_id"], "--html", page)
    assert "supported" in shown
    assert "300 dollars" in page.read_text()
    assert read("audits", "risk")[0]["answers"] == 1

    file.write_text(POLICY.replace("300", "450"))
    attest("ingest", file)
    assert [each["run_id"] for each in read("audits", "stale", "--tenant")] == [row["run_id"]]
    job = read("audits", "reaudit", code=1)
    assert job["answers"][0]["changes"]
    for name in ("audits.csv", "audits.json"):
        attest("audits", "export", tmp_path / name)
    (report,) = json.loads((tmp_path / "audits.json").read_text())
    lines = list(csv.DictReader(io.StringIO((tmp_path / "audits.csv").read_text(encoding="utf-8-sig"))))
    cited = [each for each in lines if each["label"]]
    assert {each["standing"] for each in cited} == {"replaced"}
    assert {each["source_sha256"] for each in cited} == {each["text_sha256"] for each in report["sources"]}


def test_cells_that_a_spreadsheet_would_run_are_text() -> None:
    sentence = {"index": 0, "kind": "uncited", "flags": [], "text": "=1+1", "text_sha256": "x", "labels": []}
    report = dict.fromkeys(COLUMNS[:7], "@x") | {"sentences": [sentence], "sources": []}
    (line,) = csv.DictReader(io.StringIO(audit_csv([report])))
    assert (line["text"], line["run_id"], line["verdict"]) == ("'=1+1", "'@x", "uncited")
