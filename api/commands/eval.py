"""`attest eval`: measure on evaluation data. The measuring stands beside what it measures; this prints it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from agent.audit.auditor import Auditor
from agent.audit.evaluation import evaluate, read_cases
from api.commands import eval_absent, eval_confusable, eval_files, eval_structure, eval_symbols, eval_trigger
from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, err, guarded, out, print_json
from api.settings import Settings, load_settings
from retrieval.encoders.select import load_encoder
from retrieval.evaluation import RetrievalEvaluation, RetrievalReport
from retrieval.evaluation_data import read_dataset
from retrieval.rerankers.select import load_reranker
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("retrieval")(retrieval)
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


def retrieval(
    folder: Annotated[Path, typer.Argument(help="A dataset's folder, or its name below ATTEST_EVAL_DATA.")],
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure search: R@1/5, MRR@10, nDCG@10, beside exact BM25 over the same texts."""
    bounds = read_bounds(minimum)

    def work() -> RetrievalReport:
        settings = load_settings()
        return asyncio.run(_retrieval(settings, find(folder, settings), quiet=json_output))

    report = guarded(work)
    if json_output:
        print_json(report.model_dump(mode="json"))
    else:
        _print_retrieval(report)
    enforce(bounds, report.metrics)


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


async def _retrieval(settings: Settings, folder: Path, *, quiet: bool) -> RetrievalReport:
    dataset = await asyncio.to_thread(read_dataset, folder)
    encoder, reranker = load_encoder(settings.models), load_reranker(settings.models)
    language = load_language(KEY, settings.symbols.folder)
    with tempfile.TemporaryDirectory() as scratch, Progress(console=err, disable=quiet) as bar:
        tasks = {name: bar.add_task(name, total=None) for name in ("index", "ask")}
        store = EdgeStore(Path(scratch) / "index", settings.vectors)
        try:
            return await RetrievalEvaluation(
                dataset,
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=language,
                settings=settings.search,
                progress=lambda stage, done, total: bar.update(tasks[stage], completed=done, total=total),
            ).run()
        finally:
            await store.close()


def _print_retrieval(report: RetrievalReport) -> None:
    out.print(
        f"{report.dataset}: {report.questions} questions, {report.texts} texts, {report.chunks} chunks · "
        f"encoder {report.encoder} · reranker {report.reranker}",
        markup=False,
    )
    table = Table("metric", "attest", "without reranker", "BM25", "attest − BM25 (95 %)", box=None)
    for name, interval in report.over_bm25.items():
        m = report.metrics
        table.add_row(
            name,
            f"{m[name]:.4f}",
            f"{m[f'fused.{name}']:.4f}",
            f"{m[f'bm25.{name}']:.4f}",
            f"{interval.difference:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]",
        )
    out.print(table)
    times = " · ".join(f"{name} {value:.1f} ms" for name, value in report.query_ms.items())
    out.print(f"indexed in {report.index_s:.1f} s · {times}", markup=False)
