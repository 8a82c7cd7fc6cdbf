"""Taking files in over HTTP and waiting for what becomes of them: shared by `ingest`, its watch and `demo`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from api.client import AttestClient, ProblemError, displayed
from api.commands.rendering import counted, without_source
from api.commands.session import err, out

_POLL_S = 0.1
_POLLED = 16
_ENDED = {"succeeded", "failed", "cancelled"}
_HOLDERS = {"eml", "msg", "archive"}
"""Formats in which documents are found."""


@dataclass(slots=True)
class Outcome:
    """What became of one file, or of a document found inside one."""

    path: str
    state: str
    outcome: str | None = None
    document_id: str | None = None
    parent_id: str | None = None
    chunks: int | None = None
    children: int = 0
    warnings: Sequence[str] = ()
    error_code: str | None = None
    error: str | None = None


async def ingest_files(
    client: AttestClient,
    files: Sequence[tuple[Path, str]],
    fields: dict[str, Any],
    *,
    progress: bool,
    databases: Sequence[str] = (),
) -> list[Outcome]:
    """Upload files and wait for their jobs.

    Args:
        client: the connection.
        files: paths with the names they get.
        fields: what is said of all of them.
        progress: show a bar.
        databases: names of configured databases to take in beside the files.

    Returns:
        One outcome per file and database, in order, each followed by those of the documents found inside it.
    """
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
        total = bar.add_task("documents", total=len(files) + len(databases), stage="")
        outcomes: list[Outcome] = []
        waiting: dict[str, Outcome] = {}
        uploads = [(displayed(path), partial(client.upload, path, source, fields)) for path, source in files]
        meta = {name: value for name, value in fields.items() if value not in ([], "") and name != "password"}
        snapshots = [(name, partial(client.post, f"/v1/databases/{quote(name, safe='')}", meta)) for name in databases]
        for shown, send in [*uploads, *snapshots]:
            outcome = Outcome(shown, "queued")
            outcomes.append(outcome)
            try:
                job = await send()
            except (ProblemError, OSError) as exc:
                outcome.state, outcome.error = "failed", str(exc)
                outcome.error_code = exc.problem_code if isinstance(exc, ProblemError) else "unreadable"
                bar.advance(total)
                continue
            waiting[job["job_id"]] = outcome
        await _follow(client, waiting, bar, total)
        found: list[Outcome] = []
        for outcome in outcomes:
            found.append(outcome)
            if outcome.children and outcome.document_id is not None:
                found += await _inside(client, outcome.document_id, outcome.path, bar, total)
        bar.update(total, stage="done")
    return found


def report(outcomes: Sequence[Outcome]) -> None:
    """Print one line per outcome, and the sum."""
    for outcome in outcomes:
        report_one(outcome)
    failed = sum(o.state != "succeeded" for o in outcomes)
    out.print(f"{len(outcomes) - failed} of {counted(len(outcomes), 'document')} ready")


def report_one(outcome: Outcome) -> None:
    """Print what became of one document."""
    if outcome.state == "succeeded":
        chunks = "nothing to do" if outcome.outcome == "unchanged" else counted(outcome.chunks or 0, "chunk")
        kind = (outcome.outcome or "found inside").replace("_", " ")
        out.print(f"ok      {outcome.path}: {kind}, {chunks}", markup=False)
        for warning in outcome.warnings:
            out.print(f"        warning: {warning}", markup=False)
    elif outcome.state == "deleted":
        out.print(f"deleted {outcome.path}: {counted(outcome.chunks or 0, 'chunk')}", markup=False)
    else:
        out.print(f"{outcome.state:<7} {outcome.path}: {outcome.error} ({outcome.error_code})", markup=False)


async def _follow(client: AttestClient, waiting: dict[str, Outcome], bar: Progress, total: TaskID) -> None:
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


async def _inside(client: AttestClient, parent_id: str, path: str, bar: Progress, total: TaskID) -> list[Outcome]:
    """Wait for the documents found inside one; those that turn out to be of no readable type vanish."""
    parent = await client.get(f"/v1/documents/{parent_id}")
    while True:
        children = await client.every("/v1/documents", "documents", parent=parent_id)
        pending = [child for child in children if child["state"] == "pending"]
        if not pending:
            break
        bar.update(total, stage=f"{Path(path).name}: {counted(len(pending), 'document')} inside to do")
        await asyncio.sleep(_POLL_S)
    found: list[Outcome] = []
    for child in sorted(children, key=lambda each: (each["source"], each["version"])):
        name = child["source"].removeprefix(f"{parent['source']}/")
        outcome = Outcome(f"{path}/{name}", "failed" if child["state"] == "failed" else "succeeded")
        outcome.document_id, outcome.parent_id = child["document_id"], parent_id
        outcome.chunks, outcome.warnings = child["chunk_count"], child["warnings"]
        outcome.error_code = child["error_code"]
        outcome.error = without_source(child["error"], child["source"]) or None
        found.append(outcome)
        if outcome.state == "succeeded" and child["format"] in _HOLDERS:
            deeper = await _inside(client, child["document_id"], outcome.path, bar, total)
            outcome.children = len(deeper)
            found += deeper
    return found


def _settle(outcome: Outcome, job: dict[str, Any]) -> None:
    outcome.state, outcome.outcome = job["state"], job["outcome"]
    outcome.document_id, outcome.chunks = job["document_id"], job["chunks_total"]
    outcome.children, outcome.warnings = job["children"], job["warnings"]
    # The path stands beside the error wherever it is shown.
    outcome.error_code, outcome.error = job["error_code"], without_source(job["error"], job["source"]) or None
