"""`attest ask`: ask a question and watch the answer being written and audited."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from api.client import AttestClient
from api.commands.filtering import AsOf, Authority, Documents, In, Labels, Period, Symbols, filter_body
from api.commands.rendering import AnswerView
from api.commands.session import Json, fail, print_json, run
from api.errors import EXIT_FAILED
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("ask", help=summary)(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question, in Chinese or English.")],
    label: Labels = None,
    document: Documents = None,
    language: In = None,
    authority: Authority = None,
    as_of: AsOf = None,
    period: Period = None,
    symbol: Symbols = None,
    steps: Annotated[bool, typer.Option(help="Show thoughts and tool calls.")] = True,
    json_output: Json = False,
) -> None:
    """Ask a question. Exit code 1 when the run failed."""
    filter = filter_body(label, document, language, authority, as_of, period, symbol)

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await ask_question(client, question, filter, view=None if json_output else AnswerView(steps=steps))

    last = run(work)
    if json_output:
        print_json(last)
    if last["kind"] != "run_completed":
        fail(last.get("message", "the run was cancelled"), EXIT_FAILED)


async def ask_question(
    client: AttestClient, question: str, filter: dict[str, Any], *, view: AnswerView | None
) -> dict[str, Any]:
    """Ask over the stream and return the terminal event; `view` shows the events as they come."""
    last: dict[str, Any] = {"kind": "run_failed", "code": "cut", "message": "the stream ended before the run did"}
    async for event in client.stream("/v1/chat", {"question": question, "stream": True, "filter": filter}):
        if view is not None:
            view.show(event)
        if event["kind"] in {"run_completed", "run_failed", "run_cancelled"}:
            last = event
    return last
