"""A short run of the crash benchmark: processes killed at random moments lose, double and leave nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "bench" / "crash.py"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds parser processes in /proc")
def test_crash_rounds_lose_double_and_leave_nothing() -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "6", "--documents", "10", "--settle-every", "3", "--json"]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=240)
    assert run.stdout, run.stderr
    figures = json.loads(run.stdout)
    assert figures["faults"] == []
    assert (figures["rounds"], figures["killed"], run.returncode) == (6, 6, 0)
    assert figures["uploads"] > 10
