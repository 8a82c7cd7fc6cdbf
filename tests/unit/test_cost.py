"""Tokens, prices, what a run costs, and budgets that refuse."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, create_engine
from tokenizers import Tokenizer, models, pre_tokenizers

from agent.budgets import Budgets
from agent.cost import CostMeter, Price, PriceTable
from agent.errors import BudgetExceededError
from agent.events import Event, GuardFired, ModelUsed, Notice, RunCompleted, RunFailed
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.journal import Journal
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest, record
from agent.settings import BudgetSettings, LoopSettings
from agent.tables import metadata
from agent.tokens import FileTokens, estimate_tokens, token_counter
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from agent.usage import UsageBook
from retrieval.types import ALL_RIGHTS, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
OTHER = Principal(tenant="local", user="other", rights=ALL_RIGHTS)
CHUNKS = [fake_chunk("Revenue in Q3 2024 was 238 million.", page=5)]
GOOD = "Thought: stated\n<final_answer>Revenue was 238 million [SOURCE: doc_7f3a_p5].</final_answer>"
SEARCH = 'Thought: s\n<tool_name>search_knowledge</tool_name><arguments>{"query": "revenue %d"}</arguments>'
PRICES = PriceTable({"scripted": Price(prompt=Decimal(2), completion=Decimal(10))})
DAY = date(2026, 1, 1)
"""Of the fake clock."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'usage.sqlite3'}")
    metadata.create_all(engine)
    yield engine
    engine.dispose()


async def run(
    engine: Engine,
    replies: Any,
    *,
    fallback: bool = True,
    principal: Principal = OWNER,
    run_id: str = "r1",
    prices: PriceTable = PRICES,
    **budget: Any,
) -> list[Event]:
    agent = Agent(
        model=ScriptedChatModel(replies),
        fallback=ScriptedChatModel([GOOD.split("answer>")[1][:-2]] * 2, name="extractive") if fallback else None,
        tools=ToolRegistry([SearchKnowledge(), Finish()]),
        searcher=FakeSearcher(CHUNKS),
        trigger=FakeTrigger("strong"),
        auditor=FakeAuditor(),
        library=FakeLibrary(CHUNKS),
        encoder="embedded",
        settings=LoopSettings(),
        clock=FakeClock(),
        prices=prices,
        budgets=Budgets(BudgetSettings(**budget), UsageBook(engine), today=lambda: DAY),
    )
    request = RunRequest(run_id=run_id, trace_id="t", question="What was revenue?", language="en")
    return [event async for event in record(agent.run(request, principal), Journal(engine), principal)]


def guards(events: list[Event]) -> list[str]:
    return [e.guard for e in events if isinstance(e, GuardFired)]


# ---- tokens


@given(st.text(max_size=300), st.text(max_size=300))
def test_estimate_never_shrinks_when_text_is_added(one: str, two: str) -> None:
    assert estimate_tokens(one + " " + two) >= estimate_tokens(one)
    assert (estimate_tokens(one) == 0) == (not one or (one.isspace() and len(one) == 1))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("Revenue rose to 238 million in the third quarter.", 9, 13),
        ("二零二四年第三季度营业收入为二点三八亿元，同比增长百分之十二。", 20, 30),
        ("internationalisation", 3, 5),
        ("1234567890", 4, 5),
    ],
)
def test_estimate_is_near_what_tokenizers_give(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


def test_tokenizer_file_counts_exactly(tmp_path: Path) -> None:
    tokenizer: Any = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    assert [token_counter(path).count(text) for text in ("", "a b c", "b " * 50)] == [0, 3, 50]


def test_missing_tokenizer_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no tokenizer at"):
        FileTokens(tmp_path / "none.json")


# ---- prices


def test_price_is_per_million_and_exact() -> None:
    assert PRICES.cost("scripted", 1, 1) == Decimal("0.000012")
    assert PRICES.cost("scripted", 1_000_000, 0) == 2
    assert PRICES.cost("extractive", 5, 5) == 0
    assert PRICES.cost("unknown", 5, 5) is None


def test_prices_in_two_currencies_are_refused() -> None:
    with pytest.raises(ValueError, match="CNY, USD"):
        PriceTable({
            "a": Price(prompt=Decimal(1), completion=Decimal(1)),
            "b": Price(prompt=Decimal(1), completion=Decimal(1), currency="CNY"),
        })


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20))
def test_meter_adds_up_without_loss(calls: list[tuple[int, int]]) -> None:
    meter = CostMeter(PRICES)
    costs = [meter.add("scripted", prompt, completion) for prompt, completion in calls]
    assert sum(filter(None, costs), Decimal(0)) == (meter.money or 0)
    assert meter.tokens == sum(map(sum, calls))
    assert (meter.money or 0) == sum(Decimal(2 * p + 10 * c) / 10**6 for p, c in calls)


