"""Tools: keep the run's plan."""

from __future__ import annotations

from typing import Any

from agent.errors import ToolArgumentsError
from agent.plan_items import PlanItem
from agent.tools.base import ToolContext, ToolResult, ToolSpec

HUMAN_MS = 30 * 24 * 3600 * 1000
"""A person may take days; waiting costs nothing."""

_ITEM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 500},
        "needs_confirmation": {"type": "boolean"},
        "sub_items": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 500}, "maxItems": 20},
    },
    "required": ["text"],
    "additionalProperties": False,
}


class PlanCreate:
    """Writes the plan."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="plan_create",
            description="Write a to-do list for a task of several parts, before the first; not for one question.",
            arguments={
                "type": "object",
                "properties": {"items": {"type": "array", "items": _ITEM, "minItems": 1, "maxItems": 20}},
                "required": ["items"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Replace the plan and say what comes first.

        Raises:
            ToolArgumentsError: it has too many items.
        """
        context.plan.create([
            (item["text"], bool(item.get("needs_confirmation", False)), item.get("sub_items", []))
            for item in arguments["items"]
        ])
        return _told(context)


class PlanUpdate:
    """Moves an item of the plan."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="plan_update",
            description="Mark an item of the plan as done, or as dropped with the reason; tells what to do next.",
            arguments={
                "type": "object",
                "properties": {
                    "item": {"type": "string"},
                    "state": {"enum": ["open", "done", "dropped"]},
                    "reason": {"type": "string", "maxLength": 500},
                },
                "required": ["item", "state"],
                "additionalProperties": False,
            },
            timeout_ms=HUMAN_MS,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Move the item; one that needs confirmation stops here and waits for a person.

        Raises:
            ToolArgumentsError: the plan does not allow it.
        """
        plan, item = context.plan, plan_item(context, arguments["item"])
        if arguments["state"] == "done" and item.needs_confirmation and not item.confirmed:
            if context.desk is None:
                raise ToolArgumentsError(
                    f"Item {item.id} needs a person's confirmation, and nobody can be asked: drop it."
                )
            if await context.desk.confirm(item.id, item.text) == "denied":
                plan.move(item.id, "dropped", "a person said no" if context.language == "en" else "未获人确认")
                return _told(context)
            plan.confirm(item.id)
        plan.move(item.id, arguments["state"], arguments.get("reason", ""))
        return _told(context)


def plan_item(context: ToolContext, written: str) -> PlanItem:
    """Return the item a model means: models write `item 2` and `2.` too."""
    return context.plan.get(written.strip().lower().removeprefix("item").strip().strip(".#"))


def _told(context: ToolContext) -> ToolResult:
    if context.desk is not None:
        context.desk.planned(context.plan.items())
    return ToolResult(text=context.plan.what_next(context.language))
