"""`attest decisions`: why something was found, or not."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from api.client import AttestClient
from api.commands.rendering import show_table
from api.commands.session import Json, out, print_json, run
from api.settings import Settings

_QUESTION_WIDTH = 60


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_decisions)
    group.command("show")(show)
    app.add_typer(group, name="decisions")


def list_decisions(
    run_id: Annotated[str | None, typer.Option("--run", help="Only those of this run.")] = None,
    kind: Annotated[str | None, typer.Option(help="`trigger` or `search`.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(help="Id of a decision: only those that follow it.")] = None,
    json_output: Json = False,
) -> None:
    """List what the trigger and search decided in your tenant, newest first. Needs the right `admin`."""
    given = {"run_id": run_id, "kind": kind, "limit": limit, "after": after}
    asked = {name: value for name, value in given.items() if value is not None}

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return (await client.get("/v1/decisions", **asked))["decisions"]

    found = run(work)
    if json_output:
        print_json(found)
        return
    show_table(
        ("id", "at", "kind", "decided", "outcome", "question"),
        (
            (
                d["decision_id"],
                d["at"][:19],
                d["kind"],
                _decided(d),
                d["outcome"] or "",
                d["question"][:_QUESTION_WIDTH],
            )
            for d in found
        ),
    )


def show(decision_id: Annotated[str, typer.Argument()], json_output: Json = False) -> None:
    """Show one decision with all that led to it. Needs the right `admin`."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get(f"/v1/decisions/{decision_id}")

    found = run(work)
    if json_output:
        print_json(found)
        return
    out.print(Text(f"{found['kind']} · {found['at'][:19]} · {_decided(found)} · {found['question']}", "bold"))
    narrowed = {name: value for name, value in found["filter"].items() if value}
    for name, value in (
        ("run", found["run_id"]),
        ("user", found["user"]),
        ("outcome", found["outcome"]),
        ("filter", narrowed or None),
        ("knowledge version", found["knowledge_version"]),
        ("reasons", "; ".join(found["reasons"]) or None),
        ("signals", " ".join(f"{k} {v:.3f}" for k, v in found["signals"].items()) or None),
        ("times", " ".join(f"{k} {v:.1f} ms" for k, v in found["latencies_ms"].items()) or None),
    ):
        if value is not None:
            out.print(Text(f"{name}: {value}"))
    if found["candidates"]:
        show_table(("chunk", "document", "fused", "reranked", "by channel", "became"), map(_row, found["candidates"]))


def _decided(decision: dict[str, Any]) -> str:
    if decision["kind"] == "trigger":
        return str(decision["tier"])
    if decision["reasons"]:
        return "failed"
    shown = sum(candidate["passage"] is not None for candidate in decision["candidates"])
    return f"{shown} of {len(decision['candidates'])}" + (", cached" if decision["cached"] else "")


def _row(candidate: dict[str, Any]) -> tuple[str, ...]:
    channels = " ".join(f"{k}={v:.3f}#{candidate['ranks'][k]}" for k, v in candidate["scores"].items())
    reranked = "" if candidate["reranked"] is None else f"{candidate['reranked']:.3f}"
    became = f"passage {candidate['passage']}" if candidate["passage"] is not None else candidate["dropped"] or ""
    became = became.replace("_", " ")
    return candidate["chunk_id"], candidate["document_id"], f"{candidate['fused']:.4f}", reranked, channels, became
