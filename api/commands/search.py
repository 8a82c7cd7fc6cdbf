"""`attest search`: passages without an answer."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from api.client import AttestClient
from api.commands.filtering import AsOf, Authority, Documents, In, Labels, Period, Symbols, filter_body
from api.commands.session import Json, out, print_json, run
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("search", help=summary)(search)


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int | None, typer.Option(min=1, max=50, help="How many passages.")] = None,
    label: Labels = None,
    document: Documents = None,
    language: In = None,
    authority: Authority = None,
    as_of: AsOf = None,
    period: Period = None,
    symbol: Symbols = None,
    also: Annotated[list[str] | None, typer.Option(help="The question in other words; repeatable.")] = None,
    documents: Annotated[bool, typer.Option("--documents", help="Show which documents fit, not passages.")] = False,
    explain: Annotated[bool, typer.Option(help="Show candidates with their scores by channel.")] = False,
    json_output: Json = False,
) -> None:
    """Search for passages."""
    body: dict[str, Any] = {
        "query": query,
        "queries": also or [],
        "top_k": top_k,
        "filter": filter_body(label, document, language, authority, as_of, period, symbol),
    }

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.post("/v1/search/documents" if documents else "/v1/search", body)

    found = run(work)
    if json_output:
        print_json(found)
        return
    if documents:
        _print_documents(found["documents"])
        return
    for passage in found["passages"]:
        chunk = passage["chunk"]
        page = f", page {chunk['page_start']}" if chunk["page_start"] else ""
        out.print(
            Text(
                f"[{passage['label']}] {chunk['title']}{page} · {passage['confidence']} {passage['score']:.2f}", "cyan"
            )
        )
        out.print(Text(chunk["text"]))
        if passage["superseded_from"]:
            out.print(Text(f"not the newest edition: in force until {passage['superseded_from']}", "yellow"))
        if passage["conflicts_with"]:
            out.print(Text(f"another value is given by {', '.join(passage['conflicts_with'])}", "yellow"))
        out.print()
    if not found["passages"]:
        out.print("no passages")
    if explain:
        for candidate in found["candidates"]:
            scores = " ".join(f"{k}={v:.3f}#{candidate['ranks'][k]}" for k, v in candidate["scores"].items())
            dropped = found["dropped"].get(candidate["chunk_id"], "")
            page = f", page {candidate['page']}" if candidate["page"] else ""
            left_out = f" · left out: {dropped.replace('_', ' ')}" if dropped else ""
            out.print(Text(f"{candidate['fused']:.4f} {candidate['title']}{page} · {scores}{left_out}", "dim"))
    times = " ".join(f"{k} {v:.1f} ms" for k, v in found["latency_ms"].items())
    out.print(Text(f"encoder {found['encoder']} · reranker {found['reranker']} · {times}", "dim"))


def _print_documents(documents: list[dict[str, Any]]) -> None:
    for document in documents:
        by = f" ({document['issuer']})" if document["issuer"] else ""
        places = ", ".join(passage["label"] for passage in document["passages"])
        out.print(Text(f"{document['score']:.2f} {document['title']}{by} · {document['authority']}", "cyan"))
        out.print(Text(f"{document['document_id']} · {places}", "dim"))
    if not documents:
        out.print("no documents")
