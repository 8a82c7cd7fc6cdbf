"""`attest eval confusable`: what symbolisation does for search, with and without it in one run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskID
from rich.table import Table

from api.commands.demo import SAMPLES
from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, err, guarded, out, print_json
from api.settings import Settings, load_settings
from ingest.cutting import SymbolicCutter
from ingest.evaluation import default_expected
from ingest.evaluation_confusable import read_confusable
from ingest.sandbox import ParserPool
from retrieval.encoders.select import load_encoder
from retrieval.evaluation_data import Dataset, read_dataset
from retrieval.evaluation_symbols import EffectReport, evaluate_effect
from retrieval.rerankers.select import load_reranker
from retrieval.store import VectorStore
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language


def confusable(
    reports: Annotated[Path, typer.Option(help="TAT-QA's folder, or its name below ATTEST_EVAL_DATA.")] = Path("tatqa"),
    beside: Annotated[
        list[str] | None, typer.Option(help="Question sets to run with and without as well; repeatable.")
    ] = None,
    only_beside: Annotated[bool, typer.Option(help="Run only the sets of --beside.")] = False,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Ask for codes, periods and amounts among texts that lie beside each other, with symbols and without."""
    bounds = read_bounds(minimum)

    def work() -> list[EffectReport]:
        settings = load_settings()
        folders = [find(Path(name), settings) for name in beside or ()]
        own = None if only_beside else find(reports, settings)
        return asyncio.run(_run(settings, own, folders, quiet=json_output))

    found = guarded(work)
    metrics = {f"gain.{report.dataset}": report.gain.difference for report in found}
    if json_output:
        print_json({"sets": [report.model_dump(mode="json") for report in found], "metrics": metrics})
    else:
        for report in found:
            _print(report)
    enforce(bounds, metrics)


async def _run(settings: Settings, own: Path | None, beside: list[Path], *, quiet: bool) -> list[EffectReport]:
    encoder, reranker = load_encoder(settings.models), load_reranker(settings.models)
    language = load_language(KEY, settings.symbols.folder)
    datasets: list[Dataset] = []
    if own is not None:
        pool = ParserPool(settings.ingestion.parser)
        try:
            cutter = SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk)
            questions = default_expected().with_name("confusable.jsonl")
            datasets.append(await read_confusable(questions, SAMPLES, own / "dev_contexts.jsonl", pool, cutter))
        finally:
            await pool.close()
    datasets += [read_dataset(folder) for folder in beside]

    @asynccontextmanager
    async def new_store() -> AsyncGenerator[VectorStore, None]:
        with tempfile.TemporaryDirectory() as scratch:
            store = EdgeStore(Path(scratch) / "index", settings.vectors)
            try:
                yield store
            finally:
                await store.close()

    found: list[EffectReport] = []
    with Progress(console=err, disable=quiet) as bar:
        for dataset in datasets:
            task = bar.add_task(dataset.name, total=None)
            found.append(
                await evaluate_effect(
                    dataset,
                    encoder=encoder,
                    reranker=reranker,
                    new_store=new_store,
                    language=language,
                    settings=settings.search,
                    progress=partial(_show, bar, task),
                )
            )
    return found


def _show(bar: Progress, task: TaskID, stage: str, done: int, total: int) -> None:
    bar.update(task, description=stage, completed=done, total=total)


def _print(report: EffectReport) -> None:
    gain = report.gain
    out.print(
        f"{report.dataset}: {report.questions} questions · recall@1 {report.with_symbols:.4f} with symbols, "
        f"{report.without_symbols:.4f} without · gain {gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]",
        markup=False,
    )
    if len(report.groups) < 10:
        table = Table("questions of", "number", "with", "without", box=None)
        for name, (number, ours, theirs) in report.groups.items():
            table.add_row(name, str(number), f"{ours:.4f}", f"{theirs:.4f}")
        out.print(table)
    out.print(f"only with symbols: {', '.join(report.won[:60]) or '-'}", markup=False)
    out.print(f"only without: {', '.join(report.lost[:60]) or '-'}", markup=False)
