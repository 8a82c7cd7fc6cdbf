"""The set of true and false statements about figures, and how the auditor is measured on it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from agent.audit import figure_set, figure_set_zh, figure_writing
from agent.audit.auditor import Auditor
from agent.audit.figure_evaluation import evaluate_figures
from agent.audit.figure_set import all_statements
from agent.audit.figure_set_zh import chinese_statements
from agent.audit.figure_writing import FigureStatement
from retrieval.symbols.language import load_language

REPORT = (
    "(in millions)\n\n| | 2019 | 2018 |\n"
    "| Net product sales | 210.4 | 184.9 |\n| Other operating income | 35.2 | 31.7 |"
)


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def statement(text: str, true: bool, kind: str = "stated") -> FigureStatement:
    return FigureStatement(REPORT, "What were net product sales in 2019?", text, true, kind, "en")


def test_shares_count_false_statements_found_and_true_ones_kept(auditor: Auditor) -> None:
    report = evaluate_figures(
        [
            statement("Net product sales were $210.4 million in 2019.", True),
            statement("Net product sales were $999.9 million in 2019.", True),
            statement("Net product sales were $270.4 million in 2019.", False, "digit"),
            statement("Net product sales were $210.4 million in 2019.", False, "digit"),
        ],
        auditor,
    )
    assert (report.detection, report.specificity) == (0.5, 0.5)
    assert report.metrics["en.false.digit"] == 0.5


def test_a_set_without_false_statements_measures_nothing(auditor: Auditor) -> None:
    with pytest.raises(ValueError, match="missing"):
        evaluate_figures([statement("Net product sales were $210.4 million in 2019.", True)], auditor)


def test_the_set_is_written_without_the_symbol_language() -> None:
    for module in (figure_set, figure_set_zh, figure_writing):
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in imported if name.startswith("retrieval")]


def test_the_same_seed_writes_the_same_statements() -> None:
    assert list(chinese_statements()) == list(chinese_statements())


@pytest.mark.eval
def test_the_set_is_large_enough(eval_data: Path) -> None:
    counts = Counter(one.true for one in all_statements(eval_data / "tatqa"))
    assert counts[True] >= 2000
    assert counts[False] >= 2000
