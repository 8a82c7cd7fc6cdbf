"""Megabytes a second of the symbol language, on one core: tables of figures, tables of reports, prose.

Figures are made; tables and prose come from the evaluation data where `ATTEST_EVAL_DATA` names it.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

_ROUNDS = 5
_PART_CHARS = 2_500
"""About the size of a chunk."""


def measure() -> None:
    """Print the table."""
    from retrieval.symbols.language import load_language

    language = load_language(bytes(32))
    print("| symbolised text | MB | MB/s | million characters/s |\n| --- | --- | --- | --- |")
    for name, texts in _texts():
        parts = list(_parts(texts))
        best = min(_seconds(lambda parts=parts: _symbolise(language, parts)) for _ in range(_ROUNDS))
        size_mb = sum(len(part.encode()) for part in parts) / 1e6
        chars = sum(map(len, parts)) / 1e6
        print(f"| {name} | {size_mb:.2f} | {size_mb / best:.2f} | {chars / best:.2f} |")
    print()


def _symbolise(language, parts: list[str]) -> None:
    for part in parts:
        language.symbolise(part, tenant="bench", base_date=date(2024, 11, 5))


def _seconds(work) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _texts() -> Iterator[tuple[str, list[str]]]:
    yield "figures alone, made", list(_figures(4_000))
    data = Path(os.environ.get("ATTEST_EVAL_DATA", ""))
    if not (data / "tatqa").is_dir():
        return
    reports = _read(data / "tatqa" / "dev_contexts.jsonl")
    yield "tables of reports", ["\n".join(" | ".join(row) for row in report["table"]) for report in reports]
    yield "prose, English", [paragraph["text"] for report in reports for paragraph in report["paragraphs"]]
    yield "prose, Chinese", [passage["text"] for passage in _read(data / "cmrc2018" / "trial_passages.jsonl")]


def _figures(rows: int) -> Iterator[str]:
    chance = random.Random(1)
    for _ in range(rows):
        cells = (
            f"{chance.randint(0, 9_999_999):,}" if chance.random() < 0.8 else f"{chance.uniform(-99, 99):.1f}"
            for _ in range(6)
        )
        yield " | ".join(cells)


def _parts(texts: Iterable[str]) -> Iterator[str]:
    part = ""
    for text in texts:
        part += text + "\n"
        if len(part) >= _PART_CHARS:
            yield part
            part = ""
    if part:
        yield part


def _read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
