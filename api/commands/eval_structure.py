"""`attest eval transcripts` and `attest eval database`: turns, and tables of databases, against their truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from api.commands.evaluating import Minimum, enforce, find, read_bounds
from api.commands.session import Json, fail, guarded, out, print_json
from api.errors import EXIT_USAGE
from api.settings import load_settings
from ingest.evaluation_database import DatabaseCounts, evaluate_database
from ingest.evaluation_transcripts import TranscriptCounts, evaluate_transcripts
from retrieval.encoders.select import load_encoder


def transcripts(
    folder: Annotated[
        Path | None, typer.Argument(help="Where the sets qmsum and vcsum lie; default: ATTEST_EVAL_DATA.")
    ] = None,
    every: Annotated[int, typer.Option(help="Take every n-th meeting only.", min=1)] = 1,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Write real meetings as WebVTT, SRT and plain transcripts; look at speaker and times of every chunk."""
    bounds = read_bounds(minimum)

    def work() -> list[TranscriptCounts]:
        settings = load_settings()
        encoder = load_encoder(settings.models)
        where = settings.eval.data if folder is None else find(folder, settings)
        if where is None:
            fail("ATTEST_EVAL_DATA names no folder", EXIT_USAGE)
        return evaluate_transcripts(where, encoder.count_tokens, every)

    rows = guarded(work)
    metrics = {f"chunks_right.{row.format}": row.right / max(row.chunks, 1) for row in rows}
    metrics |= {f"turns_whole.{row.format}": row.turns_whole / max(row.turns, 1) for row in rows}
    if json_output:
        print_json({"formats": [row.model_dump(mode="json") for row in rows], "metrics": metrics})
    else:
        columns = list(TranscriptCounts.model_fields)
        table = Table(*(name.replace("_", " ") for name in columns), box=None)
        for row in rows:
            table.add_row(*(str(getattr(row, name)) for name in columns))
        out.print(table)
    enforce(bounds, metrics)


def database(
    file: Annotated[Path, typer.Argument(help="A SQLite file.")] = Path("chinook/Chinook_Sqlite.sqlite"),
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Describe a SQLite file; compare columns, keys and row counts with what the database says itself."""
    bounds = read_bounds(minimum)
    counts: DatabaseCounts = guarded(lambda: evaluate_database(find(file, load_settings())))
    metrics = {name: float(value) for name, value in counts.model_dump().items()}
    metrics["tables_right_share"] = counts.tables_right / max(counts.tables, 1)
    if json_output:
        print_json({**counts.model_dump(mode="json"), "metrics": metrics})
    else:
        table = Table("fact", "count", box=None)
        for name, value in counts.model_dump().items():
            table.add_row(name.replace("_", " "), str(value))
        out.print(table)
    enforce(bounds, metrics)
