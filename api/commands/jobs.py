"""`attest jobs`: list and show ingestion jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from api.client import AttestClient
from api.commands.rendering import show_table, without_source
from api.commands.session import Json, password_given, print_json, run
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_jobs)
    group.command("show")(show)
    group.command("retry")(retry)
    group.command("cancel")(cancel)
    app.add_typer(group, name="jobs")


def list_jobs(json_output: Json = False) -> None:
    """List jobs, newest first."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get("/v1/jobs", limit=200)

    found = run(work)
    if json_output:
        print_json(found)
        return
    show_table(("id", "source", "state", "stage", "chunks", "outcome", "error"), map(_row, found["jobs"]))


def show(job_id: Annotated[str, typer.Argument()], json_output: Json = True) -> None:
    """Show one job, as JSON."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get(f"/v1/jobs/{job_id}")

    print_json(run(work))


def retry(
    job_id: Annotated[str, typer.Argument()],
    password_file: Annotated[Path | None, typer.Option(help="File whose first line opens the document.")] = None,
    password_prompt: Annotated[bool, typer.Option("--password-prompt", help="Ask for that password.")] = False,
) -> None:
    """Queue a failed job again, with another password where the document needs one; print it as JSON."""
    body = password_given(password_file, ask=password_prompt)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post(f"/v1/jobs/{job_id}/retry", body)

    print_json(run(work))


def cancel(job_id: Annotated[str, typer.Argument()]) -> None:
    """End a job that is not over, and drop its document; print it as JSON."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post(f"/v1/jobs/{job_id}/cancel", {})

    print_json(run(work))


def _row(job: dict[str, Any]) -> tuple[object, ...]:
    chunks = f"{job['chunks_done']}/{job['chunks_total'] or '?'}"
    error = f"{without_source(job['error'], job['source'])} ({job['error_code']})" if job["error"] else ""
    return job["job_id"], job["source"], job["state"], job["stage"], chunks, job["outcome"], error
