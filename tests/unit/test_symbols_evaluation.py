from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import EvaluationDataError
from retrieval.symbols.evaluation import GoldSentence, GoldSymbol, evaluate_symbols, read_gold
from retrieval.symbols.language import load_language

LANGUAGE = load_language(b"0123456789abcdef")
TEXT = "电话13812345678，收入2.38亿元"
MOBILE = GoldSymbol(cls="secret", kind="mobile", normal="13812345678", start=2, end=13)
AMOUNT = GoldSymbol(cls="value", kind="amount", normal="CNY 238000000", start=16, end=22)


def sentence(*symbols: GoldSymbol) -> GoldSentence:
    return GoldSentence(id="s", lang="zh", text=TEXT, symbols=symbols)


def test_all_right_gives_one_everywhere() -> None:
    report = evaluate_symbols([sentence(MOBILE, AMOUNT)], LANGUAGE)
    assert report.wrong == []
    assert {report.metrics[f"{name}.f1"] for name in ("values", "codes", "secrets", "secrets.mobile")} == {1.0}


def test_another_normal_form_counts_as_missed_and_as_false() -> None:
    other = AMOUNT.model_copy(update={"normal": "CNY 238"})
    report = evaluate_symbols([sentence(MOBILE, other)], LANGUAGE)
    assert report.metrics["values.f1"] == 0.0
    assert [(w.mistake, w.symbol.normal) for w in report.wrong] == [("missed", "CNY 238"), ("false", "CNY 238000000")]


def test_a_secret_taken_for_another_kind_is_wrong_and_yet_covered() -> None:
    card = MOBILE.model_copy(update={"kind": "bank_card"})
    report = evaluate_symbols([sentence(card, AMOUNT)], LANGUAGE)
    assert (report.metrics["secrets.recall"], report.metrics["secrets.covered"]) == (0.0, 1.0)


def test_what_stands_there_unmarked_lowers_precision() -> None:
    report = evaluate_symbols([sentence(AMOUNT)], LANGUAGE)
    assert (report.metrics["secrets.precision"], report.metrics["secrets.recall"]) == (0.0, 1.0)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(sentence(AMOUNT).model_dump_json() + '\n{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(EvaluationDataError, match=r"set\.jsonl: line 2: lang"):
        read_gold(path)
