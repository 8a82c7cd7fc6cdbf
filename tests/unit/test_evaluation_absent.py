"""The evaluation of confidence: what counts as kept and detected, and what a threshold is fitted to."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from retrieval.confidence_fit import fit, measure
from retrieval.evaluation_absent import Asked, ask_twice, rates
from retrieval.evaluation_data import Dataset, Question, Text
from retrieval.fakes import FixedReranker, HashEncoder
from retrieval.kept_vectors import KeptVectors
from retrieval.settings import SearchSettings
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import load_language
from retrieval.types import Candidate

TEXTS = {"wind": "Wind mills turn slowly.", "tax": "Tax law of the land.", "sun": "Solar panels lie on roofs."}


def same_words(question: str, candidate: Candidate) -> float:
    shared = set(question.lower().split()) & set(candidate.chunk.text.lower().strip(".").split())
    return min(len(shared) / 2, 1.0)


async def test_absent_is_detected_where_no_other_text_holds_the_words() -> None:
    dataset = Dataset(
        name="tiny",
        texts=tuple(Text(text_id=name, text=text) for name, text in TEXTS.items()),
        questions=(
            Question(question_id="q1", text="tax law", text_id="tax"),
            Question(question_id="q2", text="solar panels", text_id="sun"),
            Question(question_id="q3", text="wind mills", text_id="tax"),
        ),
    )
    asked, report = await ask_twice(
        dataset,
        encoder=HashEncoder(64),
        reranker=FixedReranker(same_words),
        store=InMemoryVectorStore(),
        language=load_language(bytes(32)),
        settings=SearchSettings(),
    )
    assert [(a.kept, a.detected, a.found) for a in asked] == [
        (True, True, True),
        (True, True, True),
        (True, False, True),
    ]
    assert [a.score_without for a in asked] == [0.0, 0.0, 1.0]
    assert report.metrics["detected"] == 2 / 3
    assert report.metrics["kept"] == 1.0


def asked(with_text: float, without: float) -> Asked:
    return Asked("t", found=True, kept=True, detected=True, score_with=with_text, score_without=without)


def test_threshold_keeps_nine_of_ten_in_every_set() -> None:
    high = [asked(n / 10 + 0.5, 0.0) for n in range(10)]
    low = [asked(n / 10, 0.15) for n in range(10)]
    assert fit([high]) == 0.6
    assert fit([high, low]) == 0.1
    assert measure(low, 0.1) == (0.9, 0.0)
    assert measure(low, 0.2) == (0.8, 1.0)


def test_rates_of_nothing_are_zero() -> None:
    assert rates([]) == {"kept": 0.0, "detected": 0.0, "kept.found": 0.0}


def test_vectors_are_kept_between_processes_and_are_the_encoders(tmp_path: Path) -> None:
    class Counting(HashEncoder):
        def __init__(self) -> None:
            super().__init__(16)
            self.texts = 0

        def _vector(self, text: str):  # type: ignore[no-untyped-def]
            self.texts += 1
            return super()._vector(text)

    first = KeptVectors(Counting(), tmp_path / "v.npz")
    made = first.encode_documents(["tax law", "wind mill"]), first.encode_query("tax")
    first.save()
    encoder = Counting()
    again = KeptVectors(encoder, tmp_path / "v.npz")
    kept = again.encode_documents(["wind mill", "tax law"]), again.encode_query("tax")
    assert encoder.texts == 0
    assert np.array_equal(kept[0].dense[::-1], made[0].dense)
    assert np.array_equal(kept[0].sparse[1].indices, made[0].sparse[0].indices)
    assert np.array_equal(kept[1].dense, made[1].dense)
    assert again.encode_documents([]).dense.shape == (0, 16)
