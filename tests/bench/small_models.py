"""Twenty questions over the samples, asked of a small chat model behind an endpoint, in each form.

    python tests/bench/small_models.py --url http://127.0.0.1:8555/v1 --model smol --forms xml json native

Any OpenAI-compatible endpoint will do, such as llama.cpp's server. Prints a table for docs/measurements.md;
`--log FILE` keeps every run's events as JSON lines, among them what the model wrote. "Right": the answer holds what
the question file names. Never part of the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from agent.settings import LlmSettings, LoopSettings
from api.app import create_app
from api.client import AttestClient
from api.commands.ingest import ingest_files
from api.inprocess import InProcessTransport
from api.settings import load_settings

_ROOT = Path(__file__).parents[2]
_SAMPLES = _ROOT / "data" / "samples"
_COLUMNS = ("runs", "in form", "right by the model", "right by the fallback", "tagged", "format errors", "near names")


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--forms", nargs="+", default=["xml", "json", "native"])
    parser.add_argument("--first", type=int, default=20, help="how many of the questions")
    parser.add_argument("--max-tokens", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60, help="stop asking after so long")
    parser.add_argument("--log", type=Path)
    asyncio.run(_measure(parser.parse_args()))


def questions() -> list[dict[str, Any]]:
    """Return the samples' own questions, then more of the same kind."""
    found: list[dict[str, Any]] = []
    for path in (_SAMPLES / "questions.json", Path(__file__).parent / "small_questions.json"):
        found += json.loads(path.read_text(encoding="utf-8"))
    return found


async def _measure(options: argparse.Namespace) -> None:
    until = time.monotonic() + options.minutes * 60
    print(f"| model, form | {' | '.join(_COLUMNS)} | guards | seconds a run |\n|{' --- |' * (len(_COLUMNS) + 3)}")
    with tempfile.TemporaryDirectory() as home:
        for form in options.forms:
            counts: Counter[str] = Counter()
            guards: Counter[str] = Counter()
            seconds: list[float] = []
            llm = LlmSettings(
                base_url=options.url, model=options.model, form=form, max_tokens=options.max_tokens, timeout_s=280
            )
            settings = load_settings(home=Path(home), llm=llm, run=LoopSettings(run_timeout_s=280))
            app = create_app(settings, local_owner=True)
            async with app.router.lifespan_context(app), _client(app) as http:
                client = AttestClient(http, in_process=True)
                files = [(p, p.name) for p in sorted(_SAMPLES.iterdir()) if p.suffix != ".json"]
                await ingest_files(client, files, {"authority": "official"}, progress=False)
                for question in questions()[: options.first]:
                    if time.monotonic() > until:
                        break
                    started = time.monotonic()
                    body = {"question": question["question"], "stream": True}
                    events = [event async for event in client.stream("/v1/chat", body)]
                    seconds.append(time.monotonic() - started)
                    _count(events, question, options.model, counts, guards)
                    _log(options.log, form, question, events)
            fired = ", ".join(f"{n} `{name}`" for name, n in guards.items()) or "0"
            spent = f"{sum(seconds) / len(seconds):.0f}" if seconds else "–"
            print(
                f"| {options.model}, {form} | {' | '.join(str(counts[c]) for c in _COLUMNS)} | {fired} | {spent} |",
                flush=True,
            )


def _client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost", timeout=600)


def _count(
    events: list[dict[str, Any]], question: dict[str, Any], model: str, counts: Counter[str], guards: Counter[str]
) -> None:
    last = events[-1]
    answer = str(last.get("answer", ""))
    errors = sum(event["kind"] == "format_error" for event in events)
    right = bool(question["answer_contains"]) and all(
        "".join(part.split()) in "".join(answer.split()) for part in question["answer_contains"]
    )
    counts["runs"] += 1
    counts["in form"] += errors == 0
    counts["format errors"] += errors
    counts["tagged"] += "[SOURCE:" in answer
    counts["near names"] += sum(
        event["kind"] == "tool_called" and event["requested_name"] != event["tool"] for event in events
    )
    if right:
        counts["right by the model" if last.get("model") == model else "right by the fallback"] += 1
    guards.update(event["guard"] for event in events if event["kind"] == "guard_fired")
    guards.update(last["kind"] for _ in [0] if last["kind"] != "run_completed")


def _log(path: Path | None, form: str, question: dict[str, Any], events: list[dict[str, Any]]) -> None:
    if path is None:
        return
    with path.open("a", encoding="utf-8") as file:
        kept = [event for event in events if event["kind"] != "text_delta"]
        file.write(json.dumps({"form": form, "question": question, "events": kept}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
