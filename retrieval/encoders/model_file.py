"""Files that a model needs and that are made once on this machine: made whole or not at all, and checked when read."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

_HEAD = b"attest model 1\n"
_DIGEST_SIZE = 32
_LOCK_TIMEOUT_S = 120.0


def kept(folder: Path, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the content of `name` in `folder`; make and keep it where it is missing, cut short or changed.

    A lock file lets one process make it while others wait. A folder that cannot be written is no reason to
    do without: the content is then made anew at every start, and the log says so.

    Raises:
        TimeoutError: another process has been making it for two minutes.
    """
    path = folder / name
    content = _read(path)
    if content is not None:
        return content
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(folder / f"{name}.lock", timeout=_LOCK_TIMEOUT_S):
            content = _read(path)
            if content is None:
                if path.exists():
                    log.warning("%s is damaged and is made again", path)
                content = make()
                _write(path, content)
            return content
    except Timeout as exc:
        raise TimeoutError(f"{path}: another process is still making it") from exc
    except OSError as exc:
        log.warning("%s cannot be kept (%s); it is made at every start", path, exc.strerror or type(exc).__name__)
        return make() if content is None else content


def _read(path: Path) -> bytes | None:
    """Return the content behind the head, or None where there is none or it is not what was written."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    start = len(_HEAD) + _DIGEST_SIZE
    content = whole[start:]
    if whole[:start] != _HEAD + hashlib.sha256(content).digest():
        return None
    return content


def _write(path: Path, content: bytes) -> None:
    """Write beside and rename: whoever reads meanwhile sees the old file or the new one, never a part."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(_HEAD + hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
