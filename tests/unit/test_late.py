from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.late import LateRescorer
from retrieval.settings import SearchSettings
from retrieval.types import Candidate, Chunk


class TokenEncoder(HashEncoder):
    """Scores a text by the share of the question's words it holds; remembers the weights it was given."""

    def __init__(self) -> None:
        super().__init__(dim=4)
        self.asked: list[tuple[float, float, float]] = []

    def late_scores(self, question: str, texts: Sequence[str], weights: tuple[float, float, float]) -> list[float]:
        self.asked.append(weights)
        words = question.split()
        return [sum(word in text for word in words) / len(words) for text in texts]


@pytest.fixture
def thread() -> Iterator[ModelThread]:
    owner = ModelThread("models")
    yield owner
    owner.close()


def candidate(text: str) -> Candidate:
    chunk = Chunk(
        chunk_id=text, tenant="t", document_id="d", ordinal=0, text=text, index_text=text, start_char=0, end_char=1
    )
    return Candidate(chunk, scores={}, ranks={}, fused=0.0)


CANDIDATES = [candidate("travel by rail"), candidate("travel budget"), candidate("canteen")]


async def test_late_scores_are_blended_by_the_weight(thread: ModelThread) -> None:
    encoder = TokenEncoder()
    rescorer = LateRescorer(encoder, thread, SearchSettings(multi_vector_weight=0.25, multi_vector_modes=(0, 0, 1)))
    assert await rescorer.rescore("travel budget", CANDIDATES, [0.8, 0.4, 0.0]) == pytest.approx([0.725, 0.55, 0.0])
    assert encoder.asked == [(0, 0, 1)]


@pytest.mark.parametrize(
    "settings",
    [SearchSettings(), SearchSettings(multi_vector_weight=0.5, multi_vector_modes=(0, 0, 0))],
)
async def test_late_scores_cost_nothing_while_they_are_off(thread: ModelThread, settings: SearchSettings) -> None:
    encoder = TokenEncoder()
    assert await LateRescorer(encoder, thread, settings).rescore("travel", CANDIDATES, [0.1, 0.2, 0.3]) == [
        0.1,
        0.2,
        0.3,
    ]
    assert encoder.asked == []


async def test_an_encoder_without_token_vectors_leaves_the_scores_alone(thread: ModelThread) -> None:
    rescorer = LateRescorer(HashEncoder(dim=4), thread, SearchSettings(multi_vector_weight=1))
    assert await rescorer.rescore("travel", CANDIDATES, [0.1, 0.2, 0.3]) == [0.1, 0.2, 0.3]


async def test_late_scores_stay_on_the_scale_of_the_reranker(thread: ModelThread) -> None:
    class Beyond(TokenEncoder):
        def late_scores(self, question: str, texts: Sequence[str], weights: tuple[float, float, float]) -> list[float]:
            return [1.7, -0.4, 0.5]

    rescorer = LateRescorer(Beyond(), thread, SearchSettings(multi_vector_weight=1))
    assert await rescorer.rescore("travel", CANDIDATES, [0.0, 0.0, 0.0]) == [1.0, 0.0, 0.5]
