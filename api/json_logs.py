"""Logs as JSON, one object a line, with the run that each line belongs to."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from agent.telemetry import current_run


class JsonFormatter(logging.Formatter):
    """Writes time, level, logger and message, and inside a run its `run_id` and `trace_id`.

    Of an exception the kind is written and the places it went through, never its text, which may quote what a
    document or a question says.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        run = current_run()
        if run is not None:
            line |= {"run_id": run.run_id, "trace_id": run.trace_id}
        if record.exc_info is not None and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["frames"] = _frames(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_as_json(level: int = logging.INFO) -> None:
    """Let the root logger write JSON lines to standard error in place of what it wrote before."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _frames(info: tuple[type[BaseException] | None, BaseException | None, object]) -> list[str]:
    frames: list[str] = []
    trace = info[1].__traceback__ if info[1] is not None else None
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames
