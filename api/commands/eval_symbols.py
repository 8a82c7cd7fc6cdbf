"""`attest eval symbols`: the symbol language against sentences whose symbols are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from api.commands.evaluating import KEY, Minimum, enforce, find, read_bounds
from api.commands.session import Json, guarded, out, print_json
from api.settings import load_settings
from retrieval.symbols.evaluation import SymbolReport, Wrong, evaluate_symbols, read_gold
from retrieval.symbols.gold import gold_folder, gold_language

SPLITS = ("dev", "test", "challenge")


def symbols(
    split: Annotated[
        Literal["dev", "test", "challenge", "all"], typer.Option(help="Which part of the gold set.")
    ] = "dev",
    file: Annotated[Path | None, typer.Option(help="A set of your own in place of the gold set.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Rule file of the tenant that reads it.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    errors: Annotated[int, typer.Option(help="Print so many of the wrong ones.", min=0)] = 0,
    minimum: Minimum = None,
    json_output: Json = False,
) -> None:
    """Measure codes, values and secrets: precision, recall and F1 by class and kind."""
    bounds = read_bounds(minimum)

    def work() -> SymbolReport:
        folder = gold_folder()
        paths = [folder / f"{name}.jsonl" for name in (SPLITS if split == "all" else (split,))]
        if file is not None:
            paths = [find(file, load_settings())]
        sentences = [sentence for path in paths for sentence in read_gold(path)]
        return evaluate_symbols(sentences, gold_language(KEY, rules or folder / "rules.toml"))

    report = guarded(work)
    if json_output:
        print_json({"sentences": report.sentences, "metrics": report.metrics})
    else:
        _print(report, kind)
        for wrong in [w for w in report.wrong if kind in (None, w.symbol.kind)][:errors]:
            out.print(_line(wrong), markup=False, highlight=False, soft_wrap=True)
    enforce(bounds, report.metrics)


def _print(report: SymbolReport, kind: str | None) -> None:
    table = Table("class", "kind", "in the set", "found", "precision", "recall", "F1", box=None)
    for name in ("values", "codes", "secrets"):
        rows = [(each, counts) for (cls, each), counts in sorted(report.kinds.items()) if cls == name]
        rows = [("all", report.of_class(name)), *rows]
        for each, counts in rows:
            if kind in (None, each):
                figures = (f"{value:.3f}" for value in (counts.precision, counts.recall, counts.f1))
                table.add_row(name, each, str(counts.expected), str(counts.found), *figures)
    out.print(f"{report.sentences} sentences")
    out.print(table)
    out.print(
        f"secrets wholly hidden, whatever they were taken for: {report.metrics['secrets.covered']:.3f} · "
        f"qualifiers right: {report.qualifiers.recall:.3f} of {report.qualifiers.expected}"
    )


def _line(wrong: Wrong) -> str:
    symbol, sentence = wrong.symbol, wrong.sentence
    surface = sentence.text[symbol.start : symbol.end]
    return (
        f"{sentence.id} {wrong.mistake} {symbol.cls} {symbol.kind} {surface!r} = {symbol.normal!r} "
        f"at {symbol.start}-{symbol.end}: {sentence.text!r}"
    )
