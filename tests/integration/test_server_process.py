"""`attest serve` as a process: how it announces itself, refuses, is found, and ends."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

POLICY = "# Travel policy\n\n## Meals\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"


def _announced(attest: Any) -> dict[str, Any]:
    return json.loads((attest.home / "server.json").read_text(encoding="utf-8"))


def test_server_is_found_by_its_file_and_ends_cleanly(attest: Any, tmp_path: Path) -> None:
    server = attest.serve()
    assert _announced(attest)["url"] == server.url
    assert _announced(attest)["pid"] == server.process.pid
    path = tmp_path / "travel.md"
    path.write_text(POLICY, encoding="utf-8")
    attest("ingest", path)
    beside = attest.json("search", "meal allowance")

    second = attest("serve", "--port", "0", code=2)
    assert "held by another process" in second.stderr
    assert "(folder_locked)" in second.stderr
    assert _announced(attest)["pid"] == server.process.pid
    assert attest.json("doctor")["running_server"] is True

    code, errors = server.stop()
    assert (code, errors) == (0, "")
    assert not (attest.home / "server.json").exists()

    # Without the server the same command gives the same answer from the same folder.
    alone = attest.json("search", "meal allowance")
    assert alone["passages"] == beside["passages"]
    assert alone["passages"]


def test_file_left_by_a_killed_server_does_no_harm(
    attest: Any, attest_at: Callable[[Path], Any], tmp_path: Path
) -> None:
    attest.serve().stop(signal.SIGKILL)
    left = _announced(attest)

    # Another home's server may have got the address since: it is not taken for ours.
    other = attest_at(tmp_path / "other")
    foreign = other.serve()
    left["url"] = foreign.url
    (attest.home / "server.json").write_text(json.dumps(left), encoding="utf-8")
    report = attest.json("doctor")
    assert report["running_server"] is False
    assert report["status"]["home"] == str(attest.home)

    server = attest.serve()
    assert _announced(attest)["url"] == server.url
    assert server.stop(signal.SIGINT) == (0, "")


def test_stream_is_server_sent_events_and_a_reader_who_leaves_ends_nothing(attest: Any) -> None:
    server = attest.serve()
    with server.client() as http:
        job = http.post("/v1/documents", files={"file": ("travel.md", POLICY.encode())}).json()
        while http.get(f"/v1/jobs/{job['job_id']}").json()["state"] in {"queued", "running"}:
            pass
        body = {"question": "What is the meal allowance?"}
        with http.stream("POST", "/v1/chat", json=body) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            text = "".join(answer.iter_text())
        frames = [_frame(block) for block in re.split(r"\r?\n\r?\n", text) if block and not block.startswith(":")]
        assert [frame["id"] for frame in frames] == [str(n) for n in range(len(frames))]
        assert [frame["event"] for frame in frames] == [json.loads(frame["data"])["kind"] for frame in frames]
        assert frames[0]["event"] == "run_started"
        assert frames[-1]["event"] == "run_completed"
        last = json.loads(frames[-1]["data"])
        assert "120 dollars" in last["answer"]

        with http.stream("POST", "/v1/chat", json=body) as answer:
            first = next(answer.iter_lines())
        assert first.startswith("id:")
        states = ["running"]
        while "running" in states:
            states = [run["state"] for run in http.get("/v1/runs").json()]
        assert states == ["completed", "completed"]
    assert server.stop() == (0, "")


def _frame(block: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in block.splitlines())


def test_keys_that_the_command_makes_open_the_server(attest: Any, tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.toml"
    keys: dict[str, str] = {}
    with keys_file.open("w", encoding="utf-8") as file:
        for user, rights in (("kim", ["search", "chat", "ingest"]), ('o"hara', ["search"])):
            options = [word for right in rights for word in ("--right", right)]
            made = attest("keys", "new", "--tenant", "acme", "--user", user, "--group", "ops", *options)
            assert made.stderr.startswith("key (shown once): attest_")
            keys[user] = made.stderr.split()[-1]
            assert keys[user] not in made.stdout
            file.write(made.stdout)
    server = attest.serve(ATTEST_SERVER_KEYS_FILE=keys_file)

    path = tmp_path / "travel.md"
    path.write_text(POLICY, encoding="utf-8")
    assert "(unauthenticated)" in attest("jobs", "list", code=1).stderr
    attest("ingest", path, ATTEST_API_KEY=keys["kim"])
    assert attest.json("search", "meal allowance", ATTEST_API_KEY=keys['o"hara'])["passages"]
    refused = attest("ask", "What is the meal allowance?", code=1, ATTEST_API_KEY=keys['o"hara'])
    assert "'chat'" in refused.stderr
    assert "(forbidden)" in refused.stderr
    with server.client(headers={"Authorization": f"Bearer {keys['kim']}"}) as http:
        assert http.get("/v1/status").status_code == 200
        assert httpx.get(f"{server.url}/v1/status", trust_env=False).status_code == 401
