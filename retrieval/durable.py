"""What makes a change of names last: files that were made, renamed or removed in a folder."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk: a rename is durable only when its folder is (POSIX)."""
    if os.name != "posix":  # Windows cannot open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
