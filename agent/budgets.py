"""Budgets of tokens and money: per run, per user and day, per tenant and day. They refuse politely."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal, Protocol

from agent.cost import CostMeter
from agent.errors import BudgetExceededError
from agent.settings import BudgetSettings
from agent.usage import Spent, UsageBook
from retrieval.types import Principal

BudgetGuard = Literal["token_budget", "money_budget"]


@dataclass(frozen=True, slots=True)
class Overdrawn:
    """A budget that the next call would break."""

    guard: BudgetGuard
    reason: str


class BudgetKeeper(Protocol):
    """Asked before each run and before each model call."""

    async def admit(self, principal: Principal) -> None:
        """Let a new run begin.

        Raises:
            BudgetExceededError: the day's budget is spent; the message says whose, and what to do.
        """
        ...

    async def check(self, principal: Principal, meter: CostMeter, next_tokens: int) -> Overdrawn | None:
        """Tell which budget a call that reads `next_tokens` would break; None: it may be made."""
        ...


class NoBudgets:
    """Refuses nothing."""

    async def admit(self, principal: Principal) -> None:
        """Let every run begin."""

    async def check(self, principal: Principal, meter: CostMeter, next_tokens: int) -> Overdrawn | None:
        """Let every call be made."""
        return None


class Budgets:
    """Keeps the configured budgets by what the journal has counted."""

    def __init__(
        self,
        settings: BudgetSettings,
        book: UsageBook,
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._settings, self._book, self._today = settings, book, today

    async def admit(self, principal: Principal) -> None:
        """Let a new run begin while the day's budgets last."""
        over = await asyncio.to_thread(self._over_day, principal)
        if over is not None:
            raise BudgetExceededError(f"{over.reason}; ask again tomorrow, or let the operator raise the budget")

    async def check(self, principal: Principal, meter: CostMeter, next_tokens: int) -> Overdrawn | None:
        """Check the run's own budgets, then those of the day."""
        limit, money = self._settings.run_tokens, self._settings.run_money
        if limit is not None and meter.tokens + next_tokens > limit:
            reason = f"the run has used {meter.tokens} of its {limit} tokens, and the next call needs {next_tokens}"
            return Overdrawn("token_budget", reason)
        if money is not None and meter.money is not None and meter.money >= money:
            return Overdrawn("money_budget", f"the run has spent {_plain(meter.money)} of its {_plain(money)}")
        return await asyncio.to_thread(self._over_day, principal)

    def _over_day(self, principal: Principal) -> Overdrawn | None:
        settings, day = self._settings, self._today()
        for user, tokens, money, whose in (
            (principal.user, settings.user_tokens, settings.user_money, "your budget"),
            (None, settings.tenant_tokens, settings.tenant_money, "the budget of your organisation"),
        ):
            if tokens is None and money is None:
                continue
            spent = self._book.spent(principal.tenant, day, user=user)
            over = _over(spent, tokens, money, f"{whose} for {day.isoformat()} (UTC)")
            if over is not None:
                return over
        return None


def _over(spent: Spent, tokens: int | None, money: Decimal | None, what: str) -> Overdrawn | None:
    if tokens is not None and spent.tokens >= tokens:
        return Overdrawn("token_budget", f"{what} is used up: {spent.tokens} of {tokens} tokens")
    if money is not None and spent.money >= money:
        return Overdrawn("money_budget", f"{what} is used up: {_plain(spent.money)} of {_plain(money)}")
    return None


def _plain(money: Decimal) -> str:
    return f"{money.normalize():f}"
