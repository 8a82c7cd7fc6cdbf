"""Keys of this installation: made once, kept beside the data with mode 0600, never in the database."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from api.errors import SettingsError
from retrieval.durable import sync_folder

KEY_BYTES = 32


def load_key(folder: Path, name: str, given: str | None, *, needed_by: Path | None = None) -> bytes:
    """Return a 32-byte key: the one given by settings (hex), else the one in `folder`, made at first use.

    Args:
        folder: where the keys lie.
        name: `pseudonym`, `vault` or `erasure`.
        given: the key from settings.
        needed_by: a folder of encrypted files; where it holds any, a missing key is lost, and no new one is made.

    Raises:
        SettingsError: the given or stored key is not 64 hex digits, or the key of existing data is missing.
    """
    if given is not None:
        return parse_key(given, f"ATTEST_KEYS_{name.upper()}")
    path = folder / f"{name}.key"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        if needed_by is not None and any(p.is_file() for p in needed_by.glob("??/*")):
            raise SettingsError(
                f"{path} is missing, but {needed_by} holds documents written under it: put the key back, "
                f"or give it as ATTEST_KEYS_{name.upper()}; a new key would not fit them"
            )
        # Written whole under another name, then linked: of two processes that start at
        # once one makes the key, both read the same, and neither sees half of it.
        draft = _draft(folder, name, secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return parse_key(path.read_text(encoding="ascii"), str(path))


def write_key(path: Path, key: bytes) -> None:
    """Put a key into a file, whole and durable, in the place of one that was there."""
    _draft(path.parent, path.stem, key).replace(path)
    sync_folder(path.parent)


def _draft(folder: Path, name: str, key: bytes) -> Path:
    draft = folder / f"{name}.{secrets.token_hex(4)}.tmp"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.hex())
        file.flush()
        os.fsync(file.fileno())
    return draft


def parse_key(text: str, where: str) -> bytes:
    """Return the key that 64 hex digits name; raises SettingsError, which names `where`, for any other text."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError(
            f"{where}: a key is {2 * KEY_BYTES} hex digits; make one with: openssl rand -hex {KEY_BYTES}"
        )
    return key
