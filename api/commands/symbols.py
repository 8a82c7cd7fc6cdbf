"""`attest symbols`: what a text gives under a tenant's rules, and which rules are loaded."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from api.auth import LOCAL_OWNER
from api.commands.chunks import offline_cutter
from api.commands.rendering import counted
from api.commands.resymbolise import add_commands
from api.commands.session import Json, err, fail, guarded, out, password_given, print_json
from api.errors import EXIT_USAGE
from api.settings import Settings, load_settings
from ingest.preview import Preview, preview
from ingest.sandbox import ParserPool
from retrieval.symbols.codes.domain import Vocabulary
from retrieval.symbols.language import builtin_dir, load_language
from retrieval.symbols.rule_source import RuleFiles
from retrieval.types import Symbol

_KEY = bytes(32)
"""Nothing is stored: the pseudonyms that are shown are nobody's."""

Tenant = Annotated[str, typer.Option(help="Whose rules hold.")]


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("check")(check)
    group.command("rules")(rules)
    add_commands(group)
    app.add_typer(group, name="symbols")


def check(
    file: Annotated[Path, typer.Argument(help="A document of any format; - for plain text from standard input.")],
    tenant: Tenant = LOCAL_OWNER.tenant,
    base_date: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="What 上季度 or last year refers to."),
    ] = None,
    index_text: Annotated[bool, typer.Option("--index-text", help="Show what is encoded, too.")] = False,
    password_file: Annotated[Path | None, typer.Option(help="File whose first line opens the document.")] = None,
    json_output: Json = False,
) -> None:
    """Show the symbols of a text, by the rule files alone. Nothing is stored; secrets show as pseudonyms."""
    day = base_date.date() if base_date is not None else None
    settings = load_settings()
    if str(file) == "-":
        parts = guarded(lambda: [_of_text(settings, _standard_input(), tenant, day)])
    else:
        if not file.is_file():
            fail(f"{'not a regular file' if file.exists() else 'no such file'}: {file}", EXIT_USAGE)
        password = password_given(password_file, ask=False).get("password")
        parts = _of_document(guarded(lambda: asyncio.run(_preview(settings, file, tenant, day, password))))
    if json_output:
        print_json({"tenant": tenant, "base_date": day, "parts": parts})
    else:
        _print(parts, index_text=index_text)


def rules(tenant: Tenant = LOCAL_OWNER.tenant, json_output: Json = False) -> None:
    """Check all rule files and show what is loaded for a tenant. Exit code 2 when a file is broken."""
    settings = load_settings()
    files = guarded(lambda: RuleFiles(builtin_dir(), settings.symbols.folder))
    loaded = files.rules(tenant)
    shown: dict[str, Any] = {
        "tenant": tenant,
        "revision": loaded.revision,
        "files": [str(path) for path in files.paths(tenant)],
        "note": _without_folder(settings.symbols.folder, tenant),
        "vocabularies": {v.namespace: _in_order(v) for v in loaded.vocabularies},
        "entities": [entity.entity_id for entity in loaded.glossary],
        "persons": len(loaded.persons),
        "fiscal_year": {"start": loaded.fiscal_year_start, "named_by": loaded.fiscal_year_named_by},
    }
    if json_output:
        print_json(shown)
        return
    out.print(Text(f"tenant {tenant} · revision {loaded.revision}"))
    if shown["note"]:
        err.print(Text(f"note        {shown['note']}"))
    for path in shown["files"]:
        out.print(Text(f"file        {path}"))
    for namespace, codes in shown["vocabularies"].items():
        out.print(Text(f"vocabulary  {namespace}: {' < '.join(codes)}"))
    out.print(Text(f"glossary    {', '.join(shown['entities']) or 'none'}"))
    out.print(Text(f"persons     {counted(shown['persons'], 'listed person')}"))
    named = f", named by its {loaded.fiscal_year_named_by}" if loaded.fiscal_year_start != 1 else ""
    out.print(Text(f"fiscal year begins in month {loaded.fiscal_year_start}{named}"))


def _without_folder(folder: Path | None, tenant: str) -> str:
    """Say that a tenant that was asked for has no rules of its own: its name may be misspelt."""
    if tenant == LOCAL_OWNER.tenant:
        return ""
    if folder is None:
        return "ATTEST_SYMBOLS_FOLDER is not set: no tenant has rules of its own"
    own = folder / "tenants" / tenant
    return "" if own.is_dir() else f"there is no folder {own}: only the rules of all tenants hold"


def _in_order(vocabulary: Vocabulary) -> list[str]:
    return [code.code for code in sorted(vocabulary.codes, key=lambda code: code.rank)]


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _of_text(settings: Settings, text: str, tenant: str, day: date | None) -> dict[str, Any]:
    read = load_language(_KEY, settings.symbols.folder).symbolise(text, tenant=tenant, base_date=day)
    return _part(read.text, read.index_text, read.symbols)


async def _preview(settings: Settings, file: Path, tenant: str, day: date | None, password: str | None) -> Preview:
    parsers = ParserPool(settings.ingestion.parser)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return await preview(
                file,
                parsers,
                offline_cutter(settings),
                password=password,
                attachments=Path(folder),
                tenant=tenant,
                base_date=day,
            )
    finally:
        await parsers.close()


def _of_document(shown: Preview) -> list[dict[str, Any]]:
    return [
        {"chunk": chunk.ordinal, "page": chunk.page_start, **_part(chunk.text, chunk.index_text, chunk.symbols)}
        for chunk in shown.chunks
    ]


def _part(text: str, index_text: str, symbols: Sequence[Symbol]) -> dict[str, Any]:
    return {"text": text, "index_text": index_text, "symbols": [symbol.model_dump(mode="json") for symbol in symbols]}


def _print(parts: Sequence[dict[str, Any]], *, index_text: bool) -> None:
    for part in parts:
        if "chunk" in part:
            page = f" · p. {part['page']}" if part["page"] is not None else ""
            out.print(f"\n── chunk {part['chunk']}{page}", markup=False)
        if index_text:
            out.print(part["index_text"], markup=False)
        table = Table("span", "class", "kind", "normal form", "as written", "sure", "meant as", box=None)
        for symbol in part["symbols"]:
            span = f"{symbol['start']}-{symbol['end']}"
            cells = (span, symbol["cls"], symbol["kind"], symbol["normal"], " ".join(symbol["surface"].split()))
            table.add_row(*(Text(cell) for cell in cells), f"{symbol['confidence']:g}", symbol["qualifier"])
        if part["symbols"]:
            out.print(table)
    out.print(f"\n{counted(sum(len(part['symbols']) for part in parts), 'symbol')}")
