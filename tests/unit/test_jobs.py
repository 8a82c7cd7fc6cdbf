"""The durable queue and its leases."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from ingest.errors import JobCancelledError, JobLostError, UnknownJobError
from ingest.fakes import ManualClock, sqlite_engine
from ingest.jobs import Jobs
from ingest.leases import Claim, Leases
from ingest.lifecycle import Lifecycle
from ingest.types import DocumentMeta, Job
from retrieval.types import Principal

ANN = Principal(tenant="acme", user="ann")


class House:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.clock = ManualClock()
        self.jobs = Jobs(engine, clock=self.clock)
        self.leases = Leases(engine, lease_s=60, clock=self.clock)
        self.lifecycle = Lifecycle(engine, clock=self.clock)

    def queued(self, source: str = "a.txt", who: Principal = ANN) -> Job:
        document_id = self.lifecycle.new_document_id()
        with self.engine.begin() as connection:
            meta = DocumentMeta(access=frozenset({f"user:{who.user}"}))
            document = self.lifecycle.register(connection, who, document_id, source, meta, 1)
            return self.jobs.add(connection, document, "ab" * 32)

    def claim(self, owner: str = "one") -> Claim:
        claim = self.leases.claim(owner)
        assert claim is not None
        return claim

    def fail(self, claim: Claim, code: str, message: str) -> bool:
        with self.engine.begin() as connection:
            return self.leases.fail(connection, claim, code, message)

    def succeed(self, claim: Claim, outcome: str, document_id: str) -> bool:
        with self.engine.begin() as connection:
            return self.leases.succeed(connection, claim, outcome, document_id)

    def get(self, job: Job) -> Job:
        return self.jobs.get(ANN, job.job_id)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    engine = sqlite_engine(tmp_path)
    yield House(engine)
    engine.dispose()


def test_jobs_are_claimed_in_order_and_once(house: House) -> None:
    first, second = house.queued("a"), house.queued("b")
    assert [house.claim("one").job_id, house.claim("two").job_id] == [first.job_id, second.job_id]
    assert house.leases.claim("three") is None
    assert house.get(first).state == "running"


def test_jobs_race_of_many_workers_gives_each_job_to_one(house: House) -> None:
    made = {house.queued(str(n)).job_id for n in range(12)}
    taken: list[str] = []

    def work(owner: str) -> None:
        while (claim := house.leases.claim(owner)) is not None:
            taken.append(claim.job_id)

    workers = [threading.Thread(target=work, args=(str(n),)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken) == sorted(made)


def test_jobs_versions_of_one_line_wait_for_each_other(house: House) -> None:
    first, second, other = house.queued("a"), house.queued("a"), house.queued("b")
    claim = house.claim()
    assert claim.job_id == first.job_id
    assert house.claim().job_id == other.job_id
    assert house.leases.claim("one") is None
    house.fail(claim, "no_text", "nothing")
    assert house.claim().job_id == second.job_id


def test_jobs_lease_that_ran_out_is_taken_over_and_the_former_owner_stops(house: House) -> None:
    job = house.queued()
    mine = house.claim("one")
    house.clock.advance(59)
    assert house.leases.claim("two") is None
    house.clock.advance(2)
    theirs = house.claim("two")
    assert (theirs.job_id, theirs.attempts, theirs.takeovers) == (job.job_id, 1, 1)
    with pytest.raises(JobLostError):
        house.leases.checkpoint(mine, stage="encoding")
    assert not house.fail(mine, "internal", "late")
    assert not house.succeed(mine, "new", "f" * 32)
    assert house.get(job).state == "running"
    house.succeed(theirs, "new", theirs.document_id)
    assert house.get(job).state == "succeeded"


def test_jobs_renewed_lease_is_not_taken_over(house: House) -> None:
    house.queued()
    claim = house.claim("one")
    house.clock.advance(59)
    assert house.leases.renew("one", [claim.job_id]) == 1
    house.clock.advance(59)
    assert house.leases.claim("two") is None
    assert house.leases.renew("two", [claim.job_id]) == 0


def test_jobs_of_dead_owners_are_due_at_once(house: House) -> None:
    house.queued("a")
    house.queued("b")
    dead, living = house.claim("dead"), house.claim("living")
    assert house.leases.expire(lambda owner: owner == "dead") == 1
    assert house.claim("new").job_id == dead.job_id
    assert house.leases.claim("new") is None
    house.leases.checkpoint(living, stage="parsing")


def test_jobs_progress_is_kept_and_clears_the_takeovers(house: House) -> None:
    job = house.queued()
    house.claim("one")
    house.leases.expire(lambda _owner: True)
    claim = house.claim("two")
    house.leases.checkpoint(claim, stage="encoding", chunks_total=9, pages_done=2, pages_total=2)
    house.leases.checkpoint(claim, stage="encoding", chunks_done=4)
    shown = house.get(job)
    assert (shown.stage, shown.chunks_done, shown.chunks_total, shown.pages_done) == ("encoding", 4, 9, 2)
    house.leases.expire(lambda _owner: True)
    assert house.claim("three").takeovers == 1


def test_jobs_postponed_job_waits_and_counts_its_attempt(house: House) -> None:
    job = house.queued()
    house.leases.postpone(house.claim(), 30, "store_unavailable", "no answer")
    assert house.leases.claim("one") is None
    due = house.leases.next_due()
    assert due is not None
    house.clock.advance(31)
    assert due < house.clock()
    assert house.claim().attempts == 2
    assert house.get(job).error_code == "store_unavailable"


def test_jobs_released_job_is_as_before(house: House) -> None:
    house.queued()
    house.leases.release(house.claim())
    assert house.claim().attempts == 1


def test_jobs_stop_cancels_queued_at_once_and_running_at_its_checkpoint(house: House) -> None:
    running, queued = house.queued("a"), house.queued("b")
    claim = house.claim()
    with house.engine.begin() as connection:
        house.jobs.stop(connection, running.document_id)
        house.jobs.stop(connection, queued.document_id)
    assert house.get(queued).state == "cancelled"
    with pytest.raises(JobCancelledError):
        house.leases.checkpoint(claim, stage="encoding")
    house.leases.cancelled(claim)
    assert house.get(running).state == "cancelled"


def test_jobs_requeue_takes_only_failed_ones(house: House) -> None:
    job = house.queued()
    claim = house.claim()
    with house.engine.begin() as connection:
        assert not house.jobs.requeue(connection, job.job_id)
    house.fail(claim, "internal", "broke")
    with house.engine.begin() as connection:
        assert house.jobs.requeue(connection, job.job_id)
    shown = house.get(job)
    assert (shown.state, shown.attempts, shown.error_code) == ("queued", 0, None)


def test_jobs_of_others_are_like_missing_ones(house: House) -> None:
    job = house.queued()
    for stranger in (Principal(tenant="acme", user="bob"), Principal(tenant="other", user="ann")):
        with pytest.raises(UnknownJobError):
            house.jobs.get(stranger, job.job_id)
        assert house.jobs.list(stranger) == []


def test_jobs_pages_cover_every_job_once(house: House) -> None:
    made = [house.queued(str(n)).job_id for n in range(5)]
    seen: list[str] = []
    while page := house.jobs.list(ANN, limit=2, offset=len(seen)):
        seen += [each.job_id for each in page]
    assert seen == made[::-1]
    assert house.jobs.list(ANN, states=["failed"]) == []
