"""What models were used, and what it cost."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from agent.usage import StepUsage, Usage, steps_of
from api.auth import Caller, require
from api.container import Wired
from retrieval.types import Value

router = APIRouter(prefix="/v1/usage", tags=["usage"])


class UsageReport(Value):
    """Usage by day, user and model, newest day first, and the limits in force."""

    usage: tuple[Usage, ...]
    tokens: int
    money: Decimal
    currency: str
    """Empty where no model has a price."""
    user_tokens_per_day: int | None
    user_money_per_day: Decimal | None


@router.get("")
async def usage(
    caller: Caller,
    wired: Wired,
    days: Annotated[int, Query(ge=1, le=366, description="How many days back, today (UTC) included.")] = 30,
    of: Annotated[Literal["me", "tenant"], Query(description="`tenant` needs the right `admin`.")] = "me",
) -> UsageReport:
    """Show what the caller used, or all users of the tenant."""
    if of == "tenant":
        require(caller, "admin")
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    user = caller.user if of == "me" else None
    rows = await asyncio.to_thread(wired.usage.rows, caller.tenant, since, user=user)
    budget = wired.settings.budget
    return UsageReport(
        usage=tuple(rows),
        tokens=sum(row.prompt_tokens + row.completion_tokens for row in rows),
        money=sum((row.money for row in rows), Decimal(0)),
        currency=next((row.currency for row in rows if row.currency), ""),
        user_tokens_per_day=budget.user_tokens,
        user_money_per_day=budget.user_money,
    )


@router.get("/runs/{run_id}")
async def usage_of_run(run_id: str, caller: Caller, wired: Wired) -> list[StepUsage]:
    """Show what one of the caller's runs used, step by step."""
    return steps_of(await asyncio.to_thread(wired.journal.events, run_id, caller))
