"""A true sentence that answers another question is flagged; the rule is fitted, kept in a file and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.auditor import Auditor
from agent.audit.calibration import Calibration, LinearRule, at_false_share, fit_rule, load_calibration
from agent.audit.evaluation import AuditCase, evaluate, placed_answers, read_cases
from agent.audit.off_question_fit import PlacedAnswer, fit_off_question, measure_both_ways
from agent.audit.plain import plain_passage
from agent.errors import AuditCalibrationError
from agent.settings import AuditSettings
from retrieval.symbols.language import load_language

SOURCE = (
    "吕志兴生于香港，香港职业足球运动员，司职防守中场，现时效力香港超级联赛球队和富大埔。"
    "他于2004年转投大埔，2006年球队升上甲组后仍是兼职球员。"
)


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def flags(auditor: Auditor, question: str, answer: str) -> set[str]:
    audit = auditor.audit(
        answer + " [SOURCE: doc_e7a1_s1]",
        passages=[plain_passage("doc_e7a1_s1", SOURCE)],
        labels={"doc_e7a1_s1"},
        question=question,
        tier="strong",
        tenant="t",
    )
    return {flag for sentence in audit.sentences for flag in sentence.flags}


def test_a_sentence_that_answers_is_not_flagged(auditor: Auditor) -> None:
    assert flags(auditor, "吕志兴现在效力于哪个球队？", "现时效力香港超级联赛球队和富大埔") == set()
    assert flags(auditor, "吕志兴何时转投大埔？", "2004年转投大埔") == set()


def test_a_true_sentence_about_something_else_is_flagged(auditor: Auditor) -> None:
    assert flags(auditor, "吕志兴司职什么位置？", "2004年转投大埔") == {"off_question"}
    assert flags(auditor, "吕志兴何时转投大埔？", "香港职业足球运动员") == {"off_question"}


def test_requests_without_a_question_word_are_never_flagged(auditor: Auditor) -> None:
    assert flags(auditor, "介绍一下吕志兴", "2004年转投大埔") == set()


def test_fit_rule_separates_what_can_be_separated() -> None:
    rows = [{"x": float(n), "noise": float(n % 3)} for n in range(40)]
    rule = fit_rule(rows, [n >= 20 for n in range(40)])
    scores = [rule.score(row) for row in rows]
    assert min(scores[25:]) > max(scores[:15])
    bounded = at_false_share(rule, scores[:20], 0.1)
    assert sum(bounded.holds(row) for row in rows[:20]) <= 2


def test_fit_rule_needs_both_classes() -> None:
    with pytest.raises(ValueError, match="both classes"):
        fit_rule([{"x": 1.0}], [True])


def test_measuring_never_fits_on_the_half_it_measures() -> None:
    """Two halves that contradict each other: whatever is learnt from one is wrong on the other."""
    answers = [
        PlacedAnswer(group=str(n), rows=({"x": float(off) + n % 7 / 10},), off=off)
        for n in range(60)
        for off in (True, False)
    ]
    both = measure_both_ways(answers)
    assert [way.found for way in both] == [1.0, 1.0]
    assert fit_off_question(answers).score({"x": 1.5}) > fit_off_question(answers).score({"x": 0.0})


def test_the_auditor_reads_its_parameters_from_the_file_of_the_setting(tmp_path: Path) -> None:
    never = Calibration(off_question=LinearRule(weights={}, bias=0.0, threshold=1.0))
    path = tmp_path / "calibration.json"
    path.write_text(never.model_dump_json(), encoding="utf-8")
    auditor = Auditor(load_language(b"0123456789abcdef"), AuditSettings(calibration=path))
    assert flags(auditor, "吕志兴司职什么位置？", "2004年转投大埔") == set()


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_broken_calibration_file_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(AuditCalibrationError, match=r"calibration\.json"):
        load_calibration(path)


def test_evaluation_names_the_metrics(auditor: Auditor) -> None:
    case = AuditCase(question="何时转投大埔？", answer="2004年", context=SOURCE, supported=True, kind="gold")
    changed = case.model_copy(update={"answer": "2008年", "kind": "number_changed"})
    metrics = evaluate([case, changed], auditor).metrics
    assert metrics == {"changed_number": 1.0, "gold.kept": 1.0}


@pytest.mark.eval
def test_off_question_is_found_both_ways(eval_data: Path, auditor: Auditor) -> None:
    cases = read_cases(eval_data / "cmrc2018" / "derived_auditor_trial.jsonl")
    for way in measure_both_ways(placed_answers(cases, auditor)):
        assert way.found >= 0.70
        assert way.false_flags <= 0.10
