"""`attest eval absent`: does confidence tell when the answer is not in the index?"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, err, guarded, out, print_json
from api.settings import Settings, load_settings
from retrieval.encoders.select import load_encoder
from retrieval.evaluation_absent import AbsentReport, ask_twice
from retrieval.evaluation_data import read_dataset
from retrieval.rerankers.select import load_reranker
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language


def absent(
    folder: Annotated[Path, typer.Argument(help="A dataset's folder, or its name below ATTEST_EVAL_DATA.")],
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Ask every question with its text in the index and without: are passages marked low when they should be?"""
    bounds = read_bounds(minimum)

    def work() -> AbsentReport:
        settings = load_settings()
        return asyncio.run(_run(settings, find(folder, settings), quiet=json_output))

    report = guarded(work)
    if json_output:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report)
    enforce(bounds, report.metrics)


async def _run(settings: Settings, folder: Path, *, quiet: bool) -> AbsentReport:
    dataset = await asyncio.to_thread(read_dataset, folder)
    encoder, reranker = load_encoder(settings.models), load_reranker(settings.models)
    with tempfile.TemporaryDirectory() as scratch, Progress(console=err, disable=quiet) as bar:
        tasks = {name: bar.add_task(name, total=None) for name in ("index", "ask")}
        store = EdgeStore(Path(scratch) / "index", settings.vectors)
        try:
            _, report = await ask_twice(
                dataset,
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=load_language(KEY, settings.symbols.folder),
                settings=settings.search,
                progress=lambda stage, done, total: bar.update(tasks[stage], completed=done, total=total),
            )
            return report
        finally:
            await store.close()


def _print(report: AbsentReport) -> None:
    out.print(
        f"{report.dataset}: {report.questions} questions · encoder {report.encoder} · reranker {report.reranker} · "
        f"{report.conflicting:.4f} of the passages marked as conflicting",
        markup=False,
    )
    table = Table("metric", "value", box=None)
    for name, value in report.metrics.items():
        table.add_row(name, f"{value:.4f}")
    out.print(table)
