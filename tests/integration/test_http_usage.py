"""Usage and budgets over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import httpx

from agent.cost import Price
from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.settings import BudgetSettings, LlmSettings

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]


async def test_usage_is_shown_and_a_spent_day_refuses_politely(open_app: OpenApp) -> None:
    reply = EndpointReply("<final_answer>Why did the bond blush? It saw the yield.</final_answer>", usage=(100, 20))
    with FakeEndpoint([reply]) as endpoint:
        client = await open_app(
            llm=LlmSettings(base_url=endpoint.base_url, model="m-1", max_retries=0),
            prices={"m-1": Price(prompt=Decimal(1), completion=Decimal(5), currency="EUR")},
            budget=BudgetSettings(user_tokens=100),
        )
        body: dict[str, Any] = {"question": "Tell me a joke", "stream": False}
        first = await client.post("/v1/chat", json=body)
        assert first.status_code == 200, first.text
        assert (first.json()["money"], first.json()["currency"]) == ("0.000200000", "EUR")
        report = (await client.get("/v1/usage")).json()
        assert (report["tokens"], report["money"], report["currency"]) == (120, "0.0002", "EUR")
        assert [(row["model"], row["calls"]) for row in report["usage"]] == [("m-1", 1)]
        assert (await client.get("/v1/usage", params={"of": "tenant"})).json()["tokens"] == 120
        for stream in (True, False):
            refused = await client.post("/v1/chat", json=body | {"stream": stream})
            assert (refused.status_code, refused.json()["code"]) == (429, "budget_exceeded")
            assert refused.headers["content-type"] == "application/problem+json"
            assert "120 of 100 tokens" in refused.json()["detail"]
        assert len(endpoint.requests) == 1
