"""What passages of the other language tell the trigger."""

from __future__ import annotations

import pytest

from retrieval.dictionary import cc_cedict
from retrieval.foreign_signal import foreign_signal
from retrieval.rerankers.foreign import ForeignJudge
from retrieval.translating import Translator
from retrieval.types import Candidate, Channel, Chunk

LEAVE = "Employees have 15 days of annual leave in a year."
OTHERS = (
    "The meal allowance is 120 dollars a day.",
    "Travel must be booked two weeks ahead.",
    "Invoices are paid late.",
)
QUESTION = "员工每年有几天年假"


@pytest.fixture(scope="module")
def judge() -> ForeignJudge:
    return ForeignJudge(Translator(cc_cedict()))


def found(text: str, *, translated: float, foreign: float = 0.76) -> Candidate:
    chunk = Chunk(
        chunk_id=text,
        tenant="acme",
        document_id="a" * 32,
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
    )
    scores: dict[Channel, float] = {"foreign": foreign, "translated": translated}
    return Candidate(chunk, scores, dict.fromkeys(scores, 1), 0.1)


def test_nothing_of_the_other_language_tells_nothing(judge: ForeignJudge) -> None:
    assert foreign_signal(judge, QUESTION, [], 5) is None


def test_a_passage_that_stands_out_counts_more_than_one_among_many(judge: ForeignJudge) -> None:
    rest = [found(text, translated=2.0) for text in OTHERS]
    out = foreign_signal(judge, QUESTION, [found(LEAVE, translated=9.0, foreign=0.83), *rest], 5)
    among = foreign_signal(judge, QUESTION, [found(LEAVE, translated=2.0), *rest], 5)
    assert out is not None
    assert among is not None
    assert out.log_odds > 0 > among.log_odds
    assert 0 <= among.relevance < out.relevance <= 0.95


def test_the_only_passage_with_any_of_the_words_stands_out(judge: ForeignJudge) -> None:
    alone = foreign_signal(judge, QUESTION, [found(LEAVE, translated=3.0, foreign=0.8)], 3)
    beside_equals = foreign_signal(
        judge, QUESTION, [found(text, translated=3.0, foreign=0.8) for text in (LEAVE, *OTHERS)], 3
    )
    assert alone is not None
    assert beside_equals is not None
    assert alone.log_odds > beside_equals.log_odds


def test_more_asked_terms_make_the_same_passages_tell_more(judge: ForeignJudge) -> None:
    candidates = [found(LEAVE, translated=9.0, foreign=0.83), *(found(text, translated=2.0) for text in OTHERS)]
    short, long = (foreign_signal(judge, QUESTION, candidates, asked) for asked in (2, 8))
    assert short is not None
    assert long is not None
    assert long.log_odds > short.log_odds
    assert long.relevance == short.relevance
