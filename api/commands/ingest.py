"""`attest ingest`: take files and folders in and wait until they are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from api.client import AttestClient, ProblemError
from api.commands.rendering import counted, without_source
from api.commands.session import Json, err, fail, out, print_json, run
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings
from retrieval.types import Authority

_POLL_S = 0.1
_POLLED = 16
_DATE = ["%Y-%m-%d"]
_ENDED = {"succeeded", "failed", "cancelled"}


@dataclass(slots=True)
class Outcome:
    """What became of one file."""

    path: str
    state: str
    outcome: str | None = None
    document_id: str | None = None
    chunks: int | None = None
    error_code: str | None = None
    error: str | None = None


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("ingest", help=summary)(ingest)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders that are searched for files.")],
    source: Annotated[
        str | None, typer.Option(help="Name that ties versions together, else the file's; only for a single file.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title; only for a single file.")] = None,
    issuer: Annotated[str, typer.Option(help="Who issued the documents.")] = "",
    authority: Annotated[Authority, typer.Option(help="How much the documents' word counts.")] = "unknown",
    effective_from: Annotated[datetime | None, typer.Option(formats=_DATE, help="First day it holds.")] = None,
    effective_to: Annotated[datetime | None, typer.Option(formats=_DATE, help="First day it holds no more.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Label; repeatable.")] = None,
    access: Annotated[list[str] | None, typer.Option(help="everyone, user:NAME or group:NAME; repeatable.")] = None,
    json_output: Json = False,
) -> None:
    """Take files in. A file that fails is named with its reason; the others go on."""
    missing = [p for p in paths if not p.exists()]
    if missing:
        fail(f"no such file or folder: {', '.join(map(str, missing))}", EXIT_USAGE)
    files = list(_files(paths))
    if not files:
        fail(f"no files in {', '.join(map(str, paths))}", EXIT_USAGE)
    for option, given in (("--title", title), ("--source", source)):
        if given is not None and len(files) > 1:
            fail(f"{option} is for a single file", EXIT_USAGE)
    if source is not None:
        files = [(files[0][0], source)]
    _refuse_equal_names(files)
    fields: dict[str, Any] = {"issuer": issuer, "authority": authority, "labels": label or [], "access": access or []}
    dates = {"effective_from": effective_from, "effective_to": effective_to}
    fields |= {name: day.date().isoformat() for name, day in dates.items() if day is not None}
    if title is not None:
        fields["title"] = title

    async def work(client: AttestClient, _settings: Settings) -> list[Outcome]:
        return await ingest_files(client, files, fields, progress=not json_output)

    outcomes = run(work)
    if json_output:
        print_json([{k: getattr(o, k) for k in Outcome.__slots__} for o in outcomes])
    else:
        _report(outcomes)
    if any(o.state != "succeeded" for o in outcomes):
        raise typer.Exit(EXIT_FAILED)


async def ingest_files(
    client: AttestClient, files: list[tuple[Path, str]], fields: dict[str, Any], *, progress: bool
) -> list[Outcome]:
    """Upload files and wait for their jobs; returns one outcome per file, in order."""
    outcomes: list[Outcome] = []
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[stage]}"),
        console=err,
        disable=not progress,
        transient=False,
    ) as bar:
        total = bar.add_task("documents", total=len(files), stage="")
        waiting: dict[str, Outcome] = {}
        for path, source in files:
            outcome = Outcome(str(path), "queued")
            outcomes.append(outcome)
            try:
                job = await client.upload(path, source, fields)
            except (ProblemError, OSError) as exc:
                outcome.state, outcome.error = "failed", str(exc)
                outcome.error_code = exc.problem_code if isinstance(exc, ProblemError) else "unreadable"
                bar.advance(total)
                continue
            waiting[job["job_id"]] = outcome
        while waiting:
            # Jobs are done in order: the first ones are the ones that move.
            for job_id, outcome in list(waiting.items())[:_POLLED]:
                job = await client.get(f"/v1/jobs/{job_id}")
                if job["state"] == "running":
                    done, chunks = job["chunks_done"], job["chunks_total"]
                    bar.update(total, stage=f"{Path(outcome.path).name}: {job['stage']} {done}/{chunks or '?'} chunks")
                if job["state"] in _ENDED:
                    _settle(outcome, job)
                    bar.advance(total)
                    del waiting[job_id]
            if waiting:
                await asyncio.sleep(_POLL_S)
        bar.update(total, stage="done")
    return outcomes


def _settle(outcome: Outcome, job: dict[str, Any]) -> None:
    outcome.state, outcome.outcome = job["state"], job["outcome"]
    outcome.document_id, outcome.chunks = job["document_id"], job["chunks_total"]
    # The path stands beside the error wherever it is shown.
    outcome.error_code, outcome.error = job["error_code"], without_source(job["error"], job["source"]) or None


def _files(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """Yield (file, source name). In a folder the name is the path below it, beginning with the folder's own name."""
    for path in paths:
        if path.is_dir():
            top = path.resolve().name  # `.` and `..` have names too
            for file in sorted(path.rglob("*")):
                below = file.relative_to(path)
                if file.is_file() and not any(part.startswith(".") for part in below.parts):
                    yield file, Path(top, below).as_posix()
        else:
            yield path, path.name


def _refuse_equal_names(files: list[tuple[Path, str]]) -> None:
    """Refuse two files that would pass for two versions of one document: the second would replace the first."""
    seen: dict[str, Path] = {}
    for path, source in files:
        other = seen.setdefault(source, path)
        if other.resolve() != path.resolve():
            fail(
                f"{other} and {path} would be versions of one document, {source!r}; "
                "take in the folder above them, or one at a time with --source",
                EXIT_USAGE,
            )


def _report(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.state == "succeeded":
            chunks = "nothing to do" if outcome.outcome == "unchanged" else counted(outcome.chunks or 0, "chunk")
            kind = (outcome.outcome or "").replace("_", " ")
            out.print(f"ok      {outcome.path}: {kind}, {chunks}", markup=False)
        else:
            out.print(f"{outcome.state:<7} {outcome.path}: {outcome.error} ({outcome.error_code})", markup=False)
    failed = sum(o.state != "succeeded" for o in outcomes)
    out.print(f"{len(outcomes) - failed} of {counted(len(outcomes), 'document')} ready")
