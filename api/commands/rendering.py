"""How a run looks in a terminal. Text of documents is printed as text, never as markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from api.commands.session import out

_MARKS = {
    "supported": ("✓", "green"),
    "partly_supported": ("~", "yellow"),
    "contradicted": ("✗", "red"),
    "unsupported": ("✗", "red"),
    "uncited": ("?", "yellow"),
    "general": ("·", "dim"),
    "not_a_claim": ("·", "dim"),
}


class AnswerView:
    """Prints events of one run as they come."""

    def __init__(self, *, steps: bool = True) -> None:
        self._steps = steps
        self._open = ""

    def show(self, event: dict[str, Any]) -> None:
        """Print one event."""
        match event["kind"]:
            case "trigger_decided":
                self._line(f"tier {event['tier']}: {'; '.join(event['reasons'])}", "cyan")
            case "thought_delta" if self._steps:
                self._piece(event["text"], "thought", "dim")
            case "tool_called" if self._steps:
                self._line(f"→ {event['tool']} {_short(event['arguments'])}", "dim")
            case "format_error" | "guard_fired":
                self._line(f"! {event['reason']}", "yellow")
            case "notice":
                self._line(f"! {event['message']}", "yellow")
            case "text_delta":
                self._piece(event["text"], "answer", "bold")
            case "answer_superseded":
                self._line(f"! the text above is no answer ({event['reason']} after its audit); it is:", "yellow")
            case "run_completed":
                self._close()
                self._audit(event)
            case "run_failed":
                self._line(f"failed: {event['message']} ({event['code']})", "red")
            case _:
                return

    def _audit(self, event: dict[str, Any]) -> None:
        audit = event["audit"]
        for sentence in audit["sentences"]:
            mark, style = _MARKS[sentence["kind"]]
            labels = ", ".join(sentence["labels"])
            out.print(
                Text(
                    f"  {mark} {sentence['kind'].replace('_', ' ')}: {_short(sentence['text'], 60)} {labels}".rstrip(),
                    style,
                )
            )
            for evidence in sentence["evidence"]:
                if not evidence["passed"]:
                    out.print(Text(f"      {evidence['detail']}", "dim"))
            for proposal in sentence.get("proposed", ()):
                out.print(Text(f"      {proposal['detail']}", "dim"))
        for violation in audit["violations"]:
            out.print(Text(f"  violation: {violation}", "red"))
        for passage in event["passages"]:
            chunk = passage["chunk"]
            page = f", p. {chunk['page_start']}" if chunk["page_start"] else ""
            out.print(Text(f"  [{passage['label']}] {chunk['title']}{page}", "dim"))
        out.print(
            Text(
                f"  risk {audit['risk']} · {event['status']} · model {event['model']} · encoder {event['encoder']} · "
                f"{counted(event['steps'], 'step')} · {event['latency_ms']:.0f} ms",
                "dim",
            )
        )

    def _piece(self, text: str, kind: str, style: str) -> None:
        if self._open != kind:
            self._close()
            self._open = kind
        out.print(Text(text, style), end="")

    def _line(self, text: str, style: str) -> None:
        self._close()
        out.print(Text(text, style))

    def _close(self) -> None:
        if self._open:
            out.print()
            self._open = ""


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column holds ids, which are never cut: people copy them.

    Where the output is no terminal a row is a line with tabs, for `cut` and `grep`.
    """
    cells = [[" ".join(str(value).split()) if value is not None else "" for value in row] for row in rows]
    if not out.is_terminal:
        for row in [columns, *cells]:
            sys.stdout.write("\t".join(row) + "\n")  # rich would turn the tabs into blanks
        return
    table = Table(box=None)
    for index, name in enumerate(columns):
        table.add_column(name, no_wrap=index == 0, overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def without_source(error: str | None, source: str) -> str:
    """Return an error of ingestion without the name that it begins with, where the name stands beside it."""
    return (error or "").removeprefix(f"{source}: ")


def counted(number: int, noun: str) -> str:
    """Return `1 chunk`, `2 chunks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _short(value: object, length: int = 100) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= length else text[: length - 1] + "…"
