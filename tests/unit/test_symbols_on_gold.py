"""The symbol language on its gold set; `attest eval symbols` breaks the figures down by kind."""

from __future__ import annotations

import pytest

from retrieval.symbols.evaluation import evaluate_symbols, read_gold
from retrieval.symbols.gold import gold_folder, gold_language

MINIMA = {
    "values.f1": 0.97,
    "secrets.recall": 0.98,
    "secrets.precision": 0.97,
    "codes.precision": 0.99,
    "codes.recall": 0.99,
}


@pytest.mark.parametrize("split", ["dev", "test"])
def test_every_class_reaches_its_minimum(split: str) -> None:
    folder = gold_folder()
    sentences = read_gold(folder / f"{split}.jsonl")
    report = evaluate_symbols(sentences, gold_language(bytes(32), folder / "rules.toml"))
    assert {name: report.metrics[name] for name in MINIMA if report.metrics[name] < MINIMA[name]} == {}
