"""Blocking tools for tests; here because a spawned process imports them by name."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from agent.errors import ToolError
from agent.tools.base import RunsIn, ToolResult, ToolSpec
from agent.tools.blocking import ToolScope


class Blocking:
    """Does what `what` says."""

    def __init__(self, runs_in: RunsIn, timeout_ms: int = 20_000) -> None:
        self.spec = ToolSpec(
            name="blocking",
            description="blocks",
            arguments={"type": "object", "properties": {"what": {"type": "string"}}},
            runs_in=runs_in,
            timeout_ms=timeout_ms,
        )
        self.told = threading.Event() if runs_in == "thread" else None

    def run(self, arguments: dict[str, Any], scope: ToolScope) -> ToolResult:
        match arguments["what"]:
            case "answer":
                return ToolResult(text=f"{scope.tenant}/{scope.user} in {os.getpid()}")
            case "refuse":
                raise ToolError("no such thing")
            case "fault":
                raise RuntimeError("salary of Zhang is 9")
            case "die":
                os._exit(3)
            case "wait":
                assert scope.cancelled is not None
                assert scope.cancelled.wait(60)
                assert self.told is not None
                self.told.set()
                return ToolResult(text="late")
            case _:
                while True:
                    time.sleep(0.01)
