"""`attest usage`: what models were used, and what it cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import quote

import typer

from api.client import AttestClient
from api.commands.rendering import show_table
from api.commands.session import Json, out, print_json, run
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("usage", help=summary)(usage)


def usage(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back, today (UTC) included.")] = 30,
    all_users: Annotated[
        bool, typer.Option("--all", help="Of all users of the tenant; needs the right admin.")
    ] = False,
    run_id: Annotated[str | None, typer.Option("--run", help="Of one run, step by step.")] = None,
    json_output: Json = False,
) -> None:
    """Show tokens and money by day, user and model, or by the steps of one run."""
    if run_id is not None:
        _show_run(run_id, json_output)
        return

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get("/v1/usage", days=days, of="tenant" if all_users else "me")

    found = run(work)
    if json_output:
        print_json(found)
        return
    show_table(
        ("day", "user", "model", "calls", "read", "written", "money"),
        (
            (
                *(row["day"], row["user"], row["model"], str(row["calls"])),
                *(str(row["prompt_tokens"]), str(row["completion_tokens"]), _money(row["money"], row["currency"])),
            )
            for row in found["usage"]
        ),
    )
    out.print(f"{found['tokens']} tokens, {_money(found['money'], found['currency']) or 'no prices set'}", markup=False)


def _show_run(run_id: str, json_output: bool) -> None:
    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return await client.get(f"/v1/usage/runs/{quote(run_id, safe='')}")

    steps = run(work)
    if json_output:
        print_json(steps)
        return
    show_table(
        ("step", "model", "read", "written", "money", "model ms", "tools", "tool ms"),
        (
            (
                *(str(step["step"]), ", ".join(step["models"]), str(step["prompt_tokens"])),
                *(str(step["completion_tokens"]), "" if step["money"] is None else f"{Decimal(step['money']):.6f}"),
                *(f"{step['model_ms']:.0f}", ", ".join(step["tools"]), f"{step['tool_ms']:.0f}"),
            )
            for step in steps
        ),
    )


def _money(amount: str, currency: str) -> str:
    return f"{Decimal(amount):.4f} {currency}" if currency else ""
