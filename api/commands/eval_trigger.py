"""`attest eval trigger`: which tier questions get, over one index of two question sets and the samples."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated
from uuid import NAMESPACE_URL, uuid5

import typer
from rich.progress import Progress
from rich.table import Table

from api.commands.demo import SAMPLES
from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, err, guarded, out, print_json
from api.settings import Settings, load_settings
from ingest.cutting import SymbolicCutter
from ingest.evaluation import default_expected
from ingest.preview import preview
from ingest.sandbox import ParserPool
from retrieval.encoder import Encoder, ModelThread
from retrieval.encoders.select import load_encoder
from retrieval.evaluation import EVALUATOR, RetrievalEvaluation
from retrieval.evaluation_data import Dataset, read_dataset
from retrieval.evaluation_trigger import (
    TIERS,
    TriggerReport,
    TriggerSet,
    answerable,
    evaluate_trigger,
    read_out_of_scope,
    read_questions,
)
from retrieval.rerankers.select import load_reranker
from retrieval.search import Searcher
from retrieval.store import VectorStore
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language
from retrieval.trigger import Trigger
from retrieval.types import EncodedChunk

_INDEXED = ("cmrc2018", "tatqa")
_OUT_OF_SCOPE = "clinc_oos"
_OWN = (("general", "general.jsonl"), ("smalltalk", "small_talk.jsonl"), ("world", "world.jsonl"))


def trigger(
    every: Annotated[int, typer.Option(help="Take every n-th answerable question, by its id.", min=1)] = 1,
    samples: Annotated[Path, typer.Option(help="Folder with the sample documents.")] = SAMPLES,
    wrong: Annotated[int, typer.Option(help="Show so many questions that got a tier not right for them.", min=0)] = 0,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure the trigger: three tiers against what the questions want, over cmrc2018, tatqa and the samples."""
    bounds = read_bounds(minimum)

    def work() -> TriggerReport:
        settings = load_settings()
        folders = [find(Path(name), settings) for name in _INDEXED]
        outside = find(Path(_OUT_OF_SCOPE), settings)
        return asyncio.run(_run(settings, folders, outside, samples, every, quiet=json_output))

    report = guarded(work)
    if json_output:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report, wrong)
    enforce(bounds, report.metrics)


async def _run(
    settings: Settings, folders: list[Path], outside: Path, samples: Path, every: int, *, quiet: bool
) -> TriggerReport:
    own = default_expected().with_name("trigger")
    datasets = [await asyncio.to_thread(read_dataset, folder) for folder in folders]
    asked = [(f"{d.name}/{q.question_id}", q.text) for d in datasets for q in d.questions]
    sets: list[TriggerSet] = [
        answerable(asked, every),
        *(read_questions(own / file, name) for name, file in _OWN),
        read_out_of_scope(outside),
    ]
    encoder, reranker = load_encoder(settings.models), load_reranker(settings.models)
    language = load_language(KEY, settings.symbols.folder)
    encoder_thread, reranker_thread = ModelThread("evaluation-encoder"), ModelThread("evaluation-reranker")
    with tempfile.TemporaryDirectory() as scratch, Progress(console=err, disable=quiet) as bar:
        tasks = {name: bar.add_task(name, total=None) for name in ("index", "ask")}
        store = EdgeStore(Path(scratch) / "index", settings.vectors)
        try:
            await RetrievalEvaluation(
                Dataset(name="trigger", texts=tuple(text for each in datasets for text in each.texts), questions=()),
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=language,
                settings=settings.search,
                progress=lambda stage, done, total: bar.update(tasks[stage], completed=done, total=total),
            ).index(encoder_thread)
            names = await _index_samples(
                settings,
                samples,
                encoder,
                encoder_thread,
                store,
                SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk),
            )
            searcher = Searcher(encoder, encoder_thread, reranker, reranker_thread, store, language, settings.search)
            return await evaluate_trigger(
                sets,
                Trigger(searcher, settings.trigger, encoder.info.name),
                EVALUATOR,
                encoder=encoder.info.name,
                document_of=lambda document_id: names.get(document_id, document_id),
                progress=lambda done, total: bar.update(tasks["ask"], completed=done, total=total),
            )
        finally:
            await store.close()
            encoder_thread.close()
            reranker_thread.close()


async def _index_samples(
    settings: Settings,
    samples: Path,
    encoder: Encoder,
    encoder_thread: ModelThread,
    store: VectorStore,
    cutter: SymbolicCutter,
) -> dict[str, str]:
    """Write the sample documents; return the file name of each document id."""
    names: dict[str, str] = {}
    pool = ParserPool(settings.ingestion.parser)
    try:
        files = await asyncio.to_thread(lambda: sorted(p for p in samples.iterdir() if p.suffix != ".json"))
        for path in files:
            shown = await preview(path, pool, cutter, tenant=EVALUATOR.tenant)
            document_id = uuid5(NAMESPACE_URL, path.name).hex
            names[document_id] = path.name
            chunks = [
                chunk.model_copy(
                    update={
                        "document_id": document_id,
                        "chunk_id": str(uuid5(NAMESPACE_URL, f"{path.name}/{chunk.ordinal}")),
                    }
                )
                for chunk in shown.chunks
            ]
            encoding = await encoder_thread.run(encoder.encode_documents, [c.index_text for c in chunks])
            await store.write([
                EncodedChunk(chunk, encoding.dense[i], encoding.sparse[i]) for i, chunk in enumerate(chunks)
            ])
            await store.publish(EVALUATOR.tenant, document_id)
    finally:
        await pool.close()
    return names


def _print(report: TriggerReport, wrong: int) -> None:
    out.print(f"{report.questions} questions · encoder {report.encoder}", markup=False)
    table = Table("set", *TIERS, "reached", box=None)
    for name, tiers in report.confusion.items():
        reached = report.metrics[f"{name}.reached"]
        table.add_row(name, *(str(tiers[tier]) for tier in TIERS), f"{reached:.4f}")
    out.print(table)
    for name in ("general.prefilter", "decision.p50", "decision.p95"):
        if name in report.metrics:
            unit = " ms" if name.startswith("decision") else ""
            out.print(f"{name} {report.metrics[name]:.4f}{unit}", markup=False)
    for each in report.missed[:wrong]:
        line = f"{each.set} {each.tier}: {each.question} ({'; '.join(each.reasons)})"
        out.print(line, markup=False, highlight=False)
