"""A folder that is rewritten beside itself and takes its own place: at any crash one of the two is whole."""

from __future__ import annotations

import shutil
from pathlib import Path

from retrieval.durable import sync_folder


def begin(path: Path) -> Path:
    """Return an empty folder beside `path` for what will take its place."""
    fresh = _fresh(path)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    return fresh


def swap(path: Path) -> None:
    """Put the new folder, which is whole and closed, in the place of `path`, and remove what was there."""
    former = _former(path)
    shutil.rmtree(former, ignore_errors=True)
    path.rename(former)
    _fresh(path).rename(path)
    sync_folder(path.parent)
    shutil.rmtree(former)


def settle(path: Path) -> None:
    """End what a crash has cut off: the folder that is whole stays, the other goes."""
    former = _former(path)
    if former.exists() and not path.exists():
        former.rename(path)
    shutil.rmtree(former, ignore_errors=True)
    shutil.rmtree(_fresh(path), ignore_errors=True)


def _fresh(path: Path) -> Path:
    return path.with_name(f"{path.name}.fresh")


def _former(path: Path) -> Path:
    return path.with_name(f"{path.name}.former")
