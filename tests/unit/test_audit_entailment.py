"""A model of inference beside the rules: asked where they go by words alone, and believed when it is sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.auditor import Auditor
from agent.audit.cross_encoder import CrossEncoderEntailment
from agent.audit.entailment import ScriptedEntailment, Stance
from agent.audit.plain import plain_passage
from agent.errors import AuditModelError
from retrieval.symbols.language import SymbolLanguage, load_language

LABEL = "doc_4d1e_s1"
SOURCE = "The warehouse closes early on Fridays. Deliveries go through the north gate."


@pytest.fixture(scope="module")
def language() -> SymbolLanguage:
    return load_language(b"0123456789abcdef")


def verdicts(language: SymbolLanguage, answer: str, model: ScriptedEntailment) -> list[str]:
    audit = Auditor(language, entailment=model).audit(
        answer, passages=[plain_passage(LABEL, SOURCE)], labels={LABEL}, question="", tier="strong", tenant="plain"
    )
    return [sentence.kind for sentence in audit.sentences]


def test_a_sentence_that_the_model_finds_contradicted_is_so(language: SymbolLanguage) -> None:
    said = "Deliveries arrive through the north gate."
    model = ScriptedEntailment({said: Stance(entails=0.05, contradicts=0.9)})
    assert verdicts(language, f"{said} [SOURCE: {LABEL}]", model) == ["contradicted"]
    assert model.asked[0][0].endswith("Deliveries go through the north gate.")


def test_a_doubt_of_the_model_changes_nothing(language: SymbolLanguage) -> None:
    said = "Deliveries arrive through the north gate."
    sure = verdicts(language, f"{said} [SOURCE: {LABEL}]", ScriptedEntailment({}))
    doubting = ScriptedEntailment({said: Stance(entails=0.3, contradicts=0.6)})
    assert verdicts(language, f"{said} [SOURCE: {LABEL}]", doubting) == sure


def test_the_model_is_not_asked_about_what_stands_in_the_source(language: SymbolLanguage) -> None:
    model = ScriptedEntailment({})
    assert verdicts(language, f"Deliveries go through the north gate. [SOURCE: {LABEL}]", model) == ["supported"]
    assert not model.asked


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuditModelError, match="no model"):
        CrossEncoderEntailment(tmp_path)
