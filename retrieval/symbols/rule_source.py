"""The rule files of a deployment, read again when they change."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from retrieval.errors import SymbolFileError
from retrieval.symbols.rule_files import RuleFile, merge, read_rule_file, read_rule_folder
from retrieval.symbols.rules import TenantRules

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
REST_S = 1.0
"""A change counts once it is so old: an editor may be half way through writing, or between two names of a file."""


class _Stamp(NamedTuple):
    """What tells a changed file from an unchanged one."""

    mtime_ns: int
    size_bytes: int
    inode: int


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as it was last looked at."""

    stamp: _Stamp
    good: RuleFile | None
    """The last contents that could be read."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _State:
    """What one tenant has."""

    stamps: Mapping[Path, _Stamp]
    rules: TenantRules
    problems: tuple[str, ...]


class RuleFiles:
    """A `RuleSource` over folders: the built-in files, `folder/*.toml`, `folder/tenants/<tenant>/*.toml`.

    Files are looked at no more than once a second, and a change is taken up within some two
    seconds. A file that an edit has broken counts as it was before; `problems` says what is wrong
    with it. Safe to share between threads.
    """

    def __init__(self, builtin: Path, folder: Path | None = None, *, now: Callable[[], float] = time.time) -> None:
        """Read all files, those of every tenant too.

        Args:
            builtin: the folder that comes with attest.
            folder: the deployment's; None: it has none.
            now: seconds since 1970, the clock of the files' times.

        Raises:
            SymbolFileError: A folder is missing, a file is malformed, or files contradict each other.
        """
        self._folders = (builtin, *([folder] if folder is not None else []))
        self._tenants = folder / "tenants" if folder is not None else None
        self._now = now
        self._known: dict[Path, _Known] = {}
        self._states: dict[str, _State] = {}
        self._looked: dict[str, float] = {}
        self._lock = threading.Lock()
        """Protects what is written above; readers of `_states` and `_looked` need none."""
        shared = [file for folder in self._folders for file in self._read_all(folder)]
        self._fallback = merge(shared)
        """For a tenant who comes when its files cannot be joined."""
        for own in sorted(self._tenants.iterdir()) if self._tenants is not None and self._tenants.is_dir() else ():
            if own.is_dir():
                merge(shared, self._read_all(own))

    def _read_all(self, folder: Path) -> list[RuleFile]:
        """Read a folder at the start, where a broken file is an error, and know its files as good."""
        stamps = _stamps([folder])
        for file in read_rule_folder(folder):
            if file.path in stamps:
                self._known[file.path] = _Known(stamps[file.path], file)
        return [known.good for path in stamps if (known := self._known.get(path)) and known.good is not None]

    def rules(self, tenant: str) -> TenantRules:
        """Return the rules of a tenant; see `RuleSource`."""
        return self._state(tenant).rules

    def look_again(self, tenant: str) -> None:
        """Do nothing: a change of a file counts within some two seconds."""

    def problems(self, tenant: str) -> tuple[str, ...]:
        """Return what is wrong with the files that this tenant has part in; see `RuleSource`."""
        return self._state(tenant).problems

    def paths(self, tenant: str) -> tuple[Path, ...]:
        """Return the files that this tenant has part in, those of all tenants first."""
        return tuple(self._state(tenant).stamps)

    def _state(self, tenant: str) -> _State:
        state, now = self._states.get(tenant), self._now()
        if state is not None:
            if 0 <= now - self._looked[tenant] < LOOK_EVERY_S:
                return state
            if not self._lock.acquire(blocking=False):
                return state  # another thread is looking
        else:
            self._lock.acquire()
        try:
            state = self._look(tenant, self._states.get(tenant), now)
            self._looked[tenant] = now
            self._states[tenant] = state
            return state
        finally:
            self._lock.release()

    def _look(self, tenant: str, former: _State | None, now: float) -> _State:
        shared = _stamps(self._folders)
        own = _stamps(self._own_folders(tenant))
        stamps = {**shared, **own}
        if former is not None and (stamps == former.stamps or not _rested(former.stamps, stamps, now)):
            return former
        for path in former.stamps if former is not None else ():
            known = self._known.get(path)
            if path not in stamps and known is not None and known.good is not None:
                counts = ", ".join(f"{number} {what}" for what, number in known.good.counts().items() if number)
                log.warning("symbol rules of tenant %s: %s is gone, and with it %s", tenant, path, counts or "nothing")
        files = {path: self._read(path, stamp) for path, stamp in stamps.items()}
        problems = [known.problem for known in files.values() if known.problem]
        good = {path: known.good for path, known in files.items() if known.good is not None}
        try:
            rules = merge([good[p] for p in shared if p in good], [good[p] for p in own if p in good])
        except SymbolFileError as exc:
            log.warning("symbol rules of tenant %s: %s; the rules stay as they were", tenant, exc)
            problems.append(str(exc))
            rules = former.rules if former is not None else self._fallback
        if former is not None and rules.revision == former.rules.revision:
            rules = former.rules
        elif former is not None:
            log.info("symbol rules of tenant %s: taken up, revision %s", tenant, rules.revision)
        return _State(stamps, rules, tuple(problems))

    def _read(self, path: Path, stamp: _Stamp) -> _Known:
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        good = known.good if known is not None else None
        try:
            file = read_rule_file(path)
            if good is not None and not stamp.size_bytes and any(good.counts().values()):
                # An editor or a full disk has cut it off; who wants its rules gone removes the file.
                raise SymbolFileError(f"{path}: is empty; remove the file if its rules are to go")
            lost = _lost(good, file)
            if lost:
                log.warning("symbol rules: %s", lost)
            fresh = _Known(stamp, file, lost)
        except SymbolFileError as exc:
            log.warning("symbol rules: %s; its rules stay as they were", exc)
            fresh = _Known(stamp, good, str(exc))
        self._known[path] = fresh
        return fresh

    def _own_folders(self, tenant: str) -> tuple[Path, ...]:
        if self._tenants is None or not tenant.strip(".") or "/" in tenant or "\\" in tenant:
            return ()  # no tenant's name leads out of the folder
        return (self._tenants / tenant,)


def _lost(before: RuleFile | None, after: RuleFile) -> str:
    """Say which sections of a file have lost all their entries by an edit; names that were secret show from then on."""
    if before is None:
        return ""
    left = after.counts()
    lost = [f"{what} {number} → 0" for what, number in before.counts().items() if number and not left[what]]
    return f"{after.path}: an edit took out all of a section: {', '.join(lost)}" if lost else ""


def _stamps(folders: Iterable[Path]) -> dict[Path, _Stamp]:
    """Return the stamps of the rule files of folders, in order of folder and name; a missing folder has none."""
    stamps: dict[Path, _Stamp] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                found = path.stat()
            except OSError:
                continue  # gone since it was listed
            stamps[path] = _Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
    return stamps


def _rested(former: Mapping[Path, _Stamp], stamps: Mapping[Path, _Stamp], now: float) -> bool:
    """Tell whether nothing that has changed did so only now; a file that went shows in its folder's time."""
    changed = [stamp.mtime_ns for path, stamp in stamps.items() if former.get(path) != stamp]
    for folder in {path.parent for path in former if path not in stamps}:
        try:
            changed.append(folder.stat().st_mtime_ns)
        except OSError:
            continue
    return not any(0 <= now - mtime_ns / 1e9 < REST_S for mtime_ns in changed)
