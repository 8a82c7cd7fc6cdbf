"""`attest keys`: make API keys, change the pseudonym key."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from typing import Annotated, Any, cast

import typer
from pydantic import ValidationError

from api.client import AttestClient
from api.commands.session import Json, err, fail, out, print_json, run
from api.errors import EXIT_USAGE
from api.settings import Settings
from retrieval.types import ALL_RIGHTS, Principal, Right

_DEFAULT_RIGHTS = ["search", "chat"]
_POLL_S = 0.2


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.callback()(lambda: None)
    group.command("new")(new)
    group.command("rotate")(rotate)
    group.command("status")(status)
    app.add_typer(group, name="keys")


def new(
    tenant: Annotated[str, typer.Option(help="Tenant of the key.")],
    user: Annotated[str, typer.Option(help="User of the key.")],
    group: Annotated[list[str] | None, typer.Option(help="Group; repeatable.")] = None,
    right: Annotated[
        list[str] | None, typer.Option(help="search, chat, ingest, delete, reveal, admin; repeatable.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="Its holder looks after the installation: may change the pseudonym key.")
    ] = False,
) -> None:
    """Make a key: prints the entry for the keys file, and the key itself on standard error, once."""
    rights = right or _DEFAULT_RIGHTS
    unknown = sorted(set(rights) - set(ALL_RIGHTS))
    if unknown:
        fail(f"no such right: {', '.join(unknown)}; rights are {', '.join(sorted(ALL_RIGHTS))}", EXIT_USAGE)
    try:
        principal = Principal(
            tenant=tenant, user=user, groups=frozenset(group or ()), rights=frozenset(cast("list[Right]", rights))
        )
    except ValidationError as exc:
        fail("; ".join(f"--{error['loc'][0]}: {error['msg']}" for error in exc.errors()), EXIT_USAGE)
    key = f"attest_{secrets.token_urlsafe(32)}"
    digest = hashlib.sha256(key.encode()).hexdigest()
    out.print("[[keys]]", markup=False)
    out.print(f'sha256 = "{digest}"', markup=False)
    if operator:
        out.print("operator = true", markup=False)
    # A JSON string is a TOML string.
    fields = {"tenant": tenant, "user": user, "groups": sorted(principal.groups), "rights": sorted(principal.rights)}
    entry = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    out.print(f"principal = {{ {entry} }}", markup=False)
    err.print(f"key (shown once): {key}", markup=False)


def rotate(
    key: Annotated[str, typer.Argument(help="Which key: pseudonym.")],
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until nothing needs the former key.")] = True,
    json_output: Json = False,
) -> None:
    """Make a new key; all documents are read again under it, and stay to be found meanwhile."""
    if key != "pseudonym":
        fail(f"the key {key!r} cannot be changed; the one that can is: pseudonym", EXIT_USAGE)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        answer = await client.post("/v1/keys/pseudonym", {})
        # Failed documents keep the former key; waiting for them would never end.
        while (wait or client.in_process) and answer["state"] == "changing" and not answer["failed"]:
            await asyncio.sleep(_POLL_S)
            answer = await client.get("/v1/keys")
        return answer

    _print(run(work), json_output=json_output)


def status(json_output: Json = False) -> None:
    """Tell whether a former pseudonym key is still needed, and by how many documents."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get("/v1/keys")

    _print(run(work), json_output=json_output)


def _print(answer: dict[str, Any], *, json_output: bool) -> None:
    if json_output:
        print_json(answer)
        return
    if answer["state"] == "settled":
        out.print("pseudonym key: settled; there is no former key")
    elif answer["state"] == "former_key_in_settings":
        out.print("pseudonym key: changed; take ATTEST_KEYS_PSEUDONYM_FORMER out of the settings")
    else:
        out.print(f"pseudonym key: changing; {answer['outdated']} documents still need the former key")
        if answer["failed"]:
            out.print(f"{answer['failed']} failed: see attest jobs, then attest symbols resymbolise --outdated")
