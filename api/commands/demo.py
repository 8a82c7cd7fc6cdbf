"""`attest demo`: ingest the samples, ask questions, check that the expected sources were cited."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import TypeAdapter, ValidationError
from rich.text import Text

import api
from api.client import AttestClient, open_client
from api.commands.ask import ask_question
from api.commands.ingest import ingest_files
from api.commands.rendering import AnswerView
from api.commands.session import fail, guarded, out
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings, load_settings
from retrieval.types import Tier, Value

SAMPLES = Path(api.__file__).resolve().parents[1] / "data" / "samples"
_NOT_SAMPLES = {"README.md", "questions.json"}
_GOOD = {"supported", "partly_supported", "not_a_claim", "general"}


class ExpectedSource(Value):
    """Where the answer stands."""

    file: str
    page: int | None = None


class DemoQuestion(Value):
    """A question of the demo with what it must lead to."""

    id: str
    question: str
    language: Literal["zh", "en"]
    tier: Tier
    """Expected tier; a question expected weak may be strong."""
    source: ExpectedSource | None
    """Must be cited; None: nothing may be claimed from the documents."""
    answer_contains: tuple[str, ...] = ()
    """What the answer must say."""


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("demo", help=summary)(demo)


def demo(
    samples: Annotated[Path, typer.Option(help="Folder with sample documents and questions.json.")] = SAMPLES,
) -> None:
    """Run the whole line on small real documents. Exit code 0 only if every expected source was cited."""
    if not (samples / "questions.json").is_file():
        fail(f"{samples} holds no questions.json; run this from a checkout or give --samples", EXIT_USAGE)
    files = [(p, p.name) for p in sorted(samples.iterdir()) if p.is_file() and p.name not in _NOT_SAMPLES]
    failures = guarded(lambda: asyncio.run(_demo(samples, files)))
    for failure in failures:
        out.print(Text(f"✗ {failure}", "red"))
    if failures:
        raise typer.Exit(EXIT_FAILED)
    out.print(Text("✓ every expected source was cited", "green"))


async def _demo(samples: Path, files: list[tuple[Path, str]]) -> list[str]:
    questions = read_questions(samples / "questions.json")
    settings = _demo_settings(load_settings())
    async with open_client(settings) as client:
        status = await client.get("/v1/status")
        out.print(Text(f"encoder {status['encoder']} · reranker {status['reranker']} · model {status['model']}", "dim"))
        outcomes = await ingest_files(client, files, {"authority": "official"}, progress=True)
        failures = [f"{o.path}: {o.error}" for o in outcomes if o.state != "succeeded"]
        sources = {o.document_id: Path(o.path).name for o in outcomes if o.document_id}
        for question in questions:
            failures += await _ask(client, question, sources)
    out.print(Text(f"\nGo on yourself: ATTEST_HOME={settings.home} attest ask '…'", "dim"))
    return failures


async def _ask(client: AttestClient, question: DemoQuestion, sources: dict[str, str]) -> list[str]:
    out.print(Text(f"\n? {question.question}", "bold cyan"))
    last = await ask_question(client, question.question, {}, view=AnswerView())
    return [f"{question.question}: {fault}" for fault in faults(question, last, sources)]


def faults(question: DemoQuestion, last: dict[str, Any], sources: dict[str, str]) -> list[str]:
    """Say what in the terminal event is not as the question expects; `sources` maps document id to file."""
    if last["kind"] != "run_completed":
        return [f"the run did not complete: {last.get('message')}"]
    found: list[str] = []
    if last["tier"] not in {question.tier, "strong" if question.tier == "weak" else question.tier}:
        found.append(f"tier {last['tier']}, not {question.tier}")
    chunks = {p["label"]: p["chunk"] for p in last["passages"]}
    sentences = last["audit"]["sentences"]
    if question.source is not None:
        cited = [chunks[label] for s in sentences for label in s["labels"] if label in chunks]
        found += _source_faults(question.source, cited, sources)
        found += [f"{s['kind']}: {s['text']}" for s in sentences if s["kind"] not in _GOOD]
    elif last["status"] == "answered" and question.tier != "none":
        found.append("it was answered, but the documents do not say")
    found += [f"the answer does not say {text!r}" for text in question.answer_contains if text not in last["answer"]]
    return found + list(last["audit"]["violations"])


def _source_faults(expected: ExpectedSource, cited: list[dict[str, Any]], sources: dict[str, str]) -> list[str]:
    for chunk in cited:
        if sources.get(chunk["document_id"]) != expected.file:
            continue
        start, end = chunk["page_start"], chunk["page_end"]
        if expected.page is None or (start is not None and start <= expected.page <= end):
            return []
    page = f" page {expected.page}" if expected.page else ""
    return [f"{expected.file}{page} was not cited"]


def read_questions(path: Path) -> list[DemoQuestion]:
    """Read `questions.json`."""
    try:
        return TypeAdapter(list[DemoQuestion]).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, json.JSONDecodeError) as exc:
        fail(f"{path} does not fit: {exc}", EXIT_USAGE)


def _demo_settings(settings: Settings) -> Settings:
    """Return settings with a data folder of the demo's own, emptied: your documents stay out of it."""
    home = settings.home / "demo"
    shutil.rmtree(home, ignore_errors=True)
    api_settings = settings.api.model_copy(update={"url": None})
    return settings.model_copy(update={"home": home, "api": api_settings})
