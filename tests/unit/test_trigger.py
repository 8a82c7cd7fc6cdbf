"""The three tiers: form first, then how well the visible documents answer to the question."""

from __future__ import annotations

from datetime import date

import pytest

from retrieval.first_stage import FirstStage
from retrieval.settings import TriggerSettings
from retrieval.trigger import Trigger
from retrieval.types import Candidate, Channel, Chunk, Principal, Scope, SearchFilter, Symbol

OWNER = Principal(tenant="acme", user="kim", rights=frozenset({"search"}))


class Found:
    """Answers every question with the candidates it was given; counts how often it was asked."""

    def __init__(self, *candidates: Candidate, symbols: tuple[Symbol, ...] = ()) -> None:
        self.candidates, self.symbols, self.asked = candidates, symbols, 0
        self.base_date: date | None = None

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        self.asked += 1
        self.base_date = base_date
        return FirstStage(Scope.of(principal, filter), question, self.symbols, self.candidates, {})


def candidate(
    text: str, document_id: str = "a" * 32, *, symbols: tuple[Symbol, ...] = (), **scores: float
) -> Candidate:
    chunk = Chunk(
        chunk_id=f"{document_id}-{text[:8]}",
        tenant="acme",
        document_id=document_id,
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
        symbols=symbols,
    )
    channels: dict[Channel, float] = {
        name: value for name, value in scores.items() if name in {"dense", "foreign", "sparse", "symbol", "translated"}
    }  # type: ignore[misc]
    return Candidate(chunk, channels, dict.fromkeys(channels, 1), 0.1)


def code(token: str) -> Symbol:
    return Symbol(cls="code", kind="customer_risk", normal=token, token=token, start=0, end=2, surface="C1")


@pytest.mark.parametrize("question", ["1+1", "tell me a joke", "你好"])
async def test_form_alone_decides_without_a_search(question: str) -> None:
    search = Found(candidate("everything about jokes and sums 1+1", dense=0.99))
    decision = await Trigger(search, TriggerSettings()).decide(question, OWNER)
    assert decision.tier == "none"
    assert decision.reasons
    assert search.asked == 0


async def test_question_that_a_passage_answers_is_strong() -> None:
    search = Found(candidate("The meal allowance is 120 dollars a day.", dense=0.91))
    decision = await Trigger(search, TriggerSettings()).decide("What is the meal allowance?", OWNER)
    assert decision.tier == "strong"
    assert decision.scores["coverage"] == 1.0
    assert decision.first_stage is not None
    assert decision.candidate_documents == ("a" * 32,)


async def test_question_that_lies_near_a_document_is_weak_and_names_it() -> None:
    search = Found(
        candidate("AWS access expires after 90 days.", "b" * 32, dense=0.845),
        candidate("Cloud budgets.", "c" * 32, dense=0.82),
        candidate("Roles.", "d" * 32, dense=0.81),
    )
    decision = await Trigger(search, TriggerSettings()).decide("Where can staff learn about cloud?", OWNER)
    assert decision.tier == "weak"
    assert decision.candidate_documents == ("b" * 32, "c" * 32)


async def test_question_far_from_every_document_is_none() -> None:
    search = Found(candidate("The meal allowance is 120 dollars a day.", dense=0.74))
    decision = await Trigger(search, TriggerSettings()).decide("What is the capital of France?", OWNER)
    assert decision.tier == "none"
    assert decision.candidate_documents == ()


async def test_nothing_visible_is_none_but_for_who_names_the_documents() -> None:
    trigger = Trigger(Found(), TriggerSettings())
    assert (await trigger.decide("How high is the allowance?", OWNER)).tier == "none"
    assert (await trigger.decide("What is our allowance policy?", OWNER)).tier == "strong"


ABROAD = (
    ("Employees have 15 days of annual leave in a year.", "a" * 32),
    ("The meal allowance is 120 dollars a day.", "b" * 32),
    ("Travel must be booked two weeks ahead.", "c" * 32),
    ("Cloud access expires after ninety days.", "d" * 32),
    ("Invoices are paid within thirty days.", "e" * 32),
    ("Visitors wear a badge at all times.", "f" * 32),
)


def abroad(best_cosine: float, best_words: float) -> Found:
    """English passages found for a Chinese question; the first of them as near and as alike in words as told."""
    cosines = (best_cosine, 0.77, 0.76, 0.75, 0.75, 0.74)
    words = (best_words, 2.0, 2.0, 2.0, 1.0, 1.0)
    return Found(
        *(
            candidate(text, document_id, foreign=cosine, translated=score)
            for (text, document_id), cosine, score in zip(ABROAD, cosines, words, strict=True)
        )
    )


async def test_passage_in_the_other_language_is_judged_on_its_own_scale() -> None:
    near, far = abroad(0.83, 9.0), abroad(0.76, 2.0)
    found = await Trigger(near, TriggerSettings()).decide("员工每年有几天年假", OWNER)
    assert found.tier == "strong"
    assert any("in the other language" in reason for reason in found.reasons)
    assert (await Trigger(far, TriggerSettings()).decide("员工每年有几天年假", OWNER)).tier == "none"
    assert (await Trigger(far, TriggerSettings()).decide("法国的首都是哪里", OWNER)).tier == "none"


async def test_words_of_the_other_language_do_not_count_as_the_questions_own() -> None:
    search = Found(candidate("Employees of AWS have leave.", foreign=0.76))
    decision = await Trigger(search, TriggerSettings()).decide("AWS 的员工有假吗", OWNER)
    assert decision.scores["coverage"] == 0.0


async def test_without_a_dense_side_the_words_decide() -> None:
    trigger = Trigger(Found(candidate("The meal allowance is 120.", sparse=9.0)), TriggerSettings(), "lexical")
    assert (await trigger.decide("What is the meal allowance?", OWNER)).tier == "strong"
    assert (await trigger.decide("What is the capital of France?", OWNER)).tier == "none"


async def test_codes_of_the_question_that_a_passage_carries_count() -> None:
    asked = (code("[CUSTOMER_RISK_C1]"),)
    plain = Found(candidate("rules", dense=0.82), symbols=asked)
    carrying = Found(candidate("rules", dense=0.82, symbols=asked), symbols=asked)
    trigger_plain = await Trigger(plain, TriggerSettings()).decide("May C1 buy?", OWNER)
    trigger_carrying = await Trigger(carrying, TriggerSettings()).decide("May C1 buy?", OWNER)
    assert trigger_carrying.scores["score"] > trigger_plain.scores["score"]
    assert trigger_carrying.scores["symbols"] == 1.0


async def test_relative_periods_count_from_today_or_from_the_day_asked_for() -> None:
    search = Found()
    trigger = Trigger(search, TriggerSettings(), today=lambda: date(2024, 11, 5))
    await trigger.decide("上季度的营业收入是多少", OWNER)
    assert search.base_date == date(2024, 11, 5)
    await trigger.decide("revenue of last quarter", OWNER, SearchFilter(as_of=date(2023, 2, 1)))
    assert search.base_date == date(2023, 2, 1)
