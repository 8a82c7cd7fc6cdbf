"""`attest eval retrieval` on a question set of a few texts, written in the form of CMRC 2018."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TEXTS = {
    "tea": ("茶叶", "龙井茶产于浙江杭州西湖一带，以色绿、香郁、味甘、形美著称。清明前采摘的称为明前茶。"),
    "wall": ("长城", "长城东起山海关，西至嘉峪关。现存的长城遗迹主要为十四世纪的明长城。"),
    "panda": ("大熊猫", "大熊猫生活在四川、陕西和甘肃的山区，主要以竹子为食，每天要吃二十公斤左右。"),
}
QUESTIONS = {"tea": "龙井茶产于哪里？", "wall": "长城西至哪里？", "panda": "大熊猫主要以什么为食？"}


@pytest.fixture
def question_set(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    passages = [{"id": key, "title": title, "text": text} for key, (title, text) in TEXTS.items()]
    questions = [
        {"qid": f"{key}-0", "passage_id": key, "question": question, "answers": []}
        for key, question in QUESTIONS.items()
    ]
    for name, records in (("trial_passages", passages), ("trial_questions", questions)):
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_evaluation_of_search_is_held_to_its_minimum(attest: Any, question_set: Path) -> None:
    report = attest.json("eval", "retrieval", question_set, "--min", "recall@1=0.9", "--min", "bm25.mrr@10=0.5")
    assert (report["questions"], report["texts"]) == (3, 3)
    assert report["metrics"]["recall@1"] == 1.0
    assert report["encoder"] == "lexical"
    low = attest("eval", "retrieval", "tiny", "--min", "recall@1=1.1", code=1, ATTEST_EVAL_DATA=question_set.parent)
    assert "recall@1 is 1.0000, below 1.1" in low.stderr
    assert "3 questions" in low.stdout
    assert "recall@1" in low.stdout
    assert not (attest.home / "index").exists()  # the documents of this home are left alone


def test_unknown_metric_and_unreadable_set_are_usage_errors(attest: Any, question_set: Path) -> None:
    unknown = attest("eval", "retrieval", question_set, "--min", "recal@1=0.5", code=2)
    assert "recal@1" in unknown.stderr
    assert "recall@1" in unknown.stderr  # the metrics there are
    (question_set / "trial_questions.jsonl").write_text('{"qid": 1}\n', encoding="utf-8")
    broken = attest("eval", "retrieval", question_set, code=2)
    assert "trial_questions.jsonl, line 1" in broken.stderr
