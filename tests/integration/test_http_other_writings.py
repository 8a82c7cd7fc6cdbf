"""Over HTTP: another period is never passed off as the asked one; other languages and writings are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from retrieval.settings import EncoderSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

FORMER = "# Results of Q3 2023\n\nRevenue of the meal business was RMB 201 million in Q3 2023, 3 % more than before.\n"
LEAVE_EN = "# Staff handbook\n\n## Annual leave\n\nEvery employee has 15 days of annual leave in a year.\n"
TRAVEL_EN = "# Travel policy\n\n## Meals\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"
LEAVE_ZH = "# 员工手册\n\n## 年假\n\n每位员工每年有 15 天年假，病假另计。\n"
SEAL_ZH = "# 印章管理办法\n\n## 公章\n\n公章由行政部保管，使用前须经总经理批准。\n"


async def ask(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    answer = await client.post("/v1/chat", json={"question": question, "stream": False})
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


async def best(client: httpx.AsyncClient, query: str) -> dict[str, Any]:
    answer = await client.post("/v1/search", json={"query": query})
    assert answer.status_code == 200, answer.text
    passage: dict[str, Any] = answer.json()["passages"][0]
    return passage


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue of the meal business in Q3 2024?",
        "What was the revenue of the meal business last quarter?",
    ],
)
async def test_another_period_is_not_passed_off_as_the_asked_one(
    open_app: OpenApp, upload_and_wait: Upload, question: str
) -> None:
    client = await open_app()
    await upload_and_wait(client, "results.md", FORMER.encode())
    assert (await best(client, question))["period_match"] == "mismatch"
    done = await ask(client, question)
    assert done["status"] == "not_in_documents" or "2023" in done["answer"]
    told = [sentence for sentence in done["answer"].split(". ") if "201" in sentence]
    assert all("2023" in sentence for sentence in told)


async def test_a_chinese_question_finds_an_english_document_and_the_reverse(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(models=EncoderSettings(encoder="embedded"))
    await upload_and_wait(client, "handbook.md", LEAVE_EN.encode())
    await upload_and_wait(client, "travel.md", TRAVEL_EN.encode())
    await upload_and_wait(client, "seal.md", SEAL_ZH.encode())
    assert (await best(client, "员工每年有几天年假？"))["chunk"]["title"] == "Staff handbook"
    assert (await best(client, "出差时每天的餐费补贴是多少？"))["chunk"]["title"] == "Travel policy"
    assert (await best(client, "Who keeps the company seal?"))["chunk"]["title"] == "印章管理办法"


@pytest.mark.parametrize("question", ["員工每年有多少天年假？", "员工每年有１５天年假吗？", "每位員工有多少天年假？"])
async def test_traditional_characters_and_full_width_digits_are_found(
    open_app: OpenApp, upload_and_wait: Upload, question: str
) -> None:
    client = await open_app()
    await upload_and_wait(client, "handbook.md", LEAVE_ZH.encode())
    await upload_and_wait(client, "seal.md", SEAL_ZH.encode())
    assert (await best(client, question))["chunk"]["title"] == "员工手册"
    done = await ask(client, question)
    assert done["status"] == "answered"
    assert "15" in done["answer"]
    assert "[SOURCE: doc_" in done["answer"]
