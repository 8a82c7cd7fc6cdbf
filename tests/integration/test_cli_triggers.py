"""`attest eval trigger`, `attest eval absent` and `attest tune-triggers` on sets and logs of a few entries."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from api.main import main
from retrieval.decision_log import SqlDecisionLog
from retrieval.decisions import Decision, Outcome
from retrieval.settings import DecisionSettings

PAGES = {
    "tea": ("茶叶", "龙井茶产于浙江杭州西湖一带，以色绿、香郁、味甘、形美著称。清明前采摘的称为明前茶。"),
    "wall": ("长城", "长城东起山海关，西至嘉峪关。现存的长城遗迹主要为十四世纪的明长城。"),
}
ASKED = {"tea": "龙井茶产于浙江杭州的哪里？", "wall": "长城东起山海关，西至哪里？"}
REPORT = {
    "id": "r1",
    "table": [["", "2019", "2018"], ["Deferred revenue of licences", "1,204", "980"]],
    "paragraphs": [{"order": 1, "text": "Deferred revenue of licences rose in 2019 for the fourth year."}],
}


@pytest.fixture
def attest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, str]]:
    """Run a command in this process, on a home of this test's own; returns what it printed, and its errors."""
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATTEST_MODELS_ENCODER", "lexical")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object, code: int = 0, **settings: object) -> tuple[str, str]:
        with monkeypatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, str(value))
            patch.setattr("sys.argv", ["attest", *map(str, arguments)])
            with pytest.raises(SystemExit) as ended:
                main()
        printed = capsys.readouterr()
        assert (ended.value.code or 0) == code, printed
        return printed.out, printed.err

    return run


def _jsonl(path: Path, records: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Question sets in the forms of CMRC 2018, TAT-QA and CLINC150, and one sample document."""
    folder = tmp_path / "sets"
    cmrc = folder / "cmrc2018"
    _jsonl(cmrc / "trial_passages.jsonl", [{"id": k, "title": t, "text": text} for k, (t, text) in PAGES.items()])
    _jsonl(
        cmrc / "trial_questions.jsonl",
        [{"qid": f"{k}-0", "passage_id": k, "question": q, "answers": []} for k, q in ASKED.items()],
    )
    _jsonl(folder / "tatqa" / "dev_contexts.jsonl", [REPORT])
    question = {"qid": "q1", "context_id": "r1", "question": "What was the deferred revenue of licences in 2019?"}
    _jsonl(folder / "tatqa" / "dev_questions.jsonl", [question])
    for name, text in (("train_small", "what colour is the sky on mars"), ("val", "how do i knit a scarf")):
        records = [{"text": text, "intent": "oos"}, {"text": "pay my bill", "intent": "pay_bill"}]
        _jsonl(folder / "clinc_oos" / f"{name}.jsonl", records)
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "handbook.md").write_text("# Handbook\n\nTravel costs are paid back in May.\n", encoding="utf-8")
    return folder


def test_evaluation_of_the_trigger_tells_tiers_by_set_and_is_held_to_its_minimum(attest: Any, sets: Path) -> None:
    samples = sets.parent / "samples"
    bounds = ("--min", "answerable.reached=1", "--min", "smalltalk.none=.9", "--min", "world.none=1.1")
    printed, said = attest("eval", "trigger", "--samples", samples, *bounds, "--json", code=1, ATTEST_EVAL_DATA=sets)
    assert said.count("below") == 1
    assert "world.none" in said
    report = json.loads(printed)
    assert sum(report["confusion"]["answerable"].values()) == 3
    assert report["confusion"]["out_of_scope"] == {"strong": 0, "weak": 0, "none": 2}
    assert report["questions"] == sum(sum(tiers.values()) for tiers in report["confusion"].values())
    assert report["metrics"]["smalltalk.none"] == pytest.approx(report["confusion"]["smalltalk"]["none"] / 200)
    assert 0 < report["metrics"]["decision.p50"] <= report["metrics"]["decision.p95"]
    assert all(each["question"] for each in report["missed"])
    assert not (sets.parent / "home" / "index").exists()


def test_evaluation_of_absent_answers_is_held_to_its_minimum(attest: Any, sets: Path) -> None:
    report = json.loads(attest("eval", "absent", "cmrc2018", "--json", ATTEST_EVAL_DATA=sets)[0])
    assert (report["dataset"], report["questions"], report["encoder"]) == ("cmrc2018", 2, "lexical")
    name = next(iter(report["metrics"]))
    shown, said = attest("eval", "absent", sets / "cmrc2018", "--min", f"{name}=1.1", code=1)
    assert f"{name} is" in said
    assert "2 questions" in shown
    assert "nowhere" in attest("eval", "absent", "nowhere", code=2, ATTEST_EVAL_DATA=sets)[1]


# ---- thresholds from the decision log


def _log(home: Path, answered: int, others: int) -> None:
    """Write decisions of the trigger: those of answered questions score 0.5 and more, the others less than 0.4."""
    engine = create_engine(f"sqlite:///{home / 'attest.sqlite3'}")
    log = SqlDecisionLog(engine, DecisionSettings())
    scored: list[tuple[float, Outcome]] = [(0.5 + 0.4 * n / answered, "answered") for n in range(answered)]
    scored += [(0.3 * n / others, "not_in_documents") for n in range(others)]
    began = datetime.now(UTC) - timedelta(hours=1)
    for number, (score, outcome) in enumerate(scored):
        log.record(
            Decision(
                decision_id=f"{number:032x}",
                at=began + timedelta(seconds=number),
                kind="trigger",
                tenant="local",
                user="owner",
                run_id=f"r{number}",
                question="where is the car park",
                tier="weak",
                signals={"score": score},
                outcome=outcome,
            )
        )
    log.close()
    engine.dispose()


def test_thresholds_are_proposed_from_the_log_and_written_only_when_told(attest: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    tuned = home / "tuned.toml"

    def in_force(**settings: object) -> str:
        return json.loads(attest("doctor", "--json", **settings)[0])["status"]["trigger"]

    default = in_force()
    assert "0 answered of 40 needed" in attest("tune-triggers", "--apply", code=1)[1]
    _log(home, 520, 30)
    proposed = json.loads(attest("tune-triggers", "--json")[0])
    assert (proposed["answered"], proposed["others"], proposed["enough"]) == (520, 30, True)
    assert 0.3 < proposed["weak"] <= proposed["strong"] < 0.9
    weak, _ = proposed["proposed"]
    assert weak["threshold"] == proposed["weak"]
    assert weak["reached"] >= 0.97
    assert weak["in_vain"] == 0
    assert not tuned.exists()

    shown, _ = attest("tune-triggers", "--apply")
    assert "weak, proposed" in shown
    assert "tuned.toml" in shown
    now = f"weak {proposed['weak']:g}, strong {proposed['strong']:g}"
    assert f"{now} (tuned.toml)" in attest("doctor")[0]
    overridden = in_force(ATTEST_TRIGGER_WEAK="0.01")
    assert overridden.startswith("weak 0.01, ")
    assert f"tuned.toml says {now}" in overridden

    attest("tune-triggers", "--undo")
    assert not tuned.exists()
    assert in_force() == default
    assert "no tuned thresholds" in attest("tune-triggers", "--undo")[0]
