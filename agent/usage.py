"""What was used, by tenant, user, day and model, in SQL. Blocking; call it from a thread.

The journal adds each call in the transaction that writes its event: what is billed is what is journalled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlalchemy import Connection, Engine, func, insert, select, update

from agent.cost import NANO
from agent.events import Event, ModelUsed, ToolReturned
from agent.tables import usage
from retrieval.types import Principal, Value


class Usage(Value):
    """The calls of one model on one day (UTC) by one user."""

    day: date
    user: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    money: Decimal
    """Zero where the model had no price."""
    currency: str
    """Empty where the model had no price."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a day has cost so far."""

    tokens: int
    money: Decimal


def add_usage(connection: Connection, event: ModelUsed, principal: Principal) -> None:
    """Count one model call on the day of its event."""
    key = {
        "tenant": principal.tenant,
        "user": principal.user,
        "day": event.at.date().isoformat(),
        "model": event.model,
        "currency": event.currency,
    }
    more = {
        "calls": 1,
        "prompt_tokens": event.prompt_tokens,
        "completion_tokens": event.completion_tokens,
        "money_nanos": int((event.money or Decimal(0)) * NANO),
    }
    same = [usage.c[name] == value for name, value in key.items()]
    added = {name: usage.c[name] + value for name, value in more.items()}
    if connection.execute(update(usage).where(*same).values(**added)).rowcount:
        return
    connection.execute(insert(usage).values(**key, **more))


class StepUsage(Value):
    """What one step of a run used; step 0 is what came before the first."""

    step: int
    models: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int
    money: Decimal | None
    """None where no model of the step has a price."""
    model_ms: float
    tools: tuple[str, ...]
    tool_ms: float


def steps_of(events: Sequence[Event]) -> list[StepUsage]:
    """Return what a run used, step by step, from its stored events."""
    used = [event for event in events if isinstance(event, ModelUsed)]
    called = [event for event in events if isinstance(event, ToolReturned)]
    steps: list[StepUsage] = []
    for step in sorted({event.step for event in (*used, *called)}):
        models = [event for event in used if event.step == step]
        tools = [event for event in called if event.step == step]
        money = [event.money for event in models if event.money is not None]
        steps.append(
            StepUsage(
                step=step,
                models=tuple(dict.fromkeys(event.model for event in models)),
                prompt_tokens=sum(event.prompt_tokens for event in models),
                completion_tokens=sum(event.completion_tokens for event in models),
                money=sum(money, Decimal(0)) if money else None,
                model_ms=sum(event.latency_ms for event in models),
                tools=tuple(event.tool for event in tools),
                tool_ms=sum(event.latency_ms for event in tools),
            )
        )
    return steps


class UsageBook:
    """Reads what was used."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def spent(self, tenant: str, day: date, *, user: str | None = None) -> Spent:
        """Return what one user, or with None the whole tenant, used on a day."""
        query = select(
            func.coalesce(func.sum(usage.c.prompt_tokens + usage.c.completion_tokens), 0),
            func.coalesce(func.sum(usage.c.money_nanos), 0),
        ).where(usage.c.tenant == tenant, usage.c.day == day.isoformat())
        if user is not None:
            query = query.where(usage.c.user == user)
        with self._engine.connect() as connection:
            tokens, nanos = connection.execute(query).one()
        return Spent(int(tokens), Decimal(int(nanos)) / NANO)

    def rows(self, tenant: str, since: date, *, user: str | None = None, limit: int = 1000) -> list[Usage]:
        """Return what was used from a day on, newest day first, then by user and model."""
        query = select(usage).where(usage.c.tenant == tenant, usage.c.day >= since.isoformat())
        if user is not None:
            query = query.where(usage.c.user == user)
        query = query.order_by(usage.c.day.desc(), usage.c.user, usage.c.model, usage.c.currency).limit(limit)
        with self._engine.connect() as connection:
            return [
                Usage(
                    day=date.fromisoformat(row["day"]),
                    user=row["user"],
                    model=row["model"],
                    calls=row["calls"],
                    prompt_tokens=row["prompt_tokens"],
                    completion_tokens=row["completion_tokens"],
                    money=Decimal(row["money_nanos"]) / NANO,
                    currency=row["currency"],
                )
                for row in connection.execute(query).mappings()
            ]
