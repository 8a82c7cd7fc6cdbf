"""The texts of a tape under other symbol rules. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agent.protocols.pieces import CallDelta
from agent.rewriting import change_passage, change_within
from agent.tape import Entry, HintsEntry, OfferEntry, ReplyEntry, ToolEntry

Change = Callable[[str], str]


def rewrite_entry(entry: Entry, change: Change) -> Entry:
    """Return an entry with `change(text)` in the place of every text.

    Pieces of one reply are changed together, for a secret may be torn between them: the first then holds it all.
    """
    match entry:
        case ReplyEntry():
            return _reply(entry, change)
        case ToolEntry():
            return _tool(entry, change)
        case HintsEntry():
            return entry.model_copy(update={"labels": tuple(change(label) for label in entry.labels)})
        case OfferEntry():
            return entry


def _reply(entry: ReplyEntry, change: Change) -> ReplyEntry:
    pieces = list(entry.pieces)
    for field in ("text", "thinking"):
        written = "".join(getattr(piece, field) for piece in pieces)
        if (new := change(written)) != written:
            pieces = [p.model_copy(update={field: new if n == 0 else ""}) for n, p in enumerate(pieces)]
    calls = [delta for piece in pieces for delta in piece.calls]
    changed = iter(_changed_calls(calls, change))
    pieces = [p.model_copy(update={"calls": tuple(next(changed) for _ in p.calls)}) if p.calls else p for p in pieces]
    return entry if tuple(pieces) == entry.pieces else entry.model_copy(update={"pieces": tuple(pieces)})


def _changed_calls(deltas: Sequence[CallDelta], change: Change) -> list[CallDelta]:
    """Change the arguments of each native call as one text; a call begins where its name is told."""
    calls: list[list[CallDelta]] = []
    for delta in deltas:
        if delta.name is not None or not calls:
            calls.append([])
        calls[-1].append(delta)
    changed: list[CallDelta] = []
    for parts in calls:
        written = "".join(part.arguments for part in parts)
        new = change(written)
        if new == written:
            changed += parts
        else:
            changed += [replace(part, arguments=new if n == 0 else "") for n, part in enumerate(parts)]
    return changed


def _tool(entry: ToolEntry, change: Change) -> ToolEntry:
    result = entry.result
    values: Any = None if result.values is None else change_within(result.values, change)
    labels = frozenset(change(label) for label in result.filter.labels)
    changed = result.model_copy(
        update={
            "text": change(result.text),
            "values": values,
            "query": None if result.query is None else change(result.query),
            "passages": tuple(change_passage(each, change) for each in result.passages),
            "filter": result.filter.model_copy(update={"labels": labels}),
        }
    )
    citable = {label: change(text) for label, text in entry.citable.items()}
    return entry.model_copy(update={"result": changed, "observation": change(entry.observation), "citable": citable})
