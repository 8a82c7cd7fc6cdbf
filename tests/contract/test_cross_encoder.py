"""The real loading code of the auditor's cross-encoder, on a tiny model built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.cross_encoder import CrossEncoderEntailment
from agent.errors import AuditModelError
from random_models import save_cross_encoder

pytest.importorskip("sentence_transformers")


def test_a_model_of_inference_gives_probabilities_of_its_labels(tmp_path: Path) -> None:
    model = CrossEncoderEntailment(save_cross_encoder(tmp_path, ("contradiction", "entailment", "neutral")))
    stance = model.judge("The gate is open.", "The gate is shut.")
    assert 0 < stance.entails < 1
    assert 0 < stance.contradicts < 1
    assert stance.entails + stance.contradicts < 1
    assert model.judge("The gate is open.", "The gate is shut.") == stance


def test_a_model_with_other_labels_is_refused(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path, ("good", "bad"))
    with pytest.raises(AuditModelError, match="labels entailment and contradiction"):
        CrossEncoderEntailment(folder)
