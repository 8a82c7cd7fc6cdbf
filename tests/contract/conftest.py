"""Fixtures of the contract suites."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def scratch() -> Path | None:
    """Folder in memory where there is one (None: the usual temporary folder).

    The in-process engine forces files to the disk at every turn, which takes the suite minutes on a busy disk.
    """
    shm = Path("/dev/shm")
    return shm if os.access(shm, os.W_OK) else None


@pytest.fixture
def folder(scratch: Path | None) -> Iterator[Path]:
    """An empty folder, gone after the test."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        yield Path(name)
