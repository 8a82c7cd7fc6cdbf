"""One thread owns a model: queries go before batches, batches do not starve, and nothing runs after the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from retrieval.encoder import ModelThread


class Gate:
    """Work that says when it began and goes on when it is told to."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.began.set()
        assert self.go.wait(30)


@pytest.fixture
def thread() -> Iterator[ModelThread]:
    owner = ModelThread("model", queries_per_batch=3)
    yield owner
    owner.close()


@pytest.fixture
async def gate(thread: ModelThread) -> AsyncIterator[Gate]:
    """Keeps the thread busy with a batch until it is opened."""
    gate = Gate()
    running = asyncio.create_task(thread.run_batch(gate))
    await asyncio.to_thread(gate.began.wait, 30)
    yield gate
    gate.go.set()
    await asyncio.gather(running, return_exceptions=True)


async def started(*calls: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Start calls in this order; each is in its queue when this returns."""
    tasks: list[asyncio.Task[Any]] = []
    for call in calls:
        tasks.append(asyncio.create_task(call))
        await asyncio.sleep(0)
    return tasks


async def test_queries_go_before_waiting_batches_and_each_class_keeps_its_order(
    thread: ModelThread, gate: Gate
) -> None:
    ran: list[str] = []
    calls = await started(
        thread.run_batch(ran.append, "b1"),
        thread.run_batch(ran.append, "b2"),
        thread.run(ran.append, "q1"),
        thread.run(ran.append, "q2"),
    )
    gate.go.set()
    await asyncio.gather(*calls)
    assert ran == ["q1", "q2", "b1", "b2"]


async def test_a_batch_has_its_turn_after_so_many_queries(thread: ModelThread, gate: Gate) -> None:
    ran: list[str] = []
    calls = await started(
        *(thread.run_batch(ran.append, f"b{n}") for n in range(2)), *(thread.run(ran.append, f"q{n}") for n in range(8))
    )
    gate.go.set()
    await asyncio.gather(*calls)
    assert ran == ["q0", "q1", "q2", "b0", "q3", "q4", "q5", "b1", "q6", "q7"]


async def test_queries_that_ran_while_no_batch_waited_do_not_count(thread: ModelThread) -> None:
    ran: list[str] = []
    for n in range(5):
        await thread.run(ran.append, f"early {n}")
    gate = Gate()
    running = asyncio.create_task(thread.run(gate))
    await asyncio.to_thread(gate.began.wait, 30)
    calls = await started(thread.run_batch(ran.append, "b"), *(thread.run(ran.append, f"q{n}") for n in range(3)))
    gate.go.set()
    await asyncio.gather(running, *calls)
    assert ran[5:] == ["q0", "q1", "q2", "b"]


async def test_a_cancelled_call_never_runs_and_the_others_do(thread: ModelThread, gate: Gate) -> None:
    ran: list[str] = []
    calls = await started(
        thread.run(ran.append, "q1"),
        thread.run(ran.append, "q2"),
        thread.run_batch(ran.append, "b1"),
        thread.run_batch(ran.append, "b2"),
    )
    calls[0].cancel()
    calls[2].cancel()
    await asyncio.gather(calls[0], calls[2], return_exceptions=True)
    gate.go.set()
    await asyncio.gather(calls[1], calls[3])
    assert ran == ["q2", "b2"]
    assert calls[0].cancelled()
    assert calls[2].cancelled()


async def test_a_call_cancelled_while_it_runs_leaves_the_thread_usable(thread: ModelThread) -> None:
    gate = Gate()
    running = asyncio.create_task(thread.run(gate))
    await asyncio.to_thread(gate.began.wait, 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    gate.go.set()
    assert await thread.run(str.upper, "on") == "ON"


async def test_errors_reach_the_caller_alone(thread: ModelThread) -> None:
    with pytest.raises(ZeroDivisionError):
        await thread.run_batch(lambda: 1 // 0)
    assert await thread.run(len, "four") == 4


async def test_every_call_runs_on_one_thread(thread: ModelThread) -> None:
    idents = await asyncio.gather(
        *(call(threading.get_ident) for _ in range(20) for call in (thread.run, thread.run_batch))
    )
    assert len(set(idents)) == 1
    assert idents[0] != threading.get_ident()


async def test_close_waits_for_what_runs_and_cancels_what_waits() -> None:
    thread, gate = ModelThread("model"), Gate()
    ran: list[str] = []
    running = asyncio.create_task(thread.run(gate))
    await asyncio.to_thread(gate.began.wait, 30)
    waiting = await started(thread.run(ran.append, "q"), thread.run_batch(ran.append, "b"))
    with ThreadPoolExecutor(1) as pool:
        closing = asyncio.wrap_future(pool.submit(thread.close))
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError] * 2
        assert not closing.done()
        gate.go.set()
        await closing
    await running
    assert ran == []
    with pytest.raises(RuntimeError):
        await thread.run(ran.append, "late")
    thread.close()
