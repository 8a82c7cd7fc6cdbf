"""`attest eval retrieval`, `compare`, `ablation`: how well search finds, and what each part brings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from api.commands.evaluating import Minimum, enforce, find, read_bounds, with_settings
from api.commands.evaluation_page import render_comparison, render_meetings, render_retrieval
from api.commands.searching import SearchParts, Vectors, progress
from api.commands.session import Json, guarded, out, print_json
from api.settings import Settings, load_settings
from retrieval.evaluation import RetrievalReport
from retrieval.evaluation_compare import Ablation, Comparison, ablate, arms_without, compare, measure
from retrieval.evaluation_data import Dataset, holds_meetings, read_dataset, read_meetings
from retrieval.evaluation_meetings import MeetingsReport, evaluate_meetings
from retrieval.metrics import Interval

Folder = Annotated[Path, typer.Argument(help="A dataset's folder, or its name below ATTEST_EVAL_DATA.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report, with charts, as one HTML page.")]
Every = Annotated[int, typer.Option(help="Take every n-th question only.", min=1)]


def retrieval(
    folder: Folder,
    every: Every = 1,
    vectors: Vectors = None,
    html: Html = None,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure search: R@1/5, MRR@10, nDCG@10, beside exact BM25 over the same texts; inside meetings words read."""
    bounds = read_bounds(minimum)

    def work() -> RetrievalReport | MeetingsReport:
        settings = load_settings()
        place = find(folder, settings)
        with SearchParts.of(settings, vectors) as parts:
            if holds_meetings(place):
                return asyncio.run(_meetings(parts, place, quiet=json_output))
            return asyncio.run(measure_retrieval(parts, thinned(read_dataset(place), every), quiet=json_output))

    report = guarded(work)
    if html is not None:
        page = render_meetings(report) if isinstance(report, MeetingsReport) else render_retrieval(report)
        html.write_text(page, encoding="utf-8")
    if json_output:
        print_json(report.model_dump(mode="json"))
    elif isinstance(report, MeetingsReport):
        _print_meetings(report)
    else:
        print_retrieval(report)
    enforce(bounds, report.metrics)