# ---- runs


async def test_run_tells_money_by_step_and_in_all_and_the_book_has_the_same(engine: Engine) -> None:
    events = await run(engine, [SEARCH % 1, GOOD])
    used = [e for e in events if isinstance(e, ModelUsed)]
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert [e.currency for e in used] == ["USD", "USD"]
    assert done.money == sum(e.money or 0 for e in used) > 0
    (row,) = UsageBook(engine).rows("local", DAY)
    assert (row.user, row.model, row.calls, row.money, row.currency) == ("owner", "scripted", 2, done.money, "USD")
    assert (row.prompt_tokens, row.completion_tokens) == (done.prompt_tokens, done.completion_tokens)


async def test_model_without_a_price_costs_nothing_that_is_known(engine: Engine) -> None:
    done = (await run(engine, [GOOD], prices=PriceTable({})))[-1]
    assert isinstance(done, RunCompleted)
    assert (done.money, done.currency) == (None, "")
    assert UsageBook(engine).rows("local", DAY)[0].currency == ""


async def test_days_and_users_and_tenants_are_kept_apart(engine: Engine) -> None:
    await run(engine, [GOOD])
    await run(engine, [GOOD, GOOD], principal=OTHER, run_id="r2")
    book = UsageBook(engine)
    one, two = book.spent("local", DAY, user="owner"), book.spent("local", DAY, user="other")
    assert book.spent("local", DAY).tokens == one.tokens + two.tokens > one.tokens > 0
    assert book.spent("elsewhere", DAY).tokens == 0
    assert book.spent("local", date(2026, 1, 2)).tokens == 0
    assert {row.user for row in book.rows("local", DAY, user="other")} == {"other"}


@pytest.mark.parametrize(
    ("budget", "guard"),
    [
        ({"run_tokens": 4000}, "token_budget"),
        ({"run_money": Decimal("0.003")}, "money_budget"),
        ({"user_tokens": 1000}, "token_budget"),
        ({"tenant_money": Decimal("0.003")}, "money_budget"),
    ],
)
async def test_spent_budget_ends_the_steps_and_the_free_model_answers(
    engine: Engine, budget: dict[str, Any], guard: str
) -> None:
    events = await run(engine, lambda request: SEARCH % len(request.messages), **budget)
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert (guards(events), done.status, done.model) == ([guard], "stopped_by_guard", "extractive")
    assert done.answer.startswith("Revenue was 238 million")
    assert [e.message for e in events if isinstance(e, Notice)] == [
        "the model scripted may spend no more; extractive answers instead."
    ]
    assert done.steps < 8


async def test_spent_budget_without_a_free_model_fails_the_run_and_says_why(engine: Engine) -> None:
    events = await run(engine, lambda request: SEARCH % len(request.messages), fallback=False, run_tokens=4000)
    last = events[-1]
    assert isinstance(last, RunFailed)
    assert (last.code, guards(events)) == ("budget_exceeded", ["token_budget"])


async def test_budget_that_holds_disturbs_nothing(engine: Engine) -> None:
    events = await run(engine, [GOOD], run_tokens=10**6, user_money=Decimal(5))
    assert guards(events) == []


async def test_new_run_is_refused_once_the_day_is_spent_and_only_for_whom_it_is(engine: Engine) -> None:
    await run(engine, [GOOD])
    book = UsageBook(engine)
    budgets = Budgets(BudgetSettings(user_tokens=1), book, today=lambda: DAY)
    with pytest.raises(BudgetExceededError, match=r"your budget for 2026-01-01 \(UTC\) is used up: \d+ of 1 tokens"):
        await budgets.admit(OWNER)
    await budgets.admit(OTHER)
    await Budgets(BudgetSettings(user_tokens=1), book, today=lambda: date(2026, 1, 2)).admit(OWNER)
    for_all = Budgets(BudgetSettings(tenant_money=Decimal("0.0000001")), book, today=lambda: DAY)
    with pytest.raises(BudgetExceededError, match="organisation"):
        await for_all.admit(OTHER)
