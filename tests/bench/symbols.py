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
_MADE = "figures alone, made"
_PART_CHARS = 2_500
"""About the size of a chunk."""


def measure() -> None:
    """Print the table."""
    from retrieval.symbols.language import load_language

    language = load_language(bytes(32))
    print("| symbolised text | MB | MB/s | million characters/s |\n| --- | --- | --- | --- |")
    total_mb = total_chars = total_s = 0.0
    for name, texts in _texts():
        parts = list(_parts(texts))
        size_mb, chars, best = _measured(language, parts)
        print(f"| {name} | {size_mb:.2f} | {size_mb / best:.2f} | {chars / best:.2f} |")
        if name != _MADE:
            total_mb, total_chars, total_s = total_mb + size_mb, total_chars + chars, total_s + best
    if total_s:
        print(f"| all but the made | {total_mb:.2f} | {total_mb / total_s:.2f} | {total_chars / total_s:.2f} |")
    print()
    _measure_lengths(language)


def _measure_lengths(language) -> None:
    """Print the speed on one text of 10 thousand to one million characters: the same, if it is linear."""
    line = next(texts for name, texts in _texts() if name == _MADE)[0]
    prose = (
        "2024年第三季度收入 2.38 亿元，同比下滑 5.2%；客户张伟先生（C1）电话 13812345678。"
        "Revenue fell by 5.2% to RMB 238 million.\n"
    )
    print("| length of one text, characters | figures, MB/s | prose, MB/s |\n| --- | --- | --- |")
    for length in (10_000, 100_000, 1_000_000):
        speeds = [_measured(language, [(text * (length // len(text) + 1))[:length]]) for text in (line + "\n", prose)]
        print(f"| {length:,} | " + " | ".join(f"{size / seconds:.2f}" for size, _, seconds in speeds) + " |")
    print()


def _measured(language, parts: list[str]) -> tuple[float, float, float]:
    """Return megabytes, million characters, and the seconds of the best round."""
    best = min(_seconds(lambda: _symbolise(language, parts)) for _ in range(_ROUNDS))
    return sum(len(part.encode()) for part in parts) / 1e6, sum(map(len, parts)) / 1e6, best


def _symbolise(language, parts: list[str]) -> None:
    for part in parts:
        language.symbolise(part, tenant="bench", base_date=date(2024, 11, 5))


def _seconds(work) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _texts() -> Iterator[tuple[str, list[str]]]:
    yield _MADE, list(_figures(4_000))
    data = Path(os.environ.get("ATTEST_EVAL_DATA", ""))
    if not (data / "tatqa").is_dir():
        return
    reports = _read(data / "tatqa" / "dev_contexts.jsonl")
    yield "tables of reports", ["\n".join(" | ".join(row) for row in report["table"]) for report in reports]
    yield "prose, English", [paragraph["text"] for report in reports for paragraph in report["paragraphs"]]
    yield "prose, Chinese", [passage["text"] for passage in _read(data / "cmrc2018" / "trial_passages.jsonl")]
    yield "meetings, English", _spoken(_read(data / "qmsum" / "val_meetings.jsonl"))
    yield "meetings, Chinese", _spoken(_read(data / "vcsum" / "dev_segments.jsonl"))


def _spoken(meetings: list[dict]) -> list[str]:
    """Return about a megabyte of turns: as much as of the other texts."""
    turns = [f"{speaker}: {text}" for meeting in meetings for speaker, text in meeting["turns"]]
    return turns[: int(len(turns) * 1e6 / max(1e6, sum(len(turn.encode()) for turn in turns)))]


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
