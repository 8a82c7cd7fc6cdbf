"""Tapes in SQL: erased with the documents that runs used, changed with the symbol rules, kept with the journal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven import GOOD, OWNER, call, make_agent, request
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.pool import StaticPool

from agent.copies import RunCopies
from agent.journal import Journal
from agent.remains import RunRemains
from agent.run import record
from agent.tables import metadata, run_requests, run_tapes
from agent.tape import Tape

TORN = ["Thought: call 138", "0013 8000\n", GOOD[16:]]


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


async def ran(engine: Engine) -> Journal:
    journal, tape, asked = Journal(engine), Tape(), request("Who has 13800138000? What was revenue?")
    agent = make_agent([call("search_knowledge", '{"query": "revenue"}'), TORN])
    async for _ in record(agent.run(asked, OWNER, tape=tape), journal, OWNER, request=asked, tape=tape):
        pass
    return journal


def kept(engine: Engine) -> str:
    with engine.connect() as connection:
        return "\n".join([
            *connection.scalars(select(run_tapes.c.body)),
            *connection.scalars(select(run_requests.c.body)),
        ])


async def test_tape_and_request_are_kept_with_the_events(engine: Engine) -> None:
    recorded = (await ran(engine)).recorded("r1", OWNER)
    assert [entry.kind for entry in recorded.entries] == ["offer", "reply", "tool", "reply"]
    assert recorded.kept is not None
    assert recorded.kept.principal == OWNER


async def test_tape_goes_with_a_document_that_the_run_used(engine: Engine) -> None:
    journal = await ran(engine)
    document = next(p.chunk.document_id for e in journal.events("r1", OWNER) for p in getattr(e, "passages", ()))
    remains = RunRemains(engine)
    assert "238 million" in kept(engine)
    assert await remains.left("local", document) > 0
    await remains.erase("local", document)
    assert await remains.left("local", document) == 0
    assert journal.recorded("r1", OWNER).entries == ()


async def test_texts_of_tape_and_request_follow_the_rules_also_where_a_secret_is_torn(engine: Engine) -> None:
    await ran(engine)

    def change(text: str) -> str:
        return text.replace("13800138000", "[PHONE_x]").replace("1380013 8000", "[PHONE_x]")

    await RunCopies(engine).rewrite("local", change)
    text = kept(engine)
    assert "13800138000" not in text
    assert "0013 8000" not in text
    assert "[PHONE_x]" in text
