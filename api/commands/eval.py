"""`attest eval`: measure on evaluation data. The measuring stands beside what it measures; this prints it."""

from __future__ import annotations

import typer

from api.commands import (
    eval_absent,
    eval_audit,
    eval_confusable,
    eval_crosslingual,
    eval_files,
    eval_search,
    eval_structure,
    eval_symbols,
    eval_trigger,
)


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("retrieval")(eval_search.retrieval)
    group.command("compare")(eval_search.compare_settings)
    group.command("ablation")(eval_search.ablation)
    group.command("crosslingual")(eval_crosslingual.crosslingual)
    group.command("audit")(eval_audit.audit)
    group.command("absent")(eval_absent.absent)
    group.command("confusable")(eval_confusable.confusable)
    group.command("symbols")(eval_symbols.symbols)
    group.command("trigger")(eval_trigger.trigger)
    group.command("files")(eval_files.files)
    group.command("tables")(eval_files.tables)
    group.command("transcripts")(eval_structure.transcripts)
    group.command("database")(eval_structure.database)
    app.add_typer(group, name="eval")
