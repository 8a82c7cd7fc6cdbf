"""Errors as logs may hold them: what was raised where, without a word of what it was raised about."""

from __future__ import annotations

import traceback


def error_frames(exc: BaseException) -> str:
    """Return types and places of an error and its causes, without messages: these may quote a document."""
    parts: list[str] = []
    present: BaseException | None = exc
    while present is not None:
        parts.append("".join(traceback.format_tb(present.__traceback__)) + type(present).__name__)
        inner: tuple[BaseException, ...] = getattr(present, "exceptions", ())
        parts += [error_frames(each) for each in inner]
        present = present.__cause__ or present.__context__
    return "\n".join(parts)
