"""The worker: claims jobs, keeps their leases, and is the boundary where errors become states."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from ingest.buffer import WorkBuffer
from ingest.error_frames import error_frames
from ingest.errors import IngestError, JobCancelledError, JobLostError
from ingest.leases import Claim, Leases
from ingest.lifecycle import Lifecycle
from ingest.mending import Mender
from ingest.pipeline import Pipeline
from ingest.purge import Purger
from ingest.settings import IngestSettings
from ingest.work import Work
from retrieval.errors import RetrievalError

T = TypeVar("T")

log = logging.getLogger(__name__)

MAX_TAKEOVERS = 10
"""Deaths in a row, without one more chunk done, after which a document is held to be the cause."""


def doubling(attempt: int) -> float:
    """Return the seconds to wait after so many attempts: 2, 4, 8 … 60."""
    return min(2.0**attempt, 60.0)


class Worker:
    """Works on the queue of one database. The next documents are prepared while the present ones are encoded."""

    def __init__(
        self,
        *,
        owner: str,
        engine: Engine,
        leases: Leases,
        lifecycle: Lifecycle,
        pipeline: Pipeline,
        purger: Purger,
        mender: Mender,
        settings: IngestSettings,
        poll_s: float = 1.0,
        retry_delay_s: Callable[[int], float] = doubling,
    ) -> None:
        self._owner = owner
        self._engine = engine
        self._leases = leases
        self._lifecycle = lifecycle
        self._pipeline = pipeline
        self._purger = purger
        self._mender = mender
        self._settings = settings
        self._poll_s = poll_s
        self._retry_delay_s = retry_delay_s
        self._held: dict[str, Claim] = {}
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look for jobs now (called on the worker's event loop after a job was added)."""
        self._wake.set()

    async def run_until_idle(self) -> None:
        """Mend what dead workers left, then work until no job is due any more."""
        await self._run(until_idle=True)

    async def run_forever(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; jobs in hand go back to the queue with what is done so far."""
        while not stop.is_set():
            working = asyncio.create_task(self._run(until_idle=False))
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopping.cancel()
                working.cancel()
                await asyncio.wait([working])
            if not working.cancelled() and (exc := working.exception()) is not None:
                # The database or the store was away: the server goes on, and so must its worker.
                log.error("the ingestion worker stumbled and starts again\n%s", error_frames(exc))
                await _wait(stop, self._poll_s)

    async def _run(self, *, until_idle: bool) -> None:
        try:
            await self._mender.mend()
            buffer = WorkBuffer(4 * self._settings.encode_batch)
            async with asyncio.TaskGroup() as tasks:
                renewing = tasks.create_task(self._renew())
                indexing = tasks.create_task(self._index(buffer))
                async with asyncio.TaskGroup() as preparing:
                    for _ in range(self._settings.parser.processes):
                        preparing.create_task(self._prepare(buffer, until_idle=until_idle))
                await buffer.close()
                await indexing
                renewing.cancel()
        finally:
            for claim in tuple(self._held.values()):
                await asyncio.to_thread(self._leases.release, claim)
            self._held.clear()

    async def _prepare(self, buffer: WorkBuffer, *, until_idle: bool) -> None:
        while True:
            self._wake.clear()
            # Read before the claim: what runs now may let another version of its line go when it ends.
            busy = bool(self._held)
            claim = await self._claim()
            if claim is None:
                if until_idle and not busy and await asyncio.to_thread(self._leases.next_due) is None:
                    return
                await _wait(self._wake, self._poll_s)
                continue
            if claim.takeovers > MAX_TAKEOVERS:
                await self._fail(claim, "worker_died", f"the worker died {claim.takeovers} times on this document")
                self._drop(claim)
                continue
            work = await self._guard(claim, self._pipeline.prepare(claim))
            if work is not None:
                await buffer.put(work)
            else:
                self._drop(claim)

    async def _claim(self) -> Claim | None:
        """Claim a job. One whose claim is under way at a cancellation is held too, so that it is released."""
        claiming = asyncio.create_task(asyncio.to_thread(self._leases.claim, self._owner))
        try:
            return await asyncio.shield(claiming)
        finally:
            if (claim := await claiming) is not None:
                self._held[claim.job_id] = claim

    async def _index(self, buffer: WorkBuffer) -> None:
        finishing: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as tasks:
            while group := await buffer.take():
                encoded = await self._encode(group)
                # One group is finished while the next one is encoded.
                if finishing is not None:
                    await finishing
                finishing = tasks.create_task(self._finish(encoded))

    async def _encode(self, group: list[Work]) -> list[Work]:
        """Encode a group of documents; return those that are encoded."""
        if len(group) > 1:
            try:
                await self._pipeline.encode(group)
            except Exception as exc:  # noqa: BLE001 - part of the boundary: whose fault it is shows below
                log.warning(
                    "encoding %d documents together failed, each is tried alone\n%s", len(group), error_frames(exc)
                )
            else:
                return group
        encoded: list[Work] = []
        for work in group:
            if await self._guard(work.claim, _true(self._pipeline.encode([work]))):
                encoded.append(work)
            else:
                self._drop(work.claim)
        return encoded

    async def _finish(self, group: list[Work]) -> None:
        for work in group:
            await self._guard(work.claim, self._pipeline.finish(work))
            self._drop(work.claim)

    async def _guard(self, claim: Claim, step: Awaitable[T]) -> T | None:
        """Do a step; what it raises becomes the job's state."""
        try:
            return await step
        except JobLostError:
            log.warning("job %s: another worker took it over", claim.job_id)
        except JobCancelledError:
            await self._clear_away(claim)
        except IngestError as exc:
            await self._give_up(claim, exc.code, str(exc), for_now=exc.retryable)
        except RetrievalError as exc:
            log.warning("job %s: %s: %s", claim.job_id, exc.code, exc)
            await self._give_up(claim, exc.code, exc.plainly(), for_now=exc.retryable)
        except (OperationalError, InterfaceError) as exc:
            # The database was locked or away. Where it still is, this raises too, and the worker starts again.
            log.warning("job %s: the database gave no answer\n%s", claim.job_id, error_frames(exc))
            await self._give_up(claim, "database_unavailable", "the database gave no answer", for_now=True)
        except Exception as exc:  # noqa: BLE001 - the boundary: nothing a document does may end the worker
            log.error("job %s: internal error\n%s", claim.job_id, error_frames(exc))
            await self._fail(claim, "internal", f"internal error ({type(exc).__name__}); the log has the details")
        return None

    async def _give_up(self, claim: Claim, code: str, message: str, *, for_now: bool) -> None:
        """Put the job back where the error may pass and attempts are left; else it has failed."""
        if for_now and claim.attempts < self._settings.max_attempts:
            delay_s = self._retry_delay_s(claim.attempts)
            await asyncio.to_thread(self._leases.postpone, claim, delay_s, code, message)
        else:
            await self._fail(claim, code, message)

    async def _clear_away(self, claim: Claim) -> None:
        try:
            # A document that was only to be read again is as ready as before.
            if claim.kind == "ingest" or await asyncio.to_thread(self._lifecycle.is_deleted, claim.document_id):
                await self._purger.purge(claim.tenant, claim.document_id)
        except RetrievalError as exc:
            log.warning("document %s: its remains are left to the next start (%s)", claim.document_id, exc.code)
        await asyncio.to_thread(self._leases.cancelled, claim)

    async def _fail(self, claim: Claim, code: str, message: str) -> None:
        def fail() -> None:
            with self._engine.begin() as connection:
                if self._leases.fail(connection, claim, code, message):
                    self._lifecycle.fail(connection, claim.document_id, code, message)

        await asyncio.to_thread(fail)

    def _drop(self, claim: Claim) -> None:
        self._held.pop(claim.job_id, None)
        # The next version of the same line may have waited for this one.
        self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            if not self._held:
                continue
            try:
                await asyncio.to_thread(self._leases.renew, self._owner, tuple(self._held))
            except (OperationalError, InterfaceError) as exc:
                # There are two more times before the leases run out.
                log.warning("the leases could not be renewed\n%s", error_frames(exc))


async def _wait(event: asyncio.Event, seconds: float) -> None:
    # Not `asyncio.wait_for`: before Python 3.12 it loses a cancellation that comes with the event.
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _true(step: Awaitable[None]) -> bool:
    await step
    return True
