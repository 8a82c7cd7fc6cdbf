"""The folders that a shard lives in, one after the other, and the small file that says which one counts.

A shard is rewritten into a new folder beside it. One durable change of that file puts the new
one in the place of the old one; whenever a crash comes, the folder that the file names is whole.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from retrieval.durable import sync_folder

FIRST: Final = "shard"
_LATER: Final = re.compile(r"shard\.(\d+)")
_POINTER: Final = "current"


class Generations:
    """The shard folders within the folder of an index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def current(self) -> Path:
        """The folder that counts; it need not exist yet."""
        try:
            name = (self._folder / _POINTER).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            name = FIRST
        return self._folder / name

    def following(self) -> Path:
        """Return an absent folder for what shall take the current one's place."""
        later = _LATER.fullmatch(self.current.name)
        path = self._folder / f"{FIRST}.{int(later[1]) + 1 if later else 1}"
        shutil.rmtree(path, ignore_errors=True)
        return path

    def switch(self, path: Path) -> None:
        """Let a folder that is whole and on the disk count from now on."""
        for folder in (path, *(each for each in path.rglob("*") if each.is_dir())):
            sync_folder(folder)
        draft = self._folder / f"{_POINTER}.tmp"
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(path.name)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self._folder / _POINTER)
        sync_folder(self._folder)

    def settle(self) -> None:
        """Remove what a crash, or an older release that renamed folders, has left beside the current one."""
        current = self.current
        former = self._folder / f"{FIRST}.former"
        if former.exists() and not current.exists() and current.name == FIRST:
            former.rename(current)
        for each in self._folder.iterdir():
            if each != current and each.is_dir() and (each.name == FIRST or each.name.startswith(f"{FIRST}.")):
                shutil.rmtree(each, ignore_errors=True)


def size_on_disk(path: Path) -> int:
    """Return the bytes a folder takes on the disk: less than its files' lengths, where these have holes."""
    found = (each.stat() for each in path.rglob("*") if each.is_file())
    return sum(getattr(stat, "st_blocks", stat.st_size // 512 + 1) * 512 for stat in found)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder nobody writes to, leaving the holes in its files out."""
    target.mkdir(mode=0o700)
    for each in sorted(source.rglob("*")):
        to = target / each.relative_to(source)
        if each.is_dir():
            to.mkdir()
        else:
            _copy_file(each, to)


def _copy_file(source: Path, target: Path) -> None:
    if not hasattr(os, "SEEK_DATA") or not hasattr(os, "sendfile"):
        shutil.copyfile(source, target)
        return
    with source.open("rb") as read, target.open("wb") as write:
        size = os.fstat(read.fileno()).st_size
        os.truncate(write.fileno(), size)
        at = 0
        while at < size:
            try:
                at = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:  # only a hole is left
                return
            end = os.lseek(read.fileno(), at, os.SEEK_HOLE)
            os.lseek(write.fileno(), at, os.SEEK_SET)
            while at < end and (sent := os.sendfile(write.fileno(), read.fileno(), at, end - at)):
                at += sent
