"""`attest audits`: what audits came to, which answers are stale, reports and exports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.audit_report import AuditReport
from api.audit_csv import audit_csv
from api.client import AttestClient
from api.commands.rendering import counted, show_table
from api.commands.session import Json, out, print_json, run
from api.errors import EXIT_FAILED
from api.settings import Settings

Tenant = Annotated[bool, typer.Option("--tenant", help="Those of all users of the tenant; needs the right admin.")]
Days = Annotated[int, typer.Option("--days", min=1, max=366, help="How many days back, today (UTC) included.")]
_WAIT_S = 0.2


def register(app: typer.Typer, summary: str) -> None:
    """Add the group of commands."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.command("list")(list_audits)
    group.command("show")(show)
    group.command("stale")(stale)
    group.command("reaudit")(reaudit)
    group.command("risk")(risk)
    group.command("export")(export)
    app.add_typer(group, name="audits")


def _of(tenant: bool) -> str:
    return "tenant" if tenant else "me"


def list_audits(
    tenant: Tenant = False,
    high: Annotated[bool, typer.Option("--high", help="Only of high risk.")] = False,
    json_output: Json = False,
) -> None:
    """List audits, newest first."""
    only = {"risk": "high"} if high else {}

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return (await client.get("/v1/audits", of=_of(tenant), limit=100, **only))["audits"]

    _show_rows(run(work), json_output=json_output)


def stale(tenant: Tenant = False, json_output: Json = False) -> None:
    """List the answers that relied on documents which are replaced or deleted now."""

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return (await client.get("/v1/audits/stale", of=_of(tenant), limit=500))["audits"]

    rows = run(work)
    if json_output:
        print_json(rows)
        return
    show_table(
        ("run", "since", "documents"),
        (
            (
                row["run_id"],
                row["stale_at"],
                ", ".join(
                    f"{each['document_id']} ({each['label']}) {each['stale']}"
                    for each in row["sources"]
                    if each["stale"]
                ),
            )
            for row in rows
        ),
    )


def show(
    run_id: Annotated[str, typer.Argument(help="The run that gave the answer.")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with both texts side by side.", dir_okay=False)
    ] = None,
    json_output: Json = False,
) -> None:
    """Show the audit of one answer: each sentence, its verdict, and what its sources say."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        return await client.get(f"/v1/audits/{run_id}")

    report = run(work)
    if html is not None:
        from api.audit_page import render_audit  # templates are needed here alone

        html.write_text(render_audit(AuditReport.model_validate(report)), encoding="utf-8")
    if json_output:
        print_json(report)
        return
    out.print(f"risk {report['risk']}, action {report['action']}, {report['at']}", markup=False)
    for sentence in report["sentences"]:
        labels = " ".join(f"[SOURCE: {label}]" for label in sentence["labels"])
        said = sentence["text"] or "(text not shown)"
        out.print(f"{sentence['index']}. {sentence['kind']}: {said} {labels}".rstrip(), markup=False)
        for check in (*sentence["checks"], *sentence["proposed"]):
            out.print(f"   {'✓' if check['passed'] else '✗'} {check['rule']}: {check['detail']}", markup=False)
    for violation in report["violations"]:
        out.print(f"violation: {violation}", markup=False)
    for source in report["sources"]:
        name = source["title"] or source["document_id"]
        out.print(f"[{source['label']}] {name}: {source['standing']}, SHA-256 {source['text_sha256']}", markup=False)


def reaudit(
    run_ids: Annotated[list[str] | None, typer.Argument(help="Your runs; without any, those that are stale.")] = None,
    json_output: Json = False,
) -> None:
    """Audit past answers of your own against the documents of now, and wait for it."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        taken = await client.post("/v1/audits/reaudits", {"run_ids": run_ids or []})
        if taken["job_id"] is None:
            return {"job_id": None, "state": "done", "answers": []}
        while True:
            job: dict[str, Any] = await client.get(f"/v1/audits/reaudits/{taken['job_id']}")
            if job["state"] == "done":
                return job
            await asyncio.sleep(_WAIT_S)

    job = run(work)
    if json_output:
        print_json(job)
    else:
        out.print(f"{counted(len(job['answers']), 'answer')} audited again", markup=False)
        for answer in job["answers"]:
            changed = ", ".join(f"{each['index']}: {each['before']} → {each['after']}" for each in answer["changes"])
            said = answer["error_code"] or f"risk {answer['risk']}; {changed or 'nothing changed'}"
            out.print(f"{answer['run_id']}  {said}", markup=False)
    if any(answer["changes"] or answer["error_code"] for answer in job["answers"]):
        raise typer.Exit(EXIT_FAILED)


def risk(tenant: Tenant = False, days: Days = 30, json_output: Json = False) -> None:
    """Show the risk figures of each day that had answers."""

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        return (await client.get("/v1/audits/risk", of=_of(tenant), days=days))["days"]

    found = run(work)
    if json_output:
        print_json(found)
        return
    columns = ("day", "answers", "low", "medium", "high", "repaired", "withheld", "contradicted", "unsupported")
    show_table(columns, ([day[name] for name in columns] for day in found))


def export(
    file: Annotated[Path, typer.Argument(help="Where to; `.csv` gives CSV, any other name JSON.", dir_okay=False)],
    tenant: Tenant = False,
    days: Days = 30,
) -> None:
    """Write audits with verdicts, references and hashes of the evidence into a file, for keeping."""

    async def work(client: AttestClient, _settings: Settings) -> list[dict[str, Any]]:
        reports: list[dict[str, Any]] = []
        more: dict[str, str] = {}
        while True:
            page = await client.get("/v1/audits/export", of=_of(tenant), days=days, **more)
            reports += page["reports"]
            if page["next_after"] is None:
                return reports
            more = {"after": page["next_after"]}

    reports = run(work)
    if file.suffix.lower() == ".csv":
        file.write_text(audit_csv(reports), encoding="utf-8-sig", newline="")
    else:
        file.write_text(json.dumps(reports, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    out.print(f"{counted(len(reports), 'audit')} written to {file}", markup=False)


def _show_rows(rows: Iterable[dict[str, Any]], *, json_output: bool) -> None:
    if json_output:
        print_json(list(rows))
        return
    columns = ("run_id", "at", "risk", "action", "sentences", "contradicted", "unsupported", "uncited", "stale_at")
    show_table(columns, ([row[name] for name in columns] for row in rows))
