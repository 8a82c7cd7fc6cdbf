"""Entry point of the `attest` command."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

COMMANDS = {
    "ingest": "Take files and folders in and wait until they are ready.",
    "chunks": "Look at the blocks and chunks of a file, without taking it in.",
    "ask": "Ask a question; the answer names its sources and is audited.",
    "search": "Search for passages, without an answer.",
    "documents": "List, show or delete documents.",
    "jobs": "List or show ingestion jobs.",
    "runs": "List or show stored runs.",
    "audits": "List or show audits, and answers that have become stale; export, audit again.",
    "usage": "Show what models were used, and what it cost.",
    "decisions": "List or show what the trigger and search decided, and why.",
    "symbols": "Show what symbols a text gives, and which rules are loaded; correct them.",
    "vault": "Show values behind pseudonyms; look up, hand over and forget what is kept of a person.",
    "serve": "Serve HTTP.",
    "mcp": "Serve the tools to a program on this machine, over standard input and output (MCP).",
    "doctor": "Say which parts are in use, what is missing and what mends it.",
    "eval": "Measure on evaluation data.",
    "tune-triggers": "Recalibrate from the decision log when search is made at all.",
    "keys": "Make API keys; change the pseudonym key.",
    "demo": "Ingest the samples, ask questions and check the answers' sources.",
}


def build(arguments: list[str]) -> typer.Typer:
    """Build the command line for these arguments.

    Only the command that is called is imported, so that `attest --help` stays quick:
    the parts behind the commands cost seconds.
    """
    app = typer.Typer(
        name="attest",
        help="Ask your documents; every factual sentence names its source, and every source is checked.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(help=app.info.help)(_options)
    called = next((a for a in arguments if not a.startswith("-")), None)
    for name, summary in COMMANDS.items():
        if name == called:
            import_module(f"api.commands.{name.replace('-', '_')}").register(app, summary)
        else:
            app.command(name, help=summary)(_not_called)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"attest {installed_version('attest')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def _not_called() -> None:
    raise AssertionError("only the command that is called is ever run")


def main() -> None:
    """Run the command line."""
    build(sys.argv[1:])()
