"""One audit as an HTML page: each sentence beside what its sources say. Escaped; no script, no live link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from agent.audit.verdicts import Evidence
from agent.audit_report import AuditReport, ReportedSentence, ReportedSource

_TEMPLATES = Path(__file__).parent / "templates"

PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The page may load nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text; marked where a check looked at it."""

    text: str
    mark: str = ""
    """`yes`, `no` or empty."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A source beside a sentence."""

    source: ReportedSource
    pieces: Sequence[Piece]


def render_audit(report: AuditReport) -> str:
    """Return the page."""
    sources = {each.label: each for each in report.sources}
    rows = [
        (
            sentence,
            [
                Beside(sources[label], _marked(sources[label], sentence))
                for label in sentence.labels
                if label in sources
            ],
        )
        for sentence in report.sentences
    ]
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("audit.html.j2").render(report=report, rows=rows)


def _marked(source: ReportedSource, sentence: ReportedSentence) -> Sequence[Piece]:
    """Cut a source's text where checks of a sentence looked; a check that failed wins over one that passed."""
    checks = [each for each in sentence.checks if each.label == source.label and each.source_span is not None]
    places = sorted(checks, key=lambda each: (each.passed, each.rule == "support"))
    taken: list[tuple[int, int, Evidence]] = []
    for each in places:
        start, end = each.source_span or (0, 0)
        free = all(end <= first or last <= start for first, last, _ in taken)
        if free and 0 <= start < end <= len(source.text):
            taken.append((start, end, each))
    pieces: list[Piece] = []
    at = 0
    for start, end, each in sorted(taken, key=lambda each: each[0]):
        pieces += [Piece(source.text[at:start]), Piece(source.text[start:end], "yes" if each.passed else "no")]
        at = end
    return [each for each in (*pieces, Piece(source.text[at:])) if each.text]
