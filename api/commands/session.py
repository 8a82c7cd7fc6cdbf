"""What all commands share: settings, the client, JSON output, and errors as exit codes."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import httpx
import typer
from rich.console import Console

from agent.errors import AgentError
from api.client import AttestClient, ProblemError, open_client
from api.errors import EXIT_FAILED, EXIT_USAGE, ApiError
from api.settings import Settings, load_settings
from ingest.errors import IngestError
from retrieval.errors import RetrievalError

T = TypeVar("T")
_MISTAKEN = frozenset({"invalid_request", "bad_filter"})
"""Problems of what was asked, not of the asking."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
"""Option of every command that prints something."""

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def run(work: Callable[[AttestClient, Settings], Awaitable[T]]) -> T:
    """Run `work` with a connected client; our errors become a message and an exit code."""

    async def connected() -> T:
        settings = load_settings()
        async with open_client(settings) as client:
            return await work(client, settings)

    return guarded(lambda: asyncio.run(connected()))


def guarded(work: Callable[[], T]) -> T:
    """Run `work`; our errors become a message on standard error and an exit code, never a traceback."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        return work()
    except ProblemError as exc:
        fail(f"{exc} ({exc.problem_code})", EXIT_USAGE if exc.problem_code in _MISTAKEN else EXIT_FAILED)
    except (ApiError, RetrievalError, IngestError, AgentError) as exc:
        fail(f"{exc} ({exc.code})", EXIT_USAGE)
    except httpx.TransportError as exc:
        fail(f"the connection to the server was lost: {type(exc).__name__}", EXIT_FAILED)
    except KeyboardInterrupt:
        fail("interrupted; work already taken in goes on at the next start", 130)


def fail(message: str, code: int) -> NoReturn:
    """Print a message on standard error and end with `code`."""
    err.print(f"attest: {message}", markup=False)
    raise typer.Exit(code)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def print_json_line(value: Any) -> None:
    """Print a value as one line of JSON, at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def password_given(file: Path | None, *, ask: bool) -> dict[str, str]:
    """Return the password as a form field; never from the command line, which every user of the machine can read."""
    if file is not None and ask:
        fail("--password-file and --password-prompt exclude each other", EXIT_USAGE)
    if ask:
        return {"password": typer.prompt("Password of the documents", hide_input=True, err=True)}
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        fail(f"{file}: the password cannot be read ({type(exc).__name__})", EXIT_USAGE)
    if not lines or not lines[0]:
        fail(f"{file}: its first line is empty; the password is expected there", EXIT_USAGE)
    return {"password": lines[0]}
