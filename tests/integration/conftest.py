"""A whole attest, in this process or in one of its own, on lexical parts so that it starts at once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from api.app import create_app
from api.inprocess import InProcessTransport
from api.settings import Settings, load_settings
from ingest.fakes import sqlite_engine
from ingest.tables import metadata
from patience import turns
from retrieval.settings import EncoderSettings

ATTEST = str(Path(sys.executable).with_name("attest"))
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
"""`await open_app(**settings)` starts an application and returns a client of it."""


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(**overrides: Any) -> Settings:
        values: dict[str, Any] = {"home": tmp_path / "home", "models": EncoderSettings(encoder="lexical")}
        return load_settings(**(values | overrides))

    return make


@pytest.fixture
async def open_app(make_settings: Callable[..., Settings]) -> AsyncIterator[OpenApp]:
    async with AsyncExitStack() as stack:

        async def open_one(*, local_owner: bool = False, **overrides: Any) -> httpx.AsyncClient:
            app = create_app(make_settings(**overrides), local_owner=local_owner)
            await stack.enter_async_context(app.router.lifespan_context(app))
            client = httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost", timeout=120)
            return await stack.enter_async_context(client)

        yield open_one


async def upload(client: httpx.AsyncClient, name: str, content: bytes, **fields: Any) -> dict[str, Any]:
    """Upload and wait for the job's end; returns the job."""
    answer = await client.post("/v1/documents", files={"file": (name, content)}, data=fields)
    assert answer.status_code == 202, answer.text
    return await finished(client, answer.json()["job_id"])


async def finished(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    """Poll a job until it has ended."""
    for _ in turns("the job ends"):
        job = (await client.get(f"/v1/jobs/{job_id}")).json()
        if job["state"] in {"succeeded", "failed", "cancelled"}:
            return job
    raise AssertionError


@pytest.fixture
def upload_and_wait() -> Callable[..., Awaitable[dict[str, Any]]]:
    return upload


# ---- ingestion on its own tables


@pytest.fixture(scope="module")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One engine for all: a fresh one compiles every statement anew, which is most of a test's time."""
    engine = sqlite_engine(tmp_path_factory.mktemp("database"))
    yield engine
    engine.dispose()


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    with shared_engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    return shared_engine


# ---- attest as its users have it: a process


class Attest:
    """The `attest` command on one ATTEST_HOME, and the servers that were started with it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.servers: list[Server] = []

    def __call__(self, *arguments: object, code: int = 0, **settings: object) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; a traceback and an exit code other than `code` are failures."""
        result = subprocess.run(
            [ATTEST, *map(str, arguments)],
            env=self.environment(settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert "Traceback" not in result.stderr, result.stderr
        assert result.returncode == code, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result

    def json(self, *arguments: object, code: int = 0, **settings: object) -> Any:
        """Run a command with `--json` and return what it printed."""
        return json.loads(self(*arguments, "--json", code=code, **settings).stdout)

    def serve(self, **settings: object) -> Server:
        """Start a server on any free port and wait until it announces itself."""
        process = subprocess.Popen(
            [ATTEST, "serve", "--port", "0"],
            env=self.environment(settings),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        server = Server(process)
        self.servers.append(server)
        server.wait_until_ready()
        return server

    def environment(self, settings: dict[str, object]) -> dict[str, str]:
        """Return the environment of a command: no settings but these."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTEST_")}
        environment |= {"ATTEST_HOME": str(self.home), "ATTEST_MODELS_ENCODER": "lexical", "PYTHONUTF8": "1"}
        return environment | {name: str(value) for name, value in settings.items()}


class Server:
    """One `attest serve` process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = ""
        self.stopped = False

    def wait_until_ready(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"attest serves on (http://\S+)", line):
                self.url = found[1]
                return
        raise AssertionError(f"the server ended with {self.process.wait()} before it was ready")

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and what stood on standard error after the announcement."""
        self.stopped = True
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors

    def client(self, **options: Any) -> httpx.Client:
        """Return an HTTP client of this server."""
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, **options)


@pytest.fixture(scope="session")
def attest_at() -> Iterator[Callable[[Path], Attest]]:
    """`attest_at(home)` is the command on a home; servers that a test leaves running are ended."""
    made: list[Attest] = []

    def at(home: Path) -> Attest:
        made.append(Attest(home))
        return made[-1]

    yield at
    lost: list[tuple[int, str]] = []
    for server in (server for each in made for server in each.servers if not server.stopped):
        ended = server.process.poll() is not None
        outcome = server.stop(signal.SIGKILL)
        lost += [outcome] if ended else []
    assert lost == [], "servers ended that nobody had stopped"


@pytest.fixture
def attest(attest_at: Callable[[Path], Attest], tmp_path: Path) -> Attest:
    """The command on a home of this test's own."""
    return attest_at(tmp_path / "home")
