"""Questions that are asked of the store in one breath, put to the engine in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Together(Generic[Q, A]):
    """Gathers what is asked in one turn of the event loop.

    The channels of one search start together; as one call they cost one trip to the engine's
    process, and a chunk that several of them find is read once.
    """

    def __init__(
        self, answer: Callable[[Sequence[Q]], Sequence[A | Exception]], executor: Executor, at_most: int
    ) -> None:
        """Prepare.

        Args:
            answer: answers questions in their order, or says why not; runs on the executor.
            executor: where to.
            at_most: questions in one call.
        """
        self._answer, self._executor, self._at_most = answer, executor, at_most
        self._asked: dict[asyncio.AbstractEventLoop, list[tuple[Q, asyncio.Future[A]]]] = {}

    async def ask(self, question: Q) -> A:
        """Ask, together with whatever else is asked in this turn."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[A] = loop.create_future()
        if loop not in self._asked:
            self._asked[loop] = []
            loop.call_soon(self._put, loop)
        self._asked[loop].append((question, future))
        return await future

    def _put(self, loop: asyncio.AbstractEventLoop) -> None:
        asked = self._asked.pop(loop)
        for start in range(0, len(asked), self._at_most):
            part = asked[start : start + self._at_most]
            try:
                running = self._executor.submit(self._answer, [question for question, _ in part])
            except RuntimeError as exc:  # the executor was shut down
                for _, future in part:
                    if not future.done():
                        future.set_exception(exc)
                continue
            running.add_done_callback(lambda done, part=part: _deliver(loop, done, [future for _, future in part]))


def _deliver(
    loop: asyncio.AbstractEventLoop, done: Future[Sequence[A | Exception]], futures: Sequence[asyncio.Future[A]]
) -> None:
    def settle() -> None:
        failed = done.exception()
        answers: Sequence[A | Exception] = () if failed is not None else done.result()
        for position, future in enumerate(futures):
            if future.done():  # who asked went away
                continue
            match answers[position] if failed is None else failed:
                case BaseException() as reason:
                    future.set_exception(reason)
                case answer:
                    future.set_result(answer)

    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)