def compare_settings(
    folder: Folder,
    a: Annotated[list[str] | None, typer.Option("--a", help="SECTION.NAME=VALUE of the first; repeatable.")] = None,
    b: Annotated[list[str] | None, typer.Option("--b", help="SECTION.NAME=VALUE of the second; repeatable.")] = None,
    every: Every = 1,
    vectors: Vectors = None,
    html: Html = None,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Search one dataset with two settings (`--b search.rrf_k=60`): paired differences, intervals and p-values."""
    bounds = read_bounds(minimum)

    def work() -> Comparison:
        first, second = with_settings(a or []), with_settings(b or [])
        dataset = thinned(read_dataset(find(folder, first)), every)
        return asyncio.run(_compare(dataset, (first, a), (second, b), vectors, quiet=json_output))

    found = guarded(work)
    metrics = {name: difference.difference for name, difference in found.differences.items()}
    if html is not None:
        html.write_text(render_comparison(found), encoding="utf-8")
    if json_output:
        print_json({**found.model_dump(mode="json"), "metrics": metrics})
    else:
        _print_comparison(found)
    enforce(bounds, metrics)


def ablation(
    folders: Annotated[list[Path], typer.Argument(help="Datasets: folders, or names below ATTEST_EVAL_DATA.")],
    window: Annotated[int, typer.Option(help="Encoder tokens of a blind window.", min=16)] = 256,
    every: Every = 1,
    vectors: Vectors = None,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Show what chunks by section, symbolisation, the symbol channel, reranking and titles each bring to search."""
    bounds = read_bounds(minimum)

    def work() -> list[Ablation]:
        settings = load_settings()
        with SearchParts.of(settings, vectors) as parts:
            sets = [thinned(read_dataset(find(folder, settings)), every) for folder in folders]
            return asyncio.run(_ablation(parts, sets, window, quiet=json_output))

    found = guarded(work)
    metrics = {f"{one.dataset}.{name}": value for one in found for name, value in one.metrics.items()}
    if json_output:
        print_json({"sets": [one.model_dump(mode="json") for one in found], "metrics": metrics})
    else:
        for one in found:
            _print_ablation(one)
    enforce(bounds, metrics)


def thinned(dataset: Dataset, every: int) -> Dataset:
    """Return the dataset with every n-th of its questions."""
    return dataset.model_copy(update={"questions": dataset.questions[::every]})


async def measure_retrieval(parts: SearchParts, dataset: Dataset, *, quiet: bool) -> RetrievalReport:
    """Index a dataset, ask its questions, and report; progress shows unless `quiet`."""
    with progress(quiet=quiet) as show:
        report, _ = await measure(dataset, parts.arm("settings"), new_store=parts.new_store, progress=show)
        return report


async def _meetings(parts: SearchParts, folder: Path, *, quiet: bool) -> MeetingsReport:
    meetings = await asyncio.to_thread(read_meetings, folder)
    with progress(quiet=quiet) as show:
        return await evaluate_meetings(
            meetings,
            encoder=parts.encoder,
            reranker=parts.reranker,
            new_store=parts.new_store,
            language=parts.language,
            settings=parts.settings.search,
            progress=show,
        )


async def _compare(
    dataset: Dataset,
    a: tuple[Settings, list[str] | None],
    b: tuple[Settings, list[str] | None],
    vectors: Path | None,
    *,
    quiet: bool,
) -> Comparison:
    names = [", ".join(changed or ["as set"]) for _, changed in (a, b)]
    with SearchParts.of(a[0], vectors) as first:
        # Where the models are the same, what one arm encodes the other need not.
        if a[0].models == b[0].models and a[0].symbols == b[0].symbols:
            second = SearchParts(first.encoder, first.reranker, first.language, b[0])
            with progress(quiet=quiet) as show:
                return await compare(
                    dataset, first.arm(names[0]), second.arm(names[1]), new_store=first.new_store, progress=show
                )
        with SearchParts.of(b[0]) as second, progress(quiet=quiet) as show:
            return await compare(
                dataset, first.arm(names[0]), second.arm(names[1]), new_store=first.new_store, progress=show
            )


async def _ablation(parts: SearchParts, sets: list[Dataset], window: int, *, quiet: bool) -> list[Ablation]:
    whole, without = arms_without(parts.encoder, parts.reranker, parts.language, parts.settings.search, window=window)
    found: list[Ablation] = []
    for dataset in sets:
        with progress(quiet=quiet) as show:
            found.append(await ablate(dataset, whole, without, new_store=parts.new_store, progress=show))
    return found


def _shown(interval: Interval) -> str:
    return f"{interval.difference:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]"


def print_retrieval(report: RetrievalReport) -> None:
    """Print a report for the terminal."""
    out.print(
        f"{report.dataset}: {report.questions} questions, {report.texts} texts, {report.chunks} chunks · "
        f"encoder {report.encoder} · reranker {report.reranker}",
        markup=False,
    )
    table = Table("metric", "attest", "without reranker", "BM25", "attest − BM25 (95 %)", box=None)
    for name, interval in report.over_bm25.items():
        m = report.metrics
        values = [f"{m[key]:.4f}" for key in (name, f"fused.{name}", f"bm25.{name}")]
        table.add_row(name, *values, _shown(interval))
    out.print(table)
    times = " · ".join(f"{name} {value:.1f} ms" for name, value in report.query_ms.items())
    out.print(f"indexed in {report.index_s:.1f} s · {times}", markup=False)


def _print_meetings(report: MeetingsReport) -> None:
    out.print(
        f"{report.dataset}: {report.questions} questions about {report.meetings} meetings in {report.pieces} pieces · "
        f"encoder {report.encoder} · reranker {report.reranker}",
        markup=False,
    )
    table = Table("metric", "attest", "BM25", "attest − BM25 (95 %)", box=None)
    for name, interval in report.over_bm25.items():
        values = [f"{report.metrics[key]:.4f}" for key in (name, f"bm25.{name}")]
        table.add_row(name, *values, _shown(interval))
    out.print(table)


def _print_comparison(found: Comparison) -> None:
    out.print(f"{found.dataset}: a = {found.a} · b = {found.b}", markup=False)
    table = Table("metric", "a", "b", "b − a (95 %)", "p", "better", "worse", box=None)
    first, second = found.reports
    for name, difference in found.differences.items():
        values = [f"{report.metrics[name]:.4f}" for report in (first, second)]
        counts = [str(difference.better), str(difference.worse)]
        table.add_row(name, *values, _shown(difference), f"{difference.p:.4f}", *counts)
    out.print(table)


def _print_ablation(found: Ablation) -> None:
    out.print(
        f"{found.dataset}: {found.whole.questions} questions, R@1 {found.whole.metrics['recall@1']:.4f}", markup=False
    )
    table = Table("without", "searched", "R@1", "what it brings to R@1 (95 %)", "p", "R@5", "nDCG@10", box=None)
    for part, comparison in found.without.items():
        report, difference = comparison.reports[1], comparison.differences["recall@1"]
        brings = f"{-difference.difference:+.4f} [{-difference.high:+.4f}, {-difference.low:+.4f}]"
        values = [f"{report.metrics[name]:.4f}" for name in ("recall@1", "recall@5", "ndcg@10")]
        table.add_row(part, comparison.b, values[0], brings, f"{difference.p:.4f}", *values[1:])
    out.print(table)
