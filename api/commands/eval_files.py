"""`attest eval files` and `attest eval tables`: what becomes of real files, and of real tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, err, fail, guarded, out, print_json
from api.errors import EXIT_USAGE
from api.settings import Settings, load_settings
from ingest.cutting import SymbolicCutter
from ingest.evaluation import FilesEvaluation, default_expected, read_expected
from ingest.evaluation_rendering import RENDERERS
from ingest.evaluation_report import FileResult, FilesReport
from ingest.evaluation_tables import TablesReport, evaluate_tables, read_tables
from ingest.sandbox import ParserPool
from retrieval.encoders.select import load_encoder
from retrieval.symbols.language import load_language

_OUTCOMES = ("ready", "failed", "crashed", "hung", "silent_empty")


def files(
    folder: Annotated[Path, typer.Argument(help="A folder with MANIFEST.jsonl, or its name below ATTEST_EVAL_DATA.")],
    every: Annotated[int, typer.Option(help="Take every n-th file only.", min=1)] = 1,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Take real files in: outcome and time by format, text kept, strings found, tokens beside another parser's."""
    bounds = read_bounds(minimum)

    def work() -> FilesReport:
        settings = load_settings()
        return asyncio.run(_files(settings, find(folder, settings), every, quiet=json_output))

    report = guarded(work)
    if json_output:
        print_json({**report.model_dump(mode="json"), "metrics": report.metrics})
    else:
        _print(report)
    enforce(bounds, report.metrics)


def tables(
    file: Annotated[Path, typer.Argument(help="JSON lines with a `table` each, or a dataset's name.")] = Path("tatqa"),
    only: Annotated[list[str] | None, typer.Option("--format", help="Repeatable; default: all.")] = None,
    every: Annotated[int, typer.Option(help="Take every n-th table only.", min=1)] = 1,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Write real tables as XLSX, DOCX, HTML, Markdown and PDF, parse them, and compare cell by cell."""
    bounds = read_bounds(minimum)
    unknown = sorted(set(only or ()) - set(RENDERERS))
    if unknown:
        fail(f"--format {unknown[0]}: formats are {', '.join(RENDERERS)}", EXIT_USAGE)

    def work() -> TablesReport:
        settings = load_settings()
        found = find(file, settings)
        read = read_tables(found / "dev_contexts.jsonl" if found.is_dir() else found)
        return asyncio.run(_tables(settings, read[::every], only or list(RENDERERS), quiet=json_output))

    report = guarded(work)
    if json_output:
        print_json({**report.model_dump(mode="json"), "metrics": report.metrics})
    else:
        table = Table("format", "tables", "whole", "precision", "recall", "cell F1", box=None)
        for row in report.formats:
            shares = [f"{value:.4f}" for value in (row.precision, row.recall, row.f1)]
            table.add_row(row.format, str(row.tables), str(row.whole), *shares)
        out.print(table)
    enforce(bounds, report.metrics)


async def _tables(settings: Settings, read: list[list[list[str]]], formats: list[str], *, quiet: bool) -> TablesReport:
    pool = ParserPool(settings.ingestion.parser)
    try:
        with Progress(console=err, disable=quiet) as bar:
            task = bar.add_task("tables", total=None)
            return await evaluate_tables(
                read,
                pool,
                formats=formats,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
    finally:
        await pool.close()


async def _files(settings: Settings, folder: Path, every: int, *, quiet: bool) -> FilesReport:
    language = load_language(KEY, settings.symbols.folder)
    encoder = load_encoder(settings.models)
    chunk = settings.chunk
    cutter = SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, chunk)
    pool = ParserPool(settings.ingestion.parser)
    try:
        with Progress(console=err, disable=quiet) as bar:
            task = bar.add_task("files", total=None)
            return await FilesEvaluation(
                folder,
                parsers=pool,
                cutter=cutter,
                expected=read_expected(default_expected()),
                at_once=settings.ingestion.parser.processes,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            ).run(every)
    finally:
        await pool.close()


def _print(report: FilesReport) -> None:
    table = Table("ending", "files", *_OUTCOMES, "seconds", "slowest", box=None)
    for ending, row in report.by_ending().items():
        counts = [f"{row.get(outcome, 0):.0f}" for outcome in _OUTCOMES]
        table.add_row(ending, f"{row['files']:.0f}", *counts, f"{row['seconds']:.1f}", f"{row['slowest']:.1f}")
    out.print(table)
    _list("not ready, though a reader opens it and finds text or pictures:", report.exceptions(), _reason)
    _list(
        "other failures:",
        [f for f in report.files if f.outcome != "ready" and not f.expected and f not in report.exceptions()],
        _reason,
    )
    faults = [f for f in report.files if f.string_faults]
    _list("strings missing or forbidden:", faults, lambda f: "; ".join(f"{s.kind}: {s.text}" for s in f.string_faults))
    _list("lowest recall of another parser's tokens:", report.worst(), _recall)
    metrics = Table("metric", "value", box=None)
    for name, value in report.metrics.items():
        metrics.add_row(name, f"{value:.4f}" if value % 1 else f"{value:.0f}")
    out.print(metrics)


def _list(head: str, results: list[FileResult], say: Callable[[FileResult], str]) -> None:
    if results:
        out.print(f"\n{head}", markup=False)
        for result in results:
            out.print(f"  {result.path}: {say(result)}", markup=False)


def _reason(result: FileResult) -> str:
    return f"{result.error_code} – {result.error}" if result.error_code else result.outcome


def _recall(result: FileResult) -> str:
    return f"{result.recall.share:.3f} of {result.recall.wanted}" if result.recall else ""
