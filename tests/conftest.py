"""What every test may use. Fakes live beside their Protocols, not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the small real documents that ship with the project."""
    return REPOSITORY / "data" / "samples"


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """Folder of the evaluation data; skips where it is not laid out."""
    folder = os.environ.get("ATTEST_EVAL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ATTEST_EVAL_DATA names no folder with the evaluation data")
    return Path(folder)
