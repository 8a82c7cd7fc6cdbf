"""The files of a folder, and what changed in it between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from api.client import displayed

_HIDDEN = (".", "~$")
_UNFINISHED = (".tmp", ".part", ".crdownload", ".download", ".swp", "~")
"""Endings of files that a program is still writing."""

_NEVER_TAKEN = (-1, -1)


def files_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a folder, at any depth, each with its name.

    The name is the path below the folder, beginning with the folder's own, whole: the server
    shortens it once it has taken the secrets out, for the digest of a long name would tell one.
    Hidden and unfinished files, all in hidden folders, links that lead out of the folder and what
    is no regular file (pipes, devices) are passed over.
    """
    place = folder.resolve()
    top = name_of(place)  # `.` and `..` have names too, `/` has none
    for file in sorted(folder.rglob("*")):
        below = file.relative_to(folder)
        passed_over = any(part.startswith(_HIDDEN) for part in below.parts) or file.name.endswith(_UNFINISHED)
        # Folders behind links are not searched, so a link can only be the last part.
        if not passed_over and file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(place)):
            yield file, displayed(Path(top, below).as_posix())


def name_of(path: Path) -> str:
    """Return a file's or folder's own name, as it is sent."""
    return displayed(path.name)


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the folder found."""

    ready: Sequence[tuple[Path, str]]
    """New and changed files that do not grow any more."""
    gone: Sequence[str]
    """Names of files that were there at an earlier look."""
    growing: bool
    """Some files were different a moment ago: look again soon."""
    empty: bool
    """There is no file at all, as in a drive that is not mounted."""


class FolderState:
    """Remembers the files of a folder from look to look. A file is ready when it has stayed the same for a while.

    Two looks alone would not do: they come as often as anything changes, and one between two changes of a file
    that grows all the time would find it the same.
    """

    def __init__(self, folder: Path, settle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._settle_s = settle_s
        self._clock = clock
        self.prefix = f"{name_of(folder.resolve())}/"
        """What all names of its files begin with."""
        self._seen: dict[Path, tuple[int, int]] = {}
        self._since: dict[Path, float] = {}
        self._taken: dict[Path, tuple[int, int]] = {}
        self._names: dict[Path, str] = {}

    def look(self) -> Look:
        """Look at the folder; what is reported ready or gone is not reported again until it changes."""
        present: dict[Path, tuple[int, int]] = {}
        since: dict[Path, float] = {}
        settled: set[Path] = set()
        for path, name in files_of(self._folder):
            now = self._clock()
            try:
                found = path.stat()
            except OSError:
                continue  # gone since it was listed
            sign = present[path] = (found.st_size, found.st_mtime_ns)
            since[path] = self._since[path] if self._seen.get(path) == sign else self._clock()
            if now - since[path] >= self._settle_s:
                settled.add(path)
            self._names[path] = name
        self._since = since
        pending = [path for path, sign in present.items() if self._taken.get(path) != sign]
        ready = [path for path in pending if path in settled]
        growing = len(ready) < len(pending)
        gone = [path for path in self._taken if path not in present]
        self._seen = present
        for path in ready:
            self._taken[path] = present[path]
        names = [self._names.pop(path) for path in gone]
        for path in gone:
            del self._taken[path]
        return Look([(path, self._names[path]) for path in ready], names, growing, not present)

    def try_again(self, path: Path, after_s: float) -> None:
        """Report a file once more when some time has gone, though it does not change."""
        if path in self._taken:
            # Not removed: when the file goes, a version of it that was taken earlier must go too.
            self._taken[path] = _NEVER_TAKEN
            self._since[path] = self._clock() + after_s - self._settle_s

    def names(self) -> set[str]:
        """Return the names of all files that the last look found."""
        return {self._names[path] for path in self._seen}
