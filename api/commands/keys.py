"""`attest keys`: make API keys."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Annotated, cast

import typer
from pydantic import ValidationError

from api.commands.session import err, fail, out
from api.errors import EXIT_USAGE
from retrieval.types import ALL_RIGHTS, Principal, Right

_DEFAULT_RIGHTS = ["search", "chat"]


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.callback()(lambda: None)
    group.command("new")(new)
    app.add_typer(group, name="keys")


def new(
    tenant: Annotated[str, typer.Option(help="Tenant of the key.")],
    user: Annotated[str, typer.Option(help="User of the key.")],
    group: Annotated[list[str] | None, typer.Option(help="Group; repeatable.")] = None,
    right: Annotated[
        list[str] | None, typer.Option(help="search, chat, ingest, delete, reveal, admin; repeatable.")
    ] = None,
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
    # A JSON string is a TOML string.
    fields = {"tenant": tenant, "user": user, "groups": sorted(principal.groups), "rights": sorted(principal.rights)}
    entry = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    out.print(f"principal = {{ {entry} }}", markup=False)
    err.print(f"key (shown once): {key}", markup=False)
