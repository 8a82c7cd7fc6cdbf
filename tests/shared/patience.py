"""Waiting with an end: what never happens fails a test, and says so, instead of holding it up."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

_SECONDS = 200.0  # less than the time that a whole test has


def turns(what: str, seconds: float = _SECONDS) -> Iterator[None]:
    """Give one turn after the other to look whether `what` has happened; fail when the time is over."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        yield
    pytest.fail(f"{what}: not within {seconds:.0f} seconds")
