"""`attest runs`: list, show, replay and export stored runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from api.client import AttestClient
from api.commands.rendering import AnswerView, show_table
from api.commands.session import Json, print_json, run
from api.errors import EXIT_FAILED
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_runs)
    group.command("show")(show)
    group.command("replay")(replay)
    group.command("export")(export)
    app.add_typer(group, name="runs")


def list_runs(json_output: Json = False) -> None:
    """List your runs, newest first."""

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return await client.get("/v1/runs", limit=100)

    found = run(work)
    if json_output:
        print_json(found)
        return
    show_table(("id", "state", "question"), ((r["run_id"], r["state"], r["question"]) for r in found))


def show(
    run_id: Annotated[str, typer.Argument()],
    json_output: Json = False,
) -> None:
    """Show a run from its journal, as it was shown while it ran."""

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return await client.get(f"/v1/runs/{run_id}/events")

    events = run(work)
    if json_output:
        print_json(events)
        return
    view = AnswerView()
    for event in events:
        view.show(event)


def replay(
    run_id: Annotated[str, typer.Argument()],
    json_output: Json = False,
) -> None:
    """Make a run once more from its tape, without model, tools or search; exit code 1 where other events come out."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post(f"/v1/runs/{run_id}/replay", {})

    found = run(work)
    differences: list[dict[str, Any]] = found["differences"]
    if json_output:
        print_json(found)
    elif not differences:
        typer.echo(f"{found['events']} events, all the same")
    else:
        rows = ((d["seq"], d["stored"] or "-", d["made"] or "-", ", ".join(d["fields"])) for d in differences)
        show_table(("event", "stored", "made now", "fields that differ"), rows)
    if differences:
        raise typer.Exit(EXIT_FAILED)


def export(run_id: Annotated[str, typer.Argument()]) -> None:
    """Print a run as JSON, for an evaluation case: its question, events and tape, with pseudonyms only."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get(f"/v1/runs/{run_id}/export")

    print_json(run(work))
