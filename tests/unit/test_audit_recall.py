"""Answers are recalled when their documents change, and audited again against those of now."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

from agent.audit.auditor import Auditor
from agent.audits import AuditBook, Stale
from agent.errors import UnknownRunError
from agent.fakes import FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.journal import Journal
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.reauditing import Reauditor
from agent.reaudits import ChangedVerdict, ReauditBook
from agent.recall import Recall
from agent.run import RunRequest, record
from agent.settings import LoopSettings
from agent.tables import metadata
from agent.tools.builtin.calculate import Calculate
from agent.tools.builtin.finish import Finish
from agent.tools.registry import ToolRegistry
from patience import turns
from retrieval.errors import StoreUnavailableError
from retrieval.symbols.language import load_language
from retrieval.types import ALL_RIGHTS, Chunk, Principal, SearchFilter

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
OTHER = Principal(tenant="local", user="other", rights=ALL_RIGHTS)
BRIEF, NEXT, BOOK = "7f3a00000000", "9c1d00000000", "beef00000000"
OLD = fake_chunk("Revenue in Q3 2024 was 238 million yuan.", document_id=BRIEF)
OLD_ZH = fake_chunk("第三季度营业收入为 2.38 亿元。", document_id=BRIEF)
COSTS = fake_chunk("Costs in Q3 2024 were 120 million yuan.", document_id=BOOK, page=2)
NEW = [
    fake_chunk("Contents: revenue, costs, outlook.", document_id=NEXT, page=1),
    fake_chunk("第三季度营业收入为 2.41 亿元。", document_id=NEXT, page=5, ordinal=1),
]
TWO = (
    "Revenue in Q3 2024 was 238 million yuan [SOURCE: doc_7f3a_p5]. "
    "Costs in Q3 2024 were 120 million yuan [SOURCE: doc_beef_p2]."
)
AUDITOR = Auditor(load_language(b"0123456789abcdef"))


@dataclass
class FakeStandings:
    """What the catalogue says."""

    states: dict[str, Stale] = field(default_factory=dict[str, Stale])
    successors: dict[str, str] = field(default_factory=dict[str, str])

    def gone(self, tenant: str, document_ids: Collection[str]) -> Mapping[str, Stale]:
        return {each: self.states[each] for each in document_ids if each in self.states}

    def successor(self, tenant: str, document_id: str) -> str | None:
        return self.successors.get(document_id, None if document_id in self.states else document_id)


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


async def ask(
    engine: Engine, run_id: str = "r1", answer: str = TWO, replies: Sequence[str] = (), chunks: Sequence[Chunk] = ()
) -> None:
    agent = Agent(
        model=ScriptedChatModel([*replies, f"<final_answer>{answer}</final_answer>"]),
        fallback=None,
        tools=ToolRegistry([Finish(), Calculate()]),
        searcher=FakeSearcher(chunks or [OLD, COSTS]),
        trigger=FakeTrigger("strong"),
        auditor=AUDITOR,
        library=FakeLibrary([]),
        encoder="e",
        settings=LoopSettings(),
        clock=FakeClock(),
    )
    asked = RunRequest(
        run_id=run_id,
        trace_id="t",
        question="What were revenue and costs in Q3 2024? 营业收入",
        language="en" if answer.isascii() else "zh",
    )
    async for _ in record(agent.run(asked, OWNER), Journal(engine), OWNER):
        pass


def reauditor(engine: Engine, standings: FakeStandings, chunks: Sequence[Chunk], library: Any = None) -> Reauditor:
    return Reauditor(
        ReauditBook(engine, ids=iter(["job-1", "job-2"]).__next__),
        AuditBook(engine),
        Journal(engine),
        AUDITOR,
        library or FakeLibrary(chunks),
        standings,
        clock=FakeClock(),
    )


async def test_answers_are_recalled_once_and_told_of(engine: Engine) -> None:
    await ask(engine)
    standings, told = FakeStandings(), list[tuple[str, list[str]]]()

    async def tell(tenant: str, run_ids: Sequence[str]) -> None:
        told.append((tenant, list(run_ids)))

    recall = Recall(AuditBook(engine), standings, lambda _: 1, told=tell, clock=FakeClock())
    assert await recall.check("local") == []
    standings.states[BRIEF] = "replaced"
    assert await recall.check("local") == ["r1"]
    standings.states[BOOK] = "deleted"
    assert await recall.check("local") == []
    assert told == [("local", ["r1"])]
    sources = Journal(engine).run("r1", OWNER).stale
    assert {each.document_id: each.stale for each in sources} == {BRIEF: "replaced", BOOK: "deleted"}


async def test_tenants_are_looked_at_when_their_knowledge_version_changes(engine: Engine) -> None:
    await ask(engine)
    standings, version = FakeStandings(), [1]
    recall = Recall(AuditBook(engine), standings, lambda _: version[0], clock=FakeClock())
    await recall.check_changed()
    standings.states[BRIEF] = "deleted"
    await recall.check_changed()
    assert AuditBook(engine).rows("local", stale=True) == []
    version[0] = 2
    await recall.check_changed()
    assert [row.run_id for row in AuditBook(engine).rows("local", stale=True)] == ["r1"]


async def test_the_watch_looks_at_its_start_and_ends_when_told(engine: Engine) -> None:
    await ask(engine)
    stop = asyncio.Event()
    recall = Recall(AuditBook(engine), FakeStandings({BRIEF: "deleted"}), lambda _: 1, clock=FakeClock())
    watching = asyncio.create_task(recall.run_forever(stop, interval_s=3600))
    for _ in turns("the answer is recalled"):
        await asyncio.sleep(0)
        if AuditBook(engine).rows("local", stale=True):
            break
    stop.set()
    await watching


async def test_an_answer_whose_document_was_replaced_is_audited_against_the_present_version(engine: Engine) -> None:
    await ask(engine, answer="第三季度营业收入为 2.38 亿元。[SOURCE: doc_7f3a_p5]", chunks=[OLD_ZH])
    standings = FakeStandings({BRIEF: "replaced"}, {BRIEF: NEXT})
    work = reauditor(engine, standings, [*NEW, COSTS])
    job_id = await work.ask(OWNER, ["r1"])
    book = ReauditBook(engine)
    assert book.job(job_id, OWNER).state == "running"
    await work.work_off()
    job = book.job(job_id, OWNER)
    assert job.state == "done"
    (answer,) = job.answers
    assert answer.changes == (ChangedVerdict(index=0, before="supported", after="contradicted"),)
    assert answer.risk == "high"
    with pytest.raises(UnknownRunError):
        book.job(job_id, OTHER)


async def test_what_rested_on_a_deleted_document_alone_is_unsupported(engine: Engine) -> None:
    await ask(engine)
    found = await reauditor(engine, FakeStandings({BRIEF: "deleted"}), [COSTS]).again("r1", OWNER)
    assert found.changes == (ChangedVerdict(index=0, before="supported", after="unsupported"),)
    assert found.risk == "medium"


async def test_an_answer_whose_documents_stand_is_as_it_was(engine: Engine) -> None:
    calculated = '<tool_name>calculate</tool_name><arguments>{"expression": "238-120"}</arguments>'
    answer = f"{TWO} 238-120 = 118 [SOURCE: tool_calculate#1]."
    await ask(engine, answer=answer, replies=[calculated])
    found = await reauditor(engine, FakeStandings(), [OLD, COSTS]).again("r1", OWNER)
    assert (found.changes, found.risk) == ((), AuditBook(engine).row("r1", "local").risk)


async def test_jobs_are_of_ones_own_answers_and_outlive_faults(engine: Engine) -> None:
    await ask(engine)

    class Away(FakeLibrary):
        async def read_document(self, principal: Principal, document_id: str, filter: SearchFilter) -> Sequence[Chunk]:
            raise StoreUnavailableError("away")

    work = reauditor(engine, FakeStandings(), [], Away())
    for principal, run_id in ((OTHER, "r1"), (OWNER, "r9")):
        with pytest.raises(UnknownRunError):
            await work.ask(principal, [run_id])
    job_id = await work.ask(OWNER, ["r1", "r1"])
    await work.work_off()
    (answer,) = ReauditBook(engine).job(job_id, OWNER).answers
    assert (answer.done, answer.error_code) == (True, StoreUnavailableError.code)
