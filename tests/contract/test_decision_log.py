"""The decision log: one suite on the SQL log and on the fake; then what only the SQL log does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from retrieval.decision_log import SqlDecisionLog
from retrieval.decision_tables import decisions, metadata
from retrieval.decisions import Decision, DecisionLog, LoggedCandidate
from retrieval.errors import UnknownDecisionError
from retrieval.fakes import InMemoryDecisionLog
from retrieval.settings import DecisionSettings
from retrieval.types import SearchFilter

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOST = 5


def decision(number: int = 0, **values: object) -> Decision:
    fixed: dict[str, object] = {
        "decision_id": f"{number:032x}",
        "at": START + timedelta(seconds=number),
        "kind": "search",
        "tenant": "acme",
        "user": "wu",
        "question": f"question {number}",
    }
    return Decision.model_validate(fixed | values)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'log.sqlite3'}")
    metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def sql_log(engine: Engine) -> Iterator[Callable[..., SqlDecisionLog]]:
    made: list[SqlDecisionLog] = []

    def make(settings: DecisionSettings | None = None, **options: object) -> SqlDecisionLog:
        bounds = settings or DecisionSettings(max_per_tenant=MOST)
        made.append(SqlDecisionLog(engine, bounds, **({"clock": lambda: START} | options)))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest) -> DecisionLog:
    if request.param == "memory":
        return InMemoryDecisionLog(MOST)
    return request.getfixturevalue("sql_log")()


async def ids(log: DecisionLog, tenant: str = "acme", **options: object) -> list[int]:
    return [int(each.decision_id, 16) for each in await log.read(tenant, **options)]


async def test_decisions_come_back_as_they_were(log: DecisionLog) -> None:
    candidate = LoggedCandidate(
        chunk_id="c",
        document_id="d",
        scores={"dense": 0.5},
        ranks={"dense": 1},
        fused=0.1,
        reranked=0.7,
        passage=1,
    )
    full = decision(
        run_id="r1",
        filter=SearchFilter(labels=frozenset({"hr"}), document_ids=frozenset({"d"})),
        knowledge_version=7,
        tier="strong",
        reasons=("score 0.9",),
        signals={"coverage": 0.5},
        candidates=(candidate,),
        cached=True,
        latencies_ms={"total": 1.5},
    )
    log.record(full)
    assert list(await log.read("acme")) == [full]
    assert await log.get("acme", full.decision_id) == full


async def test_newest_come_first_and_can_be_read_on(log: DecisionLog) -> None:
    for number in (2, 0, 1, 3):
        log.record(decision(number))
    assert await ids(log) == [3, 2, 1, 0]
    assert await ids(log, limit=2) == [3, 2]
    assert await ids(log, limit=2, after=f"{2:032x}") == [1, 0]
    with pytest.raises(UnknownDecisionError):
        await log.read("acme", after="0" * 31 + "9")


async def test_decisions_of_one_moment_have_an_order(log: DecisionLog) -> None:
    for number in (1, 3, 2):
        log.record(decision(number, at=START))
    assert await ids(log) == [3, 2, 1]
    assert await ids(log, after=f"{3:032x}") == [2, 1]


async def test_kind_and_run_narrow_what_is_read(log: DecisionLog) -> None:
    log.record(decision(1, kind="trigger", run_id="a"))
    log.record(decision(2, run_id="a"))
    log.record(decision(3, run_id="b"))
    assert await ids(log, kind="search") == [3, 2]
    assert await ids(log, run_id="a") == [2, 1]
    assert await ids(log, run_id="a", kind="trigger") == [1]


async def test_a_tenant_sees_its_own_alone(log: DecisionLog) -> None:
    log.record(decision(1))
    log.record(decision(2, tenant="rival"))
    assert (await ids(log), await ids(log, "rival"), await ids(log, "third")) == ([1], [2], [])
    with pytest.raises(UnknownDecisionError):
        await log.get("acme", f"{2:032x}")
    with pytest.raises(UnknownDecisionError):
        await log.read("acme", after=f"{2:032x}")


async def test_an_outcome_reaches_all_decisions_of_its_run(log: DecisionLog) -> None:
    log.record(decision(1, run_id="a", kind="trigger"))
    log.record(decision(2, run_id="a"))
    log.record(decision(3, run_id="b"))
    log.record(decision(4, run_id="a", tenant="rival"))
    log.settle("acme", "a", "answered")
    assert {each.run_id: each.outcome for each in await log.read("acme")} == {"a": "answered", "b": None}
    assert (await log.get("acme", f"{1:032x}")).outcome == "answered"
    assert [each.outcome for each in await log.read("rival")] == [None]


async def test_the_oldest_go_first(log: DecisionLog) -> None:
    for number in range(MOST + 3):
        log.record(decision(number))
    log.record(decision(90, tenant="rival"))
    assert await ids(log) == [7, 6, 5, 4, 3]
    assert await ids(log, "rival") == [90]


async def test_texts_are_rewritten_for_one_tenant(log: DecisionLog) -> None:
    narrowed = SearchFilter(
        labels=frozenset({"Kim", "hr"}), symbols=frozenset({"Kim"}), document_ids=frozenset({"Kim", "a" * 32})
    )
    told = {"question": "ask Kim", "reasons": ("Kim",), "filter": narrowed}
    log.record(decision(1, **told))
    log.record(decision(2))
    log.record(decision(3, tenant="rival", **told))
    log.settle("acme", "r", "general")
    assert await log.rewrite("acme", lambda each: each.replace("Kim", "[P]")) == 1
    changed = await log.get("acme", f"{1:032x}")
    assert (changed.question, changed.reasons, changed.filter.labels) == ("ask [P]", ("[P]",), {"[P]", "hr"})
    assert (changed.filter.symbols, changed.filter.document_ids) == ({"[P]"}, {"[P]", "a" * 32})
    assert (await log.get("rival", f"{3:032x}")).question == "ask Kim"
    assert await log.rewrite("acme", lambda each: each.replace("Kim", "[P]")) == 0


# ---- SQL alone


async def test_old_decisions_are_neither_shown_nor_kept(sql_log: Callable[..., SqlDecisionLog], engine: Engine) -> None:
    now = [START]
    log = sql_log(DecisionSettings(max_age_days=1), clock=lambda: now[0])
    log.record(decision(1))
    assert await ids(log) == [1]
    now[0] += timedelta(days=1, seconds=2)
    assert await ids(log) == []
    with pytest.raises(UnknownDecisionError):
        await log.get("acme", f"{1:032x}")
    log.record(decision(2, at=now[0]))
    assert await ids(log) == [2]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM decisions")).scalar() == 1


async def test_the_number_is_bounded_within_a_twentieth(sql_log: Callable[..., SqlDecisionLog], engine: Engine) -> None:
    log = sql_log(DecisionSettings(max_per_tenant=100))
    for number in range(400):
        log.record(decision(number))
        if number % 7 == 0:
            await log.read("acme", limit=1)
            with engine.connect() as connection:
                assert connection.execute(text("SELECT count(*) FROM decisions")).scalar_one() <= 105


async def test_what_cannot_be_written_is_counted_and_fails_nobody(
    sql_log: Callable[..., SqlDecisionLog], engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    log = sql_log()
    metadata.drop_all(engine)
    log.record(decision(1, question="a secret thing"))
    log.close()
    assert log.lost == 1
    assert "could not be written" in caplog.text
    assert "secret" not in caplog.text


async def test_after_a_failure_the_next_decisions_are_kept(
    sql_log: Callable[..., SqlDecisionLog], engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    log = sql_log()
    log.record(decision(1))
    assert await ids(log) == [1]
    log.record(decision(1))  # its id is taken
    assert await ids(log) == [1]
    log.record(decision(2))
    assert await ids(log) == [2, 1]
    assert log.lost == 1


async def test_a_full_buffer_loses_what_comes_beyond(sql_log: Callable[..., SqlDecisionLog], engine: Engine) -> None:
    log = sql_log(DecisionSettings(buffer=2))
    with engine.connect() as holding:
        holding.exec_driver_sql("BEGIN IMMEDIATE")  # the writer waits for this
        for number in range(500):
            log.record(decision(number))
    kept = await ids(log)
    assert log.lost >= 1
    assert len(kept) + log.lost == 500


async def test_closing_writes_what_waits(sql_log: Callable[..., SqlDecisionLog], engine: Engine) -> None:
    log = sql_log(DecisionSettings())
    for number in range(450):
        log.record(decision(number))
    log.close()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM decisions")).scalar() == 450
    log.record(decision(999))
    assert log.lost == 1


async def test_texts_are_hidden_again_when_they_are_written(sql_log: Callable[..., SqlDecisionLog]) -> None:
    log = sql_log(hide=lambda text, tenant: text.replace("Kim", f"[P of {tenant}]"))
    log.record(decision(1, question="ask Kim"))
    assert (await log.get("acme", f"{1:032x}")).question == "ask [P of acme]"


async def test_what_the_present_rules_wrote_is_passed_over(sql_log: Callable[..., SqlDecisionLog]) -> None:
    rules = ["one"]
    log = sql_log(revision=lambda _tenant: rules[0])
    log.record(decision(1, question="Kim"))
    assert await ids(log) == [1]
    rules[0] = "two"
    log.record(decision(2, question="Kim"))
    looked_at: list[str] = []

    def change(each: str) -> str:
        looked_at.append(each)
        return each

    assert await log.rewrite("acme", change, revision="two") == 0
    assert looked_at == ["Kim"]
    assert await log.rewrite("acme", change, document_id="d", revision="two") == 0
    assert looked_at == ["Kim"]


async def test_rewriting_reaches_every_page_of_a_long_log(
    sql_log: Callable[..., SqlDecisionLog], engine: Engine
) -> None:
    log = sql_log(DecisionSettings(max_per_tenant=5000))
    for number in range(1201):
        log.record(decision(number, question="Kim"))
    assert await log.rewrite("acme", lambda each: each.replace("Kim", "[P]")) == 1201
    with engine.connect() as connection:
        assert not [
            body for body in connection.scalars(decisions.select().with_only_columns(decisions.c.body)) if "Kim" in body
        ]
