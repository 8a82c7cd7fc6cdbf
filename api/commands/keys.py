"""`attest keys`: make API keys."""

from __future__ import annotations

import hashlib
import secrets
from typing import Annotated

import typer

from api.commands.session import err, fail, out
from api.errors import EXIT_USAGE
from retrieval.types import ALL_RIGHTS

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
    key = f"attest_{secrets.token_urlsafe(32)}"
    digest = hashlib.sha256(key.encode()).hexdigest()
    out.print("[[keys]]", markup=False)
    out.print(f'sha256 = "{digest}"', markup=False)
    groups = ", ".join(f'"{g}"' for g in group or [])
    listed = ", ".join(f'"{r}"' for r in sorted(rights))
    out.print(
        f'principal = {{ tenant = "{tenant}", user = "{user}", groups = [{groups}], rights = [{listed}] }}',
        markup=False,
    )
    err.print(f"key (shown once): {key}", markup=False)
