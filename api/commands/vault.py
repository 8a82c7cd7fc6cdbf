"""`attest vault`: values behind pseudonyms, what is kept of a person, and forgetting it.

Values come from a file or standard input, never from the command line, which every user of the machine can read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from api.client import AttestClient
from api.commands.rendering import counted, show_table
from api.commands.session import Json, fail, out, print_json, run
from api.errors import EXIT_USAGE
from api.reasons import says_something
from api.settings import Settings

Reason = Annotated[str, typer.Option(help="Why; it is logged, and shown to administrators.")]
Values = Annotated[
    Path | None, typer.Option("--values", help="File with one value or pseudonym a line; default: standard input.")
]


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("reveal")(reveal)
    group.command("log")(log)
    group.command("search")(search)
    group.command("export")(export)
    group.command("erase")(erase)
    app.add_typer(group, name="vault")


def reveal(
    pseudonym: Annotated[str | None, typer.Argument(help="For example [PHONE_k3f9a2mq7x4tw].")] = None,
    reason: Reason = "",
    run_id: Annotated[str | None, typer.Option("--run", help="Show a whole run's answer instead.")] = None,
    json_output: Json = False,
) -> None:
    """Show the value behind a pseudonym, or a whole answer with its values. Needs the right `reveal`."""
    _require_reason(reason)
    if (pseudonym is None) == (run_id is None):
        fail("name either a pseudonym or --run", EXIT_USAGE)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        if run_id is not None:
            return await client.post(f"/v1/runs/{run_id}/reveal", {"reason": reason})
        return await client.post("/v1/vault/reveal", {"pseudonym": pseudonym, "reason": reason})

    shown = run(work)
    if json_output:
        print_json(shown)
    elif run_id is None:
        out.print(shown["value"], markup=False)
    else:
        out.print(shown["question"], markup=False, style="dim")
        out.print(shown["answer"] or "the run has no answer", markup=False)
        for each in shown["hidden"]:
            out.print(f"not shown to you: {each}", markup=False, style="dim")


def log(
    user: Annotated[str | None, typer.Option(help="Only what this user asked for.")] = None,
    pseudonym: Annotated[str | None, typer.Option(help="Only entries about this pseudonym.")] = None,
    json_output: Json = False,
) -> None:
    """Show who revealed, or tried to reveal, what and why, newest first. Needs the right `admin`."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        given = {"user": user, "pseudonym": pseudonym}
        wanted = {name: value for name, value in given.items() if value is not None}
        return {"reveals": await client.every("/v1/vault/reveals", "reveals", **wanted)}

    found = run(work)
    if json_output:
        print_json(found)
        return
    fields = ("at", "user", "outcome", "pseudonym", "place", "reason")
    show_table(fields, ([entry[field] for field in fields] for entry in found["reveals"]))


def search(values: Values = None, reason: Reason = "", json_output: Json = False) -> None:
    """Tell kind, pseudonym and documents of each value. Needs the right `reveal` or `admin`."""
    body = _person(values, reason)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post("/v1/vault/search", body)

    found = run(work)
    if json_output:
        print_json(found)
        return
    rows = [
        (f"line {each['position'] + 1}", each["kind"], each["pseudonym"], document["document_id"], document["title"])
        for each in found["values"]
        for document in each["documents"] or [{"document_id": "", "title": "no document"}]
    ]
    show_table(("value", "kind", "pseudonym", "document", "title"), rows)
    _say_unread(found["unread"])


def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; it must not exist.")],
    values: Values = None,
    reason: Reason = "",
) -> None:
    """Write all that is kept of a person into a file of JSON. Needs the rights `reveal` and `admin`."""
    body = _person(values, reason)

    async def work(client: AttestClient, _settings: Settings) -> None:
        # Made for this user alone, before anything is written into it.
        try:
            output.touch(mode=0o600, exist_ok=False)
        except OSError as exc:
            fail(f"{output}: cannot be made ({exc.strerror})", EXIT_USAGE)
        try:
            with output.open("wb") as file:
                async for piece in client.download("/v1/vault/export", body):
                    file.write(piece)
        except BaseException:
            output.unlink()
            raise

    run(work)
    out.print(f"written to {output}", markup=False)


def erase(
    documents: Annotated[
        Literal["list", "delete"],
        typer.Option(help="What becomes of documents with a value: read again without it, or deleted."),
    ],
    values: Values = None,
    reason: Reason = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_output: Json = False,
) -> None:
    """Forget values for good. Needs the right `admin`, and `delete` to delete documents."""
    body = {**_person(values, reason), "documents": documents}
    if not yes:
        if values is None:
            fail("standard input holds the values: say --yes, or name a file with --values", EXIT_USAGE)
        typer.confirm(f"Forget {counted(len(body['values']), 'value')} for good?", abort=True, err=True)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post("/v1/vault/erase", body)

    receipt = run(work)
    if json_output:
        print_json(receipt)
        return
    out.print(f"forgotten: {counted(len(receipt['values']), 'value')}")
    _say_unread(receipt["unread"])
    for each in receipt["documents"]:
        kept = "; its encrypted original still holds the value" if each["original_kept"] else ""
        out.print(f"{each['becomes'].replace('_', ' ')}: {each['document_id']} {each['title']}{kept}", markup=False)
    if receipt["unseen"]:
        out.print(f"read again: {counted(receipt['unseen'], 'document')} not shown to you")
    left = {name: count for name, count in receipt["left"].items() if count}
    if left:
        told = ", ".join(f"{count} {name}" for name, count in left.items())
        out.print(f"left until these are read again, or their originals deleted: {told}", style="yellow")


def _person(values: Path | None, reason: str) -> dict[str, Any]:
    _require_reason(reason)
    try:
        text = sys.stdin.read() if values is None else values.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        fail(f"the values cannot be read ({type(exc).__name__})", EXIT_USAGE)
    given = [line.strip() for line in text.splitlines() if line.strip()]
    if not given:
        fail("no values: give one a line", EXIT_USAGE)
    return {"values": given, "reason": reason}


def _require_reason(reason: str) -> None:
    try:
        says_something(reason)
    except ValueError:
        fail("say why with --reason, in words; it is logged", EXIT_USAGE)


def _say_unread(positions: list[int]) -> None:
    for position in positions:
        out.print(f"line {position + 1} is no secret by any rule", style="yellow")
