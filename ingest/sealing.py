"""Texts that may be secret, sealed under a key derived from the vault's, outside the vault's own tables."""

from __future__ import annotations

import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ingest.errors import VaultKeyError

_NONCE_BYTES = 12
_MIN_KEY_BYTES = 32


class Seal:
    """Seals and opens texts of one purpose, each tenant's under a key of its own (AES-GCM)."""

    def __init__(self, key: bytes, purpose: str) -> None:
        """Take the vault's master key and what the texts are for; no two purposes can read each other's.

        Raises:
            VaultKeyError: the key is too short.
        """
        if len(key) < _MIN_KEY_BYTES:
            raise VaultKeyError(f"the vault key needs at least {_MIN_KEY_BYTES} bytes")
        self._key = key
        self._purpose = purpose
        self.key_id = self._derived("key id")[:8].hex()

    def seal(self, tenant: str, name: str, text: str) -> bytes:
        """Seal a text; it opens under this tenant and name alone."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + AESGCM(self._derived(f"seal {tenant}")).encrypt(nonce, text.encode(), name.encode())

    def open(self, tenant: str, name: str, sealed: bytes) -> str:
        """Return the text.

        Raises:
            VaultKeyError: it was changed, or sealed under another key or name.
        """
        cipher = AESGCM(self._derived(f"seal {tenant}"))
        try:
            return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], name.encode()).decode()
        except (InvalidTag, ValueError) as exc:
            raise VaultKeyError(f"a sealed text ({self._purpose}) cannot be opened under the present key") from exc

    def fingerprint(self, tenant: str, text: str) -> str:
        """Return what tells equal texts from different ones, 64 hex digits, and nothing else of them."""
        return hmac.digest(self._derived(f"fingerprint {tenant}"), text.encode(), hashlib.sha256).hex()

    def _derived(self, use: str) -> bytes:
        info = f"attest {self._purpose} {use}".encode()
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self._key)
