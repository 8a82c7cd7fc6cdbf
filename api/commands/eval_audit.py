"""`attest eval audit`: measure the citation auditor, and fit its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from agent.audit.auditor import Auditor
from agent.audit.calibration import load_calibration
from agent.audit.evaluation import AuditReport, evaluate, placed_answers, read_cases
from agent.audit.figure_evaluation import FigureReport, evaluate_figures
from agent.audit.figure_set import all_statements, english_statements
from agent.audit.off_question_fit import fit_off_question
from agent.audit.pair_evaluation import evaluate_pairs, random_pairs
from agent.audit.sentence_evaluation import SentenceReport, evaluate_sentences
from agent.audit.sentence_set import read_judged
from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, fail, guarded, out, print_json
from api.errors import EXIT_USAGE
from api.settings import load_settings
from ingest.evaluation import default_expected
from retrieval.symbols.language import load_language

Fit = Annotated[
    Path | None, typer.Option("--fit", help="Write parameters fitted on FILE here; set ATTEST_AUDIT_CALIBRATION to it.")
]
Figures = Annotated[
    bool, typer.Option("--figures", help="Statements about figures of the tables in the evaluation data's tatqa.")
]
Sentences = Annotated[
    bool,
    typer.Option("--sentences", help="Our sentences with known verdicts: paraphrases, flips, swaps, false sources."),
]
Pairs = Annotated[
    int | None,
    typer.Option("--pairs", min=2, help="So many right answers of FILE and of tatqa beside other documents' passages."),
]


def audit(
    file: Annotated[Path | None, typer.Argument(help="JSONL of answers with known verdicts.")] = None,
    minimum: Minimum = None,
    fit: Fit = None,
    figures: Figures = False,
    sentences: Sentences = False,
    pairs: Pairs = None,
    json_output: Json = False,
) -> None:
    """Measure the citation auditor on answers whose support is known by construction."""
    bounds = read_bounds(minimum)
    settings = load_settings()
    auditor = guarded(lambda: Auditor(load_language(KEY), settings.audit))
    if figures + sentences + (file is not None) != 1:
        fail("name a FILE of answers, or choose one of --figures and --sentences", EXIT_USAGE)
    if figures:
        _audit_figures(auditor, bounds, find(Path("tatqa"), settings), json_output)
    if sentences:
        _audit_sentences(auditor, bounds, json_output)
    if file is None:
        return
    path = find(file, settings)
    if pairs is not None:
        _audit_pairs(auditor, bounds, path, find(Path("tatqa"), settings), pairs, json_output)
        return
    if fit is not None:
        _fit(path, fit, auditor)
    report = guarded(lambda: evaluate(read_cases(path), auditor))
    if json_output:
        print_json(report.model_dump(mode="json") | {"metrics": report.metrics})
    else:
        _print(report)
    enforce(bounds, report.metrics)


def _fit(path: Path, target: Path, auditor: Auditor) -> None:
    try:
        rule = fit_off_question(placed_answers(read_cases(path), auditor))
    except ValueError as exc:
        fail(f"{path}: nothing can be fitted on it ({exc})", EXIT_USAGE)
    fitted = load_calibration().model_copy(update={"off_question": rule})
    target.write_text(fitted.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _audit_figures(auditor: Auditor, bounds: dict[str, float], folder: Path, json_output: bool) -> None:
    report = guarded(lambda: evaluate_figures(all_statements(folder), auditor))
    if json_output:
        print_json(report.model_dump(mode="json") | {"metrics": report.metrics})
    else:
        _print_figures(report)
    enforce(bounds, report.metrics)


def _audit_pairs(
    auditor: Auditor, bounds: dict[str, float], path: Path, folder: Path, count: int, json_output: bool
) -> None:
    drawn = guarded(lambda: random_pairs(read_cases(path), english_statements(folder), count))
    report = evaluate_pairs(drawn, auditor)
    if json_output:
        print_json(report.model_dump(mode="json") | {"metrics": report.metrics})
    else:
        out.print(f"{report.pairs} pairs, {report.sentences} sentences: {report.verdicts}")
        out.print(f"called supported: {report.supported:.4f}")
    enforce(bounds, report.metrics)


def _audit_sentences(auditor: Auditor, bounds: dict[str, float], json_output: bool) -> None:
    file = default_expected().with_name("sentences") / "sentences.jsonl"
    report = guarded(lambda: evaluate_sentences(read_judged(file), auditor))
    if json_output:
        print_json(report.model_dump(mode="json") | {"metrics": report.metrics})
    else:
        _print_sentences(report)
    enforce(bounds, report.metrics)


def _print_sentences(report: SentenceReport) -> None:
    table = Table("kind", "", "kept apart", "sentences", "right", "contradicted", box=None)
    for kind in report.kinds:
        right, contradicted = f"{kind.right:.4f}", f"{kind.contradicted:.4f}"
        apart = "yes" if kind.apart else "no"
        table.add_row(kind.kind, kind.language, apart, str(kind.sentences), right, contradicted)
    out.print(table)
    out.print(f"{report.sentences} sentences in {report.seconds} s")
    out.print(f"macro_f1 {report.macro_f1:.4f}, of the third kept apart {report.macro_f1_apart:.4f}")


def _print_figures(report: FigureReport) -> None:
    table = Table("kind", "", "true", "statements", "right", "contradicted", box=None)
    for kind in report.kinds:
        truth = "yes" if kind.true else "no"
        right, contradicted = f"{kind.right:.4f}", f"{kind.contradicted:.4f}"
        table.add_row(kind.kind, kind.language, truth, str(kind.statements), right, contradicted)
    out.print(table)
    out.print(f"{report.statements} statements in {report.seconds} s")
    out.print(f"detection {report.detection:.4f}, specificity {report.specificity:.4f}")


def _print(report: AuditReport) -> None:
    table = Table("kind", "cases", "rejected", "balanced accuracy", box=None)
    for kind in report.kinds:
        balanced = "" if kind.balanced_accuracy is None else f"{kind.balanced_accuracy:.4f}"
        table.add_row(kind.kind, str(kind.cases), f"{kind.rejected:.4f}", balanced)
    out.print(table)
    for way in report.off_question:
        out.print(f"off_question, fitted on the other half: found {way.found:.3f}, false flags {way.false_flags:.3f}")
    metrics = Table("metric", "value", box=None)
    for name, value in report.metrics.items():
        metrics.add_row(name, f"{value:.4f}")
    out.print(metrics)
