"""`attest ingest`: take files, folders and configured databases in and wait until they are ready."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from api.client import AttestClient
from api.commands.folders import files_of, name_of
from api.commands.intake import Outcome, ingest_files, report, report_one
from api.commands.session import Json, fail, password_given, print_json, print_json_line, run
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings
from retrieval.types import Authority

__all__ = ["ingest_files", "register"]

_DATE = ["%Y-%m-%d"]


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("ingest", help=summary)(ingest)


def ingest(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files, or folders that are searched for files at any depth.")
    ] = None,
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
    password_file: Annotated[
        Path | None, typer.Option(help="File whose first line opens encrypted documents and what is inside them.")
    ] = None,
    password_prompt: Annotated[bool, typer.Option("--password-prompt", help="Ask for that password.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on taking in what is new or changed in one folder, until Ctrl-C.")
    ] = False,
    delete_missing: Annotated[
        bool,
        typer.Option(
            "--delete-missing",
            help="With --watch: delete the documents you uploaded under the folder's name whose files are gone.",
        ),
    ] = False,
    database: Annotated[
        list[str] | None, typer.Option(help="Name of a configured database (ATTEST_DATABASES_NAME); repeatable.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show blocks and chunks of each file as `attest chunks` does; store nothing."),
    ] = False,
    json_output: Json = False,
) -> None:
    """Take files in. A file that fails is named with its reason; the others go on.

    A file given by itself is named by its file name; one found in a folder by the path that begins with
    the folder's name. So the same file given both ways is two documents; --source ties them together.
    """
    given, databases = paths or [], database or []
    if not given and not databases:
        fail("name at least one file or folder, or a database", EXIT_USAGE)
    missing = [p for p in given if not p.exists()]
    if missing:
        fail(f"no such file or folder: {', '.join(map(str, missing))}", EXIT_USAGE)
    if special := [p for p in given if not p.is_file() and not p.is_dir()]:
        # A pipe could keep the command waiting for ever, a device has no end.
        fail(f"neither a regular file nor a folder: {', '.join(map(str, special))}", EXIT_USAGE)
    fields: dict[str, Any] = {"issuer": issuer, "authority": authority, "labels": label or [], "access": access or []}
    dates = {"effective_from": effective_from, "effective_to": effective_to}
    fields |= {name: day.date().isoformat() for name, day in dates.items() if day is not None}
    if delete_missing and not watch:
        fail("--delete-missing goes with --watch", EXIT_USAGE)
    if watch:
        if title is not None or source is not None:
            fail("--title and --source are for a single file", EXIT_USAGE)
        if databases or len(given) != 1 or not given[0].is_dir():
            fail("--watch takes one folder", EXIT_USAGE)
        fields |= password_given(password_file, ask=password_prompt)
        _watch(given[0], fields, delete_missing=delete_missing, json_output=json_output)
    files = _named(given, source, title) if given else []
    if dry_run:
        from api.commands.chunks import dry_run as show  # opens parts that taking in leaves to the server

        if databases:
            fail("--dry-run is for files", EXIT_USAGE)
        password = password_given(password_file, ask=password_prompt).get("password")
        raise typer.Exit(show([path for path, _ in files], password, json_output=json_output))
    if title is not None:
        fields["title"] = title
    fields |= password_given(password_file, ask=password_prompt)

    async def work(client: AttestClient, _settings: Settings) -> list[Outcome]:
        return await ingest_files(client, files, fields, progress=not json_output, databases=databases)

    outcomes = run(work)
    if json_output:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        report(outcomes)
    if any(o.state != "succeeded" for o in outcomes):
        raise typer.Exit(EXIT_FAILED)


def _watch(folder: Path, fields: dict[str, Any], *, delete_missing: bool, json_output: bool) -> NoReturn:
    from api.commands.watching import watch  # its library is not needed otherwise

    def say(outcome: Outcome) -> None:
        if json_output:
            print_json_line(asdict(outcome))
        else:
            report_one(outcome)

    async def work(client: AttestClient, _settings: Settings) -> None:
        await watch(client, folder, fields, say, delete_missing=delete_missing)

    run(work)
    raise typer.Exit


def _named(paths: list[Path], source: str | None, title: str | None) -> list[tuple[Path, str]]:
    """Return the files with their names, or end the command."""
    files = [each for path in paths for each in (files_of(path) if path.is_dir() else [(path, name_of(path))])]
    if not files:
        fail(f"no files in {', '.join(map(str, paths))}", EXIT_USAGE)
    for option, given in (("--title", title), ("--source", source)):
        if given is not None and len(files) > 1:
            fail(f"{option} is for a single file", EXIT_USAGE)
    if source is not None:
        return [(files[0][0], source)]
    _refuse_equal_names(files)
    return files


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
