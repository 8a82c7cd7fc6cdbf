"""Wires the model tiers: one client per configured endpoint, and who takes over for whom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.cost import PriceTable
from agent.llm import ChatModel
from agent.models.guarded import GuardedModel
from agent.settings import TierSettings
from api.errors import SettingsError
from api.settings import Settings


@dataclass(frozen=True, slots=True)
class Tiers:
    """The models in use."""

    large: ChatModel
    """Serves unless another is asked for; the extractive model where no endpoint is configured."""
    small: ChatModel | None
    vision: ChatModel | None
    spares: tuple[ChatModel, ...]
    """Take over for the one that speaks, in this order, before `fallback`."""
    fallback: ChatModel | None
    """The last resort: needs no endpoint."""
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def close(self) -> None:
        """Close all connections."""
        for close in self.closing:
            await close()


def open_tiers(settings: Settings, extractive: ChatModel) -> Tiers:
    """Make a client for each configured tier. Nothing is sent yet.

    Raises:
        SettingsError: the fallback names a tier that has no endpoint.
    """
    closing: list[Callable[[], Awaitable[None]]] = []

    def endpoint(tier: TierSettings) -> ChatModel | None:
        if tier.base_url is None:
            return None
        # Its import costs as much as all others together, and most commands do without.
        from agent.models.openai import OpenAIChatModel

        local = settings.egress.is_local(tier.base_url)
        model = OpenAIChatModel(tier, local=local)
        closing.append(model.close)
        return GuardedModel(model, settings.egress) if settings.egress.binds and not local else model

    large, small, vision = endpoint(settings.llm), endpoint(settings.small), endpoint(settings.vision)
    if "small" in settings.llm.spares and small is None:
        raise SettingsError("ATTEST_LLM_FALLBACK names the tier small; set ATTEST_SMALL_BASE_URL too")
    return Tiers(
        large=large or extractive,
        small=small,
        vision=vision,
        spares=(small,) if small is not None and "small" in settings.llm.spares else (),
        fallback=extractive if "extractive" in settings.llm.spares else None,
        closing=tuple(closing),
    )


def prices_of(settings: Settings) -> PriceTable:
    """Return the table of prices.

    Raises:
        SettingsError: they stand in several currencies.
    """
    try:
        return PriceTable(settings.prices)
    except ValueError as exc:
        raise SettingsError(f"ATTEST_PRICES (prices): {exc}") from exc
