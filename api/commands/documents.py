"""`attest documents`: list, show and delete documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from api.client import AttestClient
from api.commands.session import Json, out, print_json, run
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_documents)
    group.command("show")(show)
    group.command("delete")(delete)
    app.add_typer(group, name="documents")


def list_documents(json_output: Json = False) -> None:
    """List documents, newest first."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get("/v1/documents", limit=500)

    found = run(work)
    if json_output:
        print_json(found)
        return
    table = Table("id", "title", "source", "version", "state", "pages", "chunks", box=None)
    for d in found["documents"]:
        pages = str(d["page_count"] or "")
        table.add_row(
            d["document_id"], d["title"], d["source"], str(d["version"]), d["state"], pages, str(d["chunk_count"])
        )
    out.print(table)


def show(document_id: Annotated[str, typer.Argument()]) -> None:
    """Show a document with its admission report, as JSON."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        document = await client.get(f"/v1/documents/{document_id}")
        report = await client.get(f"/v1/documents/{document_id}/report") if document["state"] == "ready" else None
        return {"document": document, "report": report}

    print_json(run(work))


def delete(document_id: Annotated[str, typer.Argument()]) -> None:
    """Delete a document with all that was derived from it; prints the deletion receipt."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.delete(f"/v1/documents/{document_id}")

    print_json(run(work))
