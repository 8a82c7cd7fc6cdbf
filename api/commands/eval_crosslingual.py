"""`attest eval crosslingual`: search across languages, and fitting what judges passages of the other language."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from api.commands.demo import SAMPLES
from api.commands.eval_search import Html, measure_retrieval, print_retrieval, thinned
from api.commands.evaluating import Minimum, enforce, read_bounds
from api.commands.evaluation_page import render_retrieval
from api.commands.searching import SearchParts, Vectors
from api.commands.session import Json, fail, guarded, out, print_json
from api.errors import EXIT_USAGE
from api.settings import load_settings
from ingest.cutting import SymbolicCutter
from ingest.evaluation import default_expected
from ingest.evaluation_crosslingual import read_crosslingual
from ingest.sandbox import ParserPool
from retrieval.encoder import ModelThread
from retrieval.evaluation import RetrievalEvaluation, RetrievalReport
from retrieval.evaluation_data import Dataset, Question, read_dataset
from retrieval.metrics import mean, recall_at
from retrieval.rerankers.fit import held_out
from retrieval.rerankers.foreign_fit import Asked, ask, fit, measure
from retrieval.search import Searcher


def crosslingual(
    vectors: Vectors = None,
    html: Html = None,
    fitting: Annotated[bool, typer.Option("--fit", help="Fit the weights for the other language instead.")] = False,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure search across languages: English questions about Chinese texts and the reverse, all in one index."""
    bounds = read_bounds(minimum)
    if fitting:
        _fit_crosslingual(vectors, bounds, json_output=json_output)
        return

    def work() -> RetrievalReport:
        settings = load_settings()
        if settings.eval.data is None:
            fail("set ATTEST_EVAL_DATA to the folder that holds cmrc2018 and tatqa", EXIT_USAGE)
        with SearchParts.of(settings, vectors) as parts:
            return asyncio.run(_crosslingual(parts, settings.eval.data, quiet=json_output))

    report = guarded(work)
    if html is not None:
        html.write_text(render_retrieval(report), encoding="utf-8")
    if json_output:
        print_json(report.model_dump(mode="json"))
    else:
        print_retrieval(report)
    enforce(bounds, report.metrics)


async def _crosslingual(parts: SearchParts, eval_data: Path, *, quiet: bool) -> RetrievalReport:
    return await measure_retrieval(parts, await _crosslingual_data(parts, eval_data), quiet=quiet)


def _fit_crosslingual(vectors: Path | None, bounds: dict[str, float], *, json_output: bool) -> None:
    async def work(parts: SearchParts, eval_data: Path) -> tuple[list[str], dict[str, float]]:
        dataset = await _crosslingual_data(parts, eval_data)
        beside = {name: thinned(read_dataset(eval_data / name), 4).questions for name in ("cmrc2018", "tatqa")}
        return await _fit_foreign(parts, dataset, beside)

    def run() -> tuple[list[str], dict[str, float]]:
        settings = load_settings()
        if settings.eval.data is None:
            fail("set ATTEST_EVAL_DATA to the folder that holds cmrc2018 and tatqa", EXIT_USAGE)
        with SearchParts.of(settings, vectors) as parts:
            return asyncio.run(work(parts, settings.eval.data))

    weights, figures = guarded(run)
    if json_output:
        print_json({"weights": weights, "metrics": figures})
    else:
        for line in weights:
            out.print(line, markup=False)
        for name, value in figures.items():
            out.print(f"{name} {value:.4f}", markup=False)
    enforce(bounds, figures)


async def _crosslingual_data(parts: SearchParts, eval_data: Path) -> Dataset:
    settings, encoder = parts.settings, parts.encoder
    pool = ParserPool(settings.ingestion.parser)
    try:
        cutter = SymbolicCutter(parts.language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk)
        questions = default_expected().with_name("crosslingual.jsonl")
        return await read_crosslingual(questions, SAMPLES, eval_data, pool, cutter)
    finally:
        await pool.close()


async def _fit_foreign(
    parts: SearchParts, dataset: Dataset, beside: Mapping[str, Sequence[Question]]
) -> tuple[list[str], dict[str, float]]:
    """Return the weights of both halves as text, and recall by set, each half measured with the other's weights.

    Args:
        parts: encoder, language and settings.
        dataset: the texts of one index and the questions across languages.
        beside: questions about texts of the same index in their own language, by set.
    """
    encoder_thread, reranker_thread = ModelThread("fit-encoder"), ModelThread("fit-reranker")
    settings = parts.settings.search
    async with parts.new_store() as store:
        try:
            index = RetrievalEvaluation(
                dataset,
                encoder=parts.encoder,
                reranker=parts.reranker,
                store=store,
                language=parts.language,
                settings=settings,
            )
            await index.index(encoder_thread)
            searcher = Searcher(
                parts.encoder, encoder_thread, parts.reranker, reranker_thread, store, parts.language, settings
            )
            across = await ask(searcher, dataset.questions, settings)
            home = {name: await ask(searcher, questions, settings) for name, questions in beside.items()}
        finally:
            encoder_thread.close()
            reranker_thread.close()
    return _both_ways(dataset.name, across, home)


def _both_ways(
    name: str, across: Sequence[Asked], home: Mapping[str, Sequence[Asked]]
) -> tuple[list[str], dict[str, float]]:
    weights = [fit(across, [q for one in home.values() for q in one], on_held_out=swapped) for swapped in (False, True)]
    figures: dict[str, float] = {}
    for set_name, asked in {name: across, **home}.items():
        ranks: list[int | None] = []
        for swapped, fitted in zip((False, True), weights, strict=True):
            ranks += measure([q for q in asked if held_out(q.text_id) != swapped], fitted)
        for k in (1, 5):
            figures[f"{set_name}.recall@{k}"] = mean([recall_at(rank, k) for rank in ranks])
    return [str(fitted) for fitted in weights], figures
