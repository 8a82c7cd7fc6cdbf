"""The commands beside a running server: they go through it, and print what a person or a program needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from api.commands.rendering import show_table

POLICY = "# Travel policy\n\n## Meals\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"
QUESTION = "What is the meal allowance?"


@pytest.fixture(scope="module")
def served(attest_at: Callable[[Path], Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The command on a home with a running server and one ready document, labelled hr."""
    folder = tmp_path_factory.mktemp("served")
    attest = attest_at(folder / "home")
    attest.serve()
    path = folder / "travel.md"
    path.write_text(POLICY, encoding="utf-8")
    attest("ingest", path, "--label", "hr")
    return attest


@pytest.fixture
def document_id(served: Any) -> str:
    return next(d["document_id"] for d in _documents(served) if d["source"] == "travel.md")


def _documents(attest: Any) -> list[dict[str, Any]]:
    return attest.json("documents", "list")["documents"]


def test_ask_shows_the_answer_its_sources_and_the_audit(served: Any) -> None:
    text = served("ask", QUESTION).stdout
    assert "120 dollars" in text
    assert "[SOURCE: doc_" in text
    assert "✓ supported" in text
    assert "Travel policy" in text
    assert "risk low" in text
    assert "\x1b" not in text  # no colours where nobody sees them


def test_ask_in_json_is_the_stored_run(served: Any) -> None:
    last = served.json("ask", QUESTION, "--label", "hr")
    assert last["kind"] == "run_completed"
    assert "120 dollars" in last["answer"]
    events = served.json("runs", "show", last["run_id"])
    assert events[-1] == last
    assert any(run["run_id"] == last["run_id"] and run["state"] == "completed" for run in served.json("runs", "list"))
    lines = served("runs", "list").stdout.splitlines()
    assert f"{last['run_id']}\tcompleted\t{QUESTION}" in lines
    assert "120 dollars" in served("runs", "show", last["run_id"]).stdout


def test_ask_keeps_to_the_filter(served: Any) -> None:
    assert "120" not in served.json("ask", QUESTION, "--label", "finance")["answer"]
    assert "120" not in served.json("ask", QUESTION, "--document", "0" * 32)["answer"]


def test_search_shows_passages_and_explains_them(served: Any) -> None:
    text = served("search", "meal allowance", "--explain").stdout
    assert "120 dollars" in text
    assert "[doc_" in text
    assert "sparse=" in text
    assert "None" not in text
    assert "encoder lexical" in text
    assert "no passages" in served("search", "meal allowance", "--label", "finance").stdout


def test_documents_are_listed_and_shown(served: Any, document_id: str) -> None:
    header, *rows = served("documents", "list").stdout.splitlines()
    row = next(row for row in rows if row.startswith(document_id))
    shown = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (shown["title"], shown["source"], shown["state"]) == ("Travel policy", "travel.md", "ready")
    details = json.loads(served("documents", "show", document_id).stdout)
    assert details["document"]["document_id"] == document_id
    assert details["report"]["chunks"] == details["document"]["chunk_count"]


def test_ids_in_a_terminal_are_never_cut(
    document_id: str, served: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("api.commands.rendering.out", Console(width=50, force_terminal=True, soft_wrap=True))
    show_table(("id", "title"), [(document_id, "a title that is much too long for the narrow window, yet is all here")])
    printed = capsys.readouterr().out
    assert document_id in printed
    assert "…" not in printed


def test_jobs_are_listed_and_shown(served: Any, document_id: str) -> None:
    job = next(j for j in served.json("jobs", "list")["jobs"] if j["document_id"] == document_id)
    assert job["state"] == "succeeded"
    assert json.loads(served("jobs", "show", job["job_id"]).stdout) == job
    assert f"{job['job_id']}\ttravel.md\tsucceeded\tdone\t1/1\tnew\t" in served("jobs", "list").stdout.splitlines()


def test_delete_says_what_was_looked_for_and_that_nothing_is_left(served: Any, tmp_path: Path) -> None:
    path = tmp_path / "parking.md"
    path.write_text("# Parking\n\nParking permits cost 40 dollars a month.\n", encoding="utf-8")
    (outcome,) = served.json("ingest", path)
    result = served("documents", "delete", outcome["document_id"])
    assert result.stdout.splitlines()[0] == f"deleted {outcome['document_id']} with 1 chunk"
    assert "chunks" in result.stdout.splitlines()[1]
    assert outcome["document_id"] not in {d["document_id"] for d in _documents(served)}
    (outcome,) = served.json("ingest", path)
    assert outcome["outcome"] == "new"
    receipt = served.json("documents", "delete", outcome["document_id"])
    assert set(receipt["left"].values()) == {0}


@pytest.mark.parametrize(
    "arguments", [("documents", "show"), ("documents", "delete"), ("jobs", "show"), ("runs", "show")]
)
def test_unknown_id_is_a_failure_with_its_code(served: Any, arguments: tuple[str, str]) -> None:
    result = served(*arguments, "0" * 32, code=1)
    assert f"(unknown_{arguments[0].removesuffix('s')})" in result.stderr


def test_empty_question_is_a_usage_error(served: Any) -> None:
    assert "question" in served("ask", "", code=2).stderr


def test_doctor_tells_the_parts_in_use(served: Any) -> None:
    report = served.json("doctor")
    assert report["running_server"] is True
    assert report["status"]["pid"] == served.servers[0].process.pid
    assert report["status"]["encoder"] == "lexical"
    assert report["status"]["home"] == str(served.home)
    assert report["documents_ready"] >= 1
    assert all(finding["mend"] for finding in report["findings"])
    text = served("doctor").stdout
    assert f"server, process {served.servers[0].process.pid}" in text
    assert "BGE-M3" in text


def test_proxy_of_the_environment_is_not_asked_for_loopback(served: Any) -> None:
    nowhere = "http://127.0.0.1:9"
    served("jobs", "list", HTTP_PROXY=nowhere, http_proxy=nowhere, ALL_PROXY=nowhere, NO_PROXY="")


def test_something_else_at_the_address_is_not_taken_for_a_server(served: Any) -> None:
    url = served.servers[0].url
    assert "not an attest server" in served("jobs", "list", code=2, ATTEST_API_URL=f"{url}/docs").stderr
