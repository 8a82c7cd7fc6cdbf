"""`attest tune-triggers`: recalibrate the trigger's thresholds from the decision log."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from api.client import AttestClient
from api.commands.session import Json, fail, guarded, out, print_json, run
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings, load_settings
from api.tuned import remove_tuned, write_tuned
from retrieval.decisions import Decision
from retrieval.tuning import REACHED, STRONG, TradeOff, Tuning, outcomes, tune

_PAGE = 500


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("tune-triggers", help=summary)(tune_triggers)


def tune_triggers(
    reached: Annotated[
        float, typer.Option(min=0, max=1, help="Share of answered questions that are to reach weak or strong.")
    ] = REACHED,
    strong: Annotated[
        float, typer.Option(min=0, max=1, help="Share of answered questions that are to reach strong.")
    ] = STRONG,
    apply: Annotated[bool, typer.Option("--apply", help="Write the proposed thresholds to ATTEST_HOME.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take away what --apply wrote.")] = False,
    json_output: Json = False,
) -> None:
    """Replay logged decisions and propose thresholds. Writes nothing without --apply. Needs the right `admin`."""
    if undo:
        taken = guarded(lambda: remove_tuned(load_settings().home))
        out.print("the tuned thresholds are gone; restart the server" if taken else "there were no tuned thresholds")
        return

    async def work(client: AttestClient, settings: Settings) -> tuple[Tuning, Settings]:
        known = outcomes([Decision.model_validate(each) for each in await _logged(client)])
        now = settings.trigger
        return tune(known, weak=now.weak, strong=now.strong, reached=reached, strongly=strong), settings

    tuning, settings = run(work)
    if json_output:
        print_json({**tuning.model_dump(mode="json"), "enough": tuning.enough})
    elif tuning.enough:
        _print(tuning)
    if tuning.weak is None or tuning.strong is None:
        fail(
            f"too few outcomes: {tuning.answered} answered of {tuning.needed_answered} needed, "
            f"{tuning.others} others of {tuning.needed_others} needed",
            EXIT_FAILED,
        )
    if not apply:
        return
    if settings.api.url is not None:
        fail("--apply writes to this machine's ATTEST_HOME, and the server is elsewhere: run it there", EXIT_USAGE)
    weak, high = tuning.weak, tuning.strong
    path = guarded(lambda: write_tuned(settings.home, weak=weak, strong=high))
    if not json_output:
        out.print(f"written to {path}; a running server reads it when it starts again", markup=False)


async def _logged(client: AttestClient) -> list[Any]:
    """GET all logged decisions of the trigger, page by page."""
    found: list[Any] = []
    after: dict[str, str] = {}
    while True:
        page = (await client.get("/v1/decisions", kind="trigger", limit=_PAGE, **after))["decisions"]
        found += page
        if len(page) < _PAGE:
            return found
        after = {"after": page[-1]["decision_id"]}


def _print(tuning: Tuning) -> None:
    out.print(f"{tuning.answered} questions were answered from the documents, {tuning.others} were not")
    table = Table("threshold", "reached", "in vain", "", box=None)
    rows: list[tuple[TradeOff, str]] = [(each, "") for each in tuning.curve]
    for points, when in ((tuning.now, "now"), (tuning.proposed, "proposed")):
        rows += [(each, f"{name}, {when}") for each, name in zip(points, ("weak", "strong"), strict=True)]
    for each, remark in sorted(rows, key=lambda row: row[0].threshold):
        table.add_row(f"{each.threshold:.2f}", f"{each.reached:.3f}", f"{each.in_vain:.3f}", remark)
    out.print(table)
