"""`attest documents`: list, show and delete documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from api.client import AttestClient
from api.commands.rendering import counted, show_table
from api.commands.session import Json, fail, out, print_json, run
from api.errors import EXIT_FAILED
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_documents)
    group.command("show")(show)
    group.command("delete")(delete)
    app.add_typer(group, name="documents")


def list_documents(
    parent: Annotated[str | None, typer.Option(help="Only documents found inside this one (its id).")] = None,
    json_output: Json = False,
) -> None:
    """List documents, newest first."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        only = {} if parent is None else {"parent": parent}
        return {"documents": await client.every("/v1/documents", "documents", **only)}

    found = run(work)
    if json_output:
        print_json(found)
        return
    fields = ("document_id", "title", "source", "version", "state", "page_count", "chunk_count", "error_code")
    columns = ("id", "title", "source", "version", "state", "pages", "chunks", "error", "inside")
    show_table(columns, ([d[field] for field in fields] + [d["parent_id"]] for d in found["documents"]))


def show(document_id: Annotated[str, typer.Argument()], json_output: Json = True) -> None:
    """Show a document with its admission report, as JSON."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        document = await client.get(f"/v1/documents/{document_id}")
        report = await client.get(f"/v1/documents/{document_id}/report") if document["state"] == "ready" else None
        return {"document": document, "report": report}

    print_json(run(work))


def delete(document_id: Annotated[str, typer.Argument()], json_output: Json = False) -> None:
    """Delete a document with all that was derived from it. Exit code 1 when something was left."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.delete(f"/v1/documents/{document_id}")

    receipt = run(work)
    left = {name: count for name, count in receipt["left"].items() if count}
    if json_output:
        print_json(receipt)
    else:
        inside = receipt["deleted_children"]
        within = f" and {counted(inside, 'document')} found inside it" if inside else ""
        chunks = counted(receipt["deleted_chunks"], "chunk")
        out.print(f"deleted {document_id}{within} with {chunks}", markup=False)
        out.print(f"looked for what may be left: {', '.join(receipt['left'])}", markup=False)
    if left:
        fail(f"left behind: {', '.join(f'{count} {name}' for name, count in left.items())}", EXIT_FAILED)
