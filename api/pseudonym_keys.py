"""The pseudonym key and its predecessor: two files, of which exactly one is the key of now, whenever a crash comes."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import NamedTuple

from api.errors import KeyChangeRefusedError
from api.keys import KEY_BYTES, load_key, parse_key, write_key


class PseudonymKeyPair(NamedTuple):
    """The key of now, and the one before it while a change of keys is under way."""

    current: bytes
    former: bytes | None


class PseudonymKeys:
    """Loads, changes and retires the pseudonym key of an installation. Blocking.

    A change copies the present key to the former one's place, then puts the new one in its place by
    one rename: a crash in between leaves two equal keys, and that is no change at all.
    """

    def __init__(self, folder: Path, given: str | None, given_former: str | None) -> None:
        """Take the folder of the keys, and the keys that settings give; given ones win over files."""
        self._folder = folder
        self._given = given
        self._given_former = given_former

    def load(self, needed_by: Path) -> PseudonymKeyPair:
        """Return the keys; the present one is made at first use (see `keys.load_key`).

        Raises:
            SettingsError: a key does not fit.
        """
        current = load_key(self._folder, "pseudonym", self._given, needed_by=needed_by)
        former = self._former()
        if former == current:
            self.retire()
            former = None
        return PseudonymKeyPair(current, former)

    def change(self) -> PseudonymKeyPair:
        """Make a new key the present one.

        Raises:
            KeyChangeRefusedError: settings give the key, or the last change is not over.
        """
        if self._given is not None:
            raise KeyChangeRefusedError(
                "ATTEST_KEYS_PSEUDONYM gives the pseudonym key: put it into ATTEST_KEYS_PSEUDONYM_FORMER, give a new "
                "one, and start attest again"
            )
        current = parse_key(self._path.read_text(encoding="ascii"), str(self._path))
        former = self._former()
        if former is not None and former != current:
            raise KeyChangeRefusedError("the last change of the pseudonym key is not over; see attest keys status")
        write_key(self._former_path, current)
        new = secrets.token_bytes(KEY_BYTES)
        write_key(self._path, new)
        return PseudonymKeyPair(new, current)

    def retire(self) -> None:
        """Remove the former key: nothing needs it any more."""
        self._former_path.unlink(missing_ok=True)

    @property
    def former_is_given(self) -> bool:
        """Whether settings give the former key: then an operator must take it out of them."""
        return self._given_former is not None

    @property
    def _path(self) -> Path:
        return self._folder / "pseudonym.key"

    @property
    def _former_path(self) -> Path:
        return self._folder / "pseudonym.former.key"

    def _former(self) -> bytes | None:
        if self._given_former is not None:
            return parse_key(self._given_former, "ATTEST_KEYS_PSEUDONYM_FORMER")
        try:
            text = self._former_path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        return parse_key(text, str(self._former_path))
