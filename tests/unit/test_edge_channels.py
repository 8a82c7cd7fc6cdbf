"""What is asked in one turn of the loop is answered in one call, each to its own asker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from retrieval.stores.embedded.channels import Together


async def test_questions_of_one_turn_travel_together_and_come_back_to_their_askers() -> None:
    calls: list[list[int]] = []

    def answer(questions: Sequence[int]) -> list[str]:
        calls.append([*questions])
        return [f"answer {each}" for each in questions]

    with ThreadPoolExecutor(1) as executor:
        together = Together[int, str](answer, executor, at_most=3)
        answers = await asyncio.gather(*(together.ask(n) for n in range(5)))
        assert answers == [f"answer {n}" for n in range(5)]
        assert calls == [[0, 1, 2], [3, 4]]
        assert await together.ask(7) == "answer 7"


async def test_a_question_that_is_refused_fails_alone() -> None:
    def answer(questions: Sequence[int]) -> list[str | Exception]:
        return [KeyError("no") if each == 1 else "yes" for each in questions]

    with ThreadPoolExecutor(1) as executor:
        together = Together[int, str](answer, executor, at_most=8)
        answers = await asyncio.gather(*(together.ask(n) for n in range(3)), return_exceptions=True)
    assert [type(each) for each in answers] == [str, KeyError, str]


async def test_an_asker_that_goes_away_leaves_the_others_their_answers() -> None:
    with ThreadPoolExecutor(1) as executor:
        together = Together[int, int](lambda questions: [*questions], executor, at_most=8)
        gone, stays = asyncio.create_task(together.ask(1)), asyncio.create_task(together.ask(2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == 2
        assert gone.cancelled()


async def test_an_executor_that_was_shut_down_is_an_error_not_a_wait() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError):
        await Together[int, int](lambda questions: [*questions], executor, at_most=8).ask(1)


def test_one_store_serves_several_loops() -> None:
    with ThreadPoolExecutor(1) as executor:
        together = Together[int, int](lambda questions: [*questions], executor, at_most=8)
        assert [asyncio.run(together.ask(n)) for n in (1, 2)] == [1, 2]
