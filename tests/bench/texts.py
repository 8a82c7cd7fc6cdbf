"""Texts to measure on: the evaluation data where it lies, else the samples."""

from __future__ import annotations

import json
import os
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


def documents(count: int) -> list[tuple[str, str]]:
    """Return (name, Markdown) of at most `count` documents, Chinese and English in turn."""
    folder = Path(os.environ.get("ATTEST_EVAL_DATA", ""))
    if not (folder / "cmrc2018").is_dir():
        found = [(p.name, p.read_text(encoding="utf-8")) for p in sorted(SAMPLES.glob("*.md"))]
        return [(f"{i}-{name}", text) for i in range(count) for name, text in [found[i % len(found)]]][:count]
    chinese = [
        (f"zh-{row['id']}.md", f"# {row['title']}\n\n{row['text']}\n")
        for row in _rows(folder / "cmrc2018" / "trial_passages.jsonl")
    ]
    english = [
        (f"en-{row['id']}.md", "# Report\n\n" + "\n\n".join(p["text"] for p in row["paragraphs"]) + "\n")
        for row in _rows(folder / "tatqa" / "dev_contexts.jsonl")
    ]
    mixed = [item for pair in zip(chinese, english, strict=False) for item in pair]
    return mixed[:count]


def sentences(count: int) -> list[str]:
    """Return `count` sentence-sized texts, repeated with a number where there are too few."""
    found = [line for _, text in documents(500) for line in text.splitlines() if len(line) > 20]
    return [f"{found[i % len(found)][:300]} {i}" for i in range(count)]


def questions() -> list[str]:
    """Return questions in both languages."""
    folder = Path(os.environ.get("ATTEST_EVAL_DATA", ""))
    if not (folder / "cmrc2018").is_dir():
        return [row["question"] for row in json.loads((SAMPLES / "questions.json").read_text(encoding="utf-8"))]
    chinese = [row["question"] for row in _rows(folder / "cmrc2018" / "trial_questions.jsonl")[:50]]
    english = [row["question"] for row in _rows(folder / "tatqa" / "dev_questions.jsonl")[:50]]
    return [q for pair in zip(chinese, english, strict=True) for q in pair]


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
