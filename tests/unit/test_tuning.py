"""The trigger's thresholds are proposed from what became of logged questions, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.settings import load_settings
from api.tuned import remove_tuned, write_tuned
from retrieval.decisions import Decision
from retrieval.decisions import Outcome as Became
from retrieval.tuning import Outcome, outcomes, tune


def decision(outcome: Became | None, *, score: float | None = 0.5) -> Decision:
    return Decision(
        decision_id="0" * 32,
        at=datetime(2024, 11, 5, tzinfo=UTC),
        kind="trigger",
        tenant="acme",
        user="kim",
        question="q",
        signals={} if score is None else {"score": score},
        outcome=outcome,
    )


def test_only_scored_decisions_of_ended_runs_are_replayed() -> None:
    logged = [decision("answered"), decision(None), decision("general", score=None), decision("not_in_documents")]
    assert outcomes(logged) == [Outcome(score=0.5, answered=True), Outcome(score=0.5, answered=False)]


def test_too_few_outcomes_propose_nothing_and_say_how_many_there_are() -> None:
    tuning = tune([Outcome(score=0.9, answered=True)] * 500, weak=0.3, strong=0.6)
    assert not tuning.enough
    assert (tuning.answered, tuning.others, tuning.weak, tuning.curve) == (500, 0, None, ())


def test_proposed_thresholds_reach_the_shares_that_were_asked_for() -> None:
    known = [Outcome(score=n / 100, answered=True) for n in range(1, 101)]
    known += [Outcome(score=n / 200, answered=False) for n in range(1, 101)]
    tuning = tune(known, weak=0.3, strong=0.6, reached=0.9, strongly=0.5)
    assert (tuning.weak, tuning.strong) == (0.11, 0.51)
    assert [round(each.reached, 2) for each in tuning.proposed] == [0.9, 0.5]
    assert tuning.now[0].in_vain > tuning.now[1].in_vain
    shares = [(each.reached, each.in_vain) for each in tuning.curve]
    assert shares == sorted(shares, reverse=True)


def test_applied_thresholds_are_read_give_way_to_attest_toml_and_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path))
    before = load_settings().trigger
    write_tuned(tmp_path, weak=0.21, strong=0.71)
    assert (load_settings().trigger.weak, load_settings().trigger.strong) == (0.21, 0.71)
    (tmp_path / "attest.toml").write_text("[trigger]\nstrong = 0.9\n", encoding="utf-8")
    assert (load_settings().trigger.weak, load_settings().trigger.strong) == (0.21, 0.9)
    (tmp_path / "attest.toml").unlink()
    assert remove_tuned(tmp_path)
    assert load_settings().trigger == before
    assert not remove_tuned(tmp_path)
