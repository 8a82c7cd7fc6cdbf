"""Entry point of the `attest` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    raise SystemExit("the command line is not there yet")
