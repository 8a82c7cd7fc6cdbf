"""`attest symbols resymbolise`, `correct` and `corrections`: rules that change, and documents read again under them."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated, Any

import typer

from api.client import AttestClient
from api.commands.rendering import counted
from api.commands.session import Json, fail, out, print_json, run
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings

_POLL_S = 0.2
Document = Annotated[str | None, typer.Option("--document", help="Id of a document.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the documents are read again.")]


def add_commands(group: typer.Typer) -> None:
    """Put the commands into the group `symbols`."""
    group.command("resymbolise")(resymbolise)
    group.command("correct")(correct)
    group.command("corrections")(corrections)


def resymbolise(
    document: Document = None,
    outdated: Annotated[bool, typer.Option("--outdated", help="All that were read under other rules.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All documents.")] = False,
    wait: Wait = True,
    json_output: Json = False,
) -> None:
    """Read documents again under the rules of now; without an option, say how many need it."""
    if (document is not None) + outdated + every > 1:
        fail("--document, --outdated and --all exclude each other", EXIT_USAGE)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        if document is None and not outdated and not every:
            return await client.get("/v1/symbols/resymbolise")
        answer = await client.post("/v1/symbols/resymbolise", {"document_id": document, "every": every})
        return await _done(client, answer) if wait or client.in_process else answer

    answer = run(work)
    if json_output:
        print_json(answer)
    elif "outdated" in answer:
        out.print(f"{counted(answer['outdated'], 'document')} read under other rules, {answer['waiting']} waiting")
    else:
        _report(answer)
    _fail_for(answer)


def correct(
    verdict: Annotated[str, typer.Argument(help="secret, not_secret or not_symbol.")],
    text: Annotated[
        str | None, typer.Argument(help="The text, where all may see it; without it, standard input is read.")
    ] = None,
    kind: Annotated[str, typer.Option(help="For secret: the kind, such as person or custom.")] = "custom",
    near: Annotated[str, typer.Option(help="Only in lines in which this stands.")] = "",
    note: Annotated[str, typer.Option(help="Why.")] = "",
    document: Document = None,
    wait: Wait = True,
    json_output: Json = False,
) -> None:
    """Mark a missed or a wrong symbol; what holds it is read again.

    A secret is better given on standard input: every user of this machine can read a command line.
    """
    given = text if text is not None else sys.stdin.readline().rstrip("\r\n")
    body = {"text": given, "verdict": verdict, "kind": kind, "near": near, "note": note, "document_id": document}

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        answer = await client.post("/v1/symbols/corrections", body)
        return await _done(client, answer) if wait or client.in_process else answer

    answer = run(work)
    if json_output:
        print_json(answer)
    else:
        out.print(f"correction {answer['correction']['correction_id']}", markup=False)
        _report(answer)
    _fail_for(answer)


def corrections(
    remove: Annotated[str | None, typer.Option(help="Id of a correction to take back.")] = None,
    json_output: Json = False,
) -> None:
    """List the corrections, without their texts, or take one back."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        if remove is not None:
            return await _done(client, await client.delete(f"/v1/symbols/corrections/{remove}"))
        return await client.get("/v1/symbols/corrections")

    answer = run(work)
    if json_output:
        print_json(answer)
    elif remove is not None:
        _report(answer)
    else:
        for each in answer["corrections"]:
            line = (each["correction_id"], each["verdict"], each["shown"] or "", each["created_by"], each["note"])
            out.print("  ".join(line), markup=False)
    _fail_for(answer)


async def _done(client: AttestClient, answer: dict[str, Any]) -> dict[str, Any]:
    """Wait for the jobs of an answer; those that the caller may not see go on by themselves."""
    ended: list[dict[str, Any]] = []
    for job in answer["jobs"]:
        while job["state"] in {"queued", "running"}:
            await asyncio.sleep(_POLL_S)
            job = await client.get(f"/v1/jobs/{job['job_id']}")
        ended.append(job)
    return answer | {"jobs": ended}


def _report(answer: dict[str, Any]) -> None:
    for job in answer["jobs"]:
        out.print(f"{job['state']:<10} {job['source']}{': ' + job['error'] if job['error'] else ''}", markup=False)
    out.print(f"{counted(answer['documents'], 'document')} read again")


def _fail_for(answer: dict[str, Any]) -> None:
    if any(job["state"] == "failed" for job in answer.get("jobs", ())):
        raise typer.Exit(EXIT_FAILED)
