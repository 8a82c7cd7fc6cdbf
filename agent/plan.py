"""A run's plan: a to-do list with sub-items, kept by tools. Pure; refusals are for the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent.errors import ToolArgumentsError
from agent.plan_items import ItemState, PlanItem

MOST_ITEMS = 40
MOST_REWORKS = 2
"""Times that what was done may be opened again."""
_TEXT_CHARS = 500


class Plan:
    """Items in order; sub-items follow the item they belong to. A run ends well when none is open."""

    def __init__(self) -> None:
        self._items: dict[str, PlanItem] = {}
        self._reworks = 0
        self.reminded = False
        """True once the model was told that it answers with items open."""

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> tuple[PlanItem, ...]:
        """Return all items in order."""
        return tuple(self._items.values())

    def get(self, item: str) -> PlanItem:
        """Return one item.

        Raises:
            ToolArgumentsError: there is none of this id.
        """
        found = self._items.get(item)
        if found is None:
            known = ", ".join(self._items) or "none; call plan_create first"
            raise ToolArgumentsError(f"The plan has no item {item[:20]!r}. Items: {known}.")
        return found

    def create(self, items: Sequence[tuple[str, bool, Sequence[str]]]) -> None:
        """Replace the plan; each item is its text, whether it needs confirmation, and its sub-items' texts.

        Raises:
            ToolArgumentsError: a text is empty, or there are more than `MOST_ITEMS`.
        """
        new: dict[str, PlanItem] = {}
        for number, (text, confirm, parts) in enumerate(items, 1):
            new[str(number)] = PlanItem(id=str(number), text=_text(text), needs_confirmation=confirm)
            for part, wording in enumerate(parts, 1):
                new[f"{number}.{part}"] = PlanItem(id=f"{number}.{part}", text=_text(wording))
        if not new or len(new) > MOST_ITEMS:
            raise ToolArgumentsError(f"A plan has 1 to {MOST_ITEMS} items with their sub-items; this has {len(new)}.")
        self._items = new
        self.reminded = False

    def move(self, item: str, state: ItemState, reason: str = "") -> None:
        """Set an item's state; one that is dropped takes its open sub-items with it.

        Raises:
            ToolArgumentsError: no such item; dropped without a reason; done while sub-items are open or
                before the confirmation it needs; opened again more than `MOST_REWORKS` times in a run.
        """
        found = self.get(item)
        if state == "open" and found.state == "done":
            if self._reworks == MOST_REWORKS:
                raise ToolArgumentsError(
                    f"Nothing is worked over more than {MOST_REWORKS} times: leave item {item} as it is, and say in "
                    "the answer what it lacks."
                )
            self._reworks += 1
        if state == "dropped" and not reason.strip():
            raise ToolArgumentsError(f"Give the reason why item {item} is dropped.")
        below = [each for each in self._items.values() if each.id.startswith(f"{item}.") and each.state == "open"]
        if state == "done" and below:
            raise ToolArgumentsError(f"Item {item} has open sub-items: {', '.join(each.id for each in below)}.")
        if state == "done" and found.needs_confirmation and not found.confirmed:
            raise ToolArgumentsError(f"Item {item} needs a person's confirmation before it is done.")
        for each in (found, *(below if state == "dropped" else ())):
            why = reason.strip()[:_TEXT_CHARS] if state == "dropped" else ""
            self._items[each.id] = each.model_copy(update={"state": state, "reason": why})

    def confirm(self, item: str) -> None:
        """Note that a person said yes."""
        self._items[item] = self.get(item).model_copy(update={"confirmed": True})

    def reword(self, item: str, text: str) -> None:
        """Change an item's wording; what was confirmed must be confirmed again."""
        self._items[item] = self.get(item).model_copy(update={"text": _text(text), "confirmed": False})

    def open(self) -> tuple[PlanItem, ...]:
        """Return the items that are still to be done."""
        return tuple(each for each in self._items.values() if each.state == "open")

    def next(self) -> PlanItem | None:
        """Return what to do next: the first open item none of whose sub-items is open."""
        waiting = self.open()
        parents = {each.id.split(".")[0] for each in waiting if "." in each.id}
        return next((each for each in waiting if "." in each.id or each.id not in parents), None)

    def what_next(self, language: Literal["zh", "en"]) -> str:
        """Say to the model how the plan stands and what to do next."""
        after = self.next()
        lines = [f"{_MARKS[each.state]} {each.id} {each.text}" for each in self._items.values()]
        if after is None:
            said = (
                "全部完成或已放弃：请给出回答。"
                if language == "zh"
                else "Everything is done or dropped: give the answer."
            )
        elif language == "zh":
            said = f"下一步：{after.id} {after.text}" + ("（须先经人确认）" if _must_ask(after) else "")
        else:
            said = f"Next: {after.id} {after.text}" + (" (a person must confirm it first)" if _must_ask(after) else "")
        return "\n".join([*lines, said])


_MARKS: dict[ItemState, str] = {"open": "[ ]", "done": "[x]", "dropped": "[-]"}


def _must_ask(item: PlanItem) -> bool:
    return item.needs_confirmation and not item.confirmed


def _text(text: str) -> str:
    cut = " ".join(text.split())[:_TEXT_CHARS]
    if not cut:
        raise ToolArgumentsError("An item of the plan has no text.")
    return cut
