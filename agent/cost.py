"""What model calls cost: a table of prices, and a meter that adds up the calls of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from pydantic import Field

from retrieval.types import Value

NANO = Decimal(10) ** 9
"""Money is kept as whole billionths of a unit, so that sums in SQL are exact."""
_MILLION = 1_000_000


class Price(Value):
    """What one model takes, per million tokens, in the installation's currency."""

    prompt: Decimal = Field(ge=0)
    completion: Decimal = Field(ge=0)
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")


class PriceTable:
    """Prices by model name, all in one currency."""

    FREE: ClassVar[frozenset[str]] = frozenset({"extractive"})
    """Models that run in this process and cost nothing."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        """Take the prices.

        Raises:
            ValueError: they are in several currencies, which cannot be added up.
        """
        currencies = sorted({price.currency for price in prices.values()})
        if len(currencies) > 1:
            raise ValueError(f"prices stand in {', '.join(currencies)}; give all of them in one currency")
        self._prices = dict(prices)
        self.currency = currencies[0] if currencies else ""
        """Empty: there is no price at all."""

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """Return what a call costs, to a billionth; None where the model has no price."""
        if model in self.FREE:
            return Decimal(0)
        price = self._prices.get(model)
        if price is None:
            return None
        money = (price.prompt * prompt_tokens + price.completion * completion_tokens) / _MILLION
        return money.quantize(1 / NANO)


@dataclass(slots=True)
class CostMeter:
    """Adds up the calls of one run."""

    prices: PriceTable
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: Decimal | None = None
    """Of the calls that have a price; None: none has one."""

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, model: str, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """Count one call; return what it costs, None where its model has no price."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        cost = self.prices.cost(model, prompt_tokens, completion_tokens)
        if cost is not None:
            self.money = (self.money or Decimal(0)) + cost
        return cost
