"""One item of a run's plan, as events, tools and readers see it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from retrieval.types import Value

ItemState = Literal["open", "done", "dropped"]


class PlanItem(Value):
    """Something to do. Ids are `1`, `2`, … and `1.1`, `1.2` for sub-items."""

    id: str = Field(pattern=r"^[1-9]\d{0,2}(\.[1-9]\d{0,2})?$")
    text: str
    state: ItemState = "open"
    reason: str = ""
    """Why it was dropped."""
    needs_confirmation: bool = False
    """True: a person is asked before it may be done."""
    confirmed: bool = False
