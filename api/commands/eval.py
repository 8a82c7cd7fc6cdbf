"""`attest eval`: measure on evaluation data. The measuring stands beside what it measures; this prints it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from agent.audit.auditor import Auditor
from agent.audit.evaluation import evaluate, read_cases
from api.commands import (
    eval_absent,
    eval_confusable,
    eval_crosslingual,
    eval_files,
    eval_search,
    eval_structure,
    eval_symbols,
    eval_trigger,
)
from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, guarded, out, print_json
from api.settings import load_settings
from retrieval.symbols.language import load_language


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("retrieval")(eval_search.retrieval)
    group.command("compare")(eval_search.compare_settings)
    group.command("ablation")(eval_search.ablation)
    group.command("crosslingual")(eval_crosslingual.crosslingual)
    group.command("audit")(audit)
    group.command("absent")(eval_absent.absent)
    group.command("confusable")(eval_confusable.confusable)
    group.command("symbols")(eval_symbols.symbols)
    group.command("trigger")(eval_trigger.trigger)
    group.command("files")(eval_files.files)
    group.command("tables")(eval_files.tables)
    group.command("transcripts")(eval_structure.transcripts)
    group.command("database")(eval_structure.database)
    app.add_typer(group, name="eval")


def audit(
    file: Annotated[Path, typer.Argument(help="JSONL of answers with known verdicts.")],
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure the citation auditor on answers whose support is known by construction."""
    bounds = read_bounds(minimum)
    report = guarded(lambda: evaluate(read_cases(find(file, load_settings())), Auditor(load_language(KEY))))
    if json_output:
        print_json(report.model_dump(mode="json"))
    else:
        table = Table("metric", "value", box=None)
        for name, value in report.metrics.items():
            table.add_row(name, f"{value:.4f}")
        out.print(table)
    enforce(bounds, report.metrics)
