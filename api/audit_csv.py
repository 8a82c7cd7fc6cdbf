"""Audit reports as CSV: one line per sentence and source, with verdicts and hashes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COLUMNS = (
    *("run_id", "at", "user", "risk", "action", "status", "answer_sha256", "sentence", "verdict", "flags", "text"),
    *("text_sha256", "label", "document_id", "standing", "source_sha256"),
)
_ACTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet reads as a formula when a cell begins with it."""


def audit_csv(reports: Iterable[Mapping[str, Any]]) -> str:
    """Return the reports (`AuditReport` as JSON) as CSV with a header; cells that could act are quoted as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for report in reports:
        sources = {each["label"]: each for each in report["sources"]}
        for sentence in report["sentences"]:
            for label in sentence["labels"] or [""]:
                writer.writerow([_inert(cell) for cell in _line(report, sentence, label, sources.get(label, {}))])
    return text.getvalue()


def _line(
    report: Mapping[str, Any], sentence: Mapping[str, Any], label: str, source: Mapping[str, Any]
) -> Sequence[object]:
    return (
        *(report[name] for name in COLUMNS[:7]),
        *(sentence["index"], sentence["kind"], " ".join(sentence["flags"]), sentence["text"], sentence["text_sha256"]),
        *(label, source.get("document_id", ""), source.get("standing", ""), source.get("text_sha256", "")),
    )


def _inert(cell: object) -> str:
    text = str(cell)
    return f"'{text}" if text.startswith(_ACTS) else text
