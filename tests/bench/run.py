"""Benchmarks: `make bench`. Prints Markdown for docs/measurements.md. Run it on an idle machine.

Ratios within one run say more than absolute times. Nothing here is collected by pytest.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import audit
import costs
import encoder
import ingestion
import latency
import parsing
import presidio
import protocols
import symbols

SECTIONS = ("costs", "audit", "encoder", "symbols", "ingestion", "latency", "parsing", "protocols")
EXTRA = (
    "bge",
    "presidio",
)
"""Only by name: need an extra, `bge` or `bench`."""


def main() -> None:
    """Run the benchmarks named on the command line, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, *EXTRA, []], help="default: all")
    parser.add_argument("--documents", type=int, default=80, help="documents of the ingestion benchmark")
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000], help="sizes of the latency benchmark")
    parser.add_argument("--pages", type=int, default=60, help="pages of each made report of the parsing benchmark")
    options = parser.parse_args()
    wanted = options.sections or SECTIONS
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine}, load {os.getloadavg()[0]:.1f}\n")
    if "costs" in wanted:
        costs.measure()
    if "audit" in wanted:
        audit.measure()
    if "encoder" in wanted:
        encoder.measure()
    if "symbols" in wanted:
        symbols.measure()
    if "protocols" in wanted:
        protocols.measure()
    if "ingestion" in wanted:
        asyncio.run(ingestion.measure(options.documents))
    if "parsing" in wanted:
        parsing.measure(1, options.pages, [name for name in parsing.CONTENDERS if parsing.is_installed(name)])
    if "bge" in wanted:
        import bge  # torch alone takes seconds

        bge.measure()
    if "presidio" in wanted:
        presidio.measure()
    if "latency" in wanted:
        asyncio.run(latency.measure(options.chunks))


if __name__ == "__main__":
    main()
