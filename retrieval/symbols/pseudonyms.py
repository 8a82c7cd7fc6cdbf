"""Keyed pseudonyms: the same value is the same pseudonym for one tenant, and for nobody else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping

PREFIXES = {
    "mobile": "PHONE",
    "phone": "TEL",
    "id_card": "ID_CARD",
    "passport": "PASSPORT",
    "travel_permit": "PERMIT",
    "social_security": "SSN",
    "email": "EMAIL",
    "bank_card": "BANK_CARD",
    "iban": "IBAN",
    "credit_code": "CREDIT_CODE",
    "plate": "PLATE",
    "address": "ADDRESS",
    "api_key": "API_KEY",
    "person": "PERSON",
    "custom": "SECRET",
}
"""Kind of secret → the word in its pseudonym."""
_KINDS = {prefix: kind for kind, prefix in PREFIXES.items()}
_LENGTH = 13  # characters of 5 bits: 65 bits
_MIN_KEY_BYTES = 16
_ERASED = "erased"

# A run of digits is never a pseudonym: brackets around a telephone number must not hide it.
PSEUDONYM = re.compile(rf"\[({'|'.join(sorted(_KINDS))})_(?:{_ERASED}|(?![0-9]{{{_LENGTH}}}\])[0-9a-z]{{{_LENGTH}}})\]")
"""A pseudonym as it stands in a text, or what stands for an erased value; group 1 is its word."""


def put_in(text: str, values: Mapping[str, str]) -> str:
    """Return the text with values in the place of those pseudonyms that have one here."""
    return PSEUDONYM.sub(lambda match: values.get(match.group(), match.group()), text)


def tenant_key(pseudonym_key: bytes, tenant: str) -> bytes:
    """Derive the key of one tenant (HMAC-SHA256 as a one-block KDF, NIST SP 800-108).

    Raises:
        ValueError: The key is shorter than 16 bytes.
    """
    if len(pseudonym_key) < _MIN_KEY_BYTES:
        raise ValueError(f"the pseudonym key needs at least {_MIN_KEY_BYTES} bytes")
    return hmac.digest(pseudonym_key, b"attest pseudonym v1\x00" + tenant.encode(), hashlib.sha256)


def key_id(pseudonym_key: bytes) -> str:
    """Return a name of a deployment's pseudonym key that tells nothing of it: 16 hex digits."""
    return hmac.digest(pseudonym_key, b"attest pseudonym key id", hashlib.sha256)[:8].hex()


def tenant_erasure_key(erasure_key: bytes, tenant: str) -> bytes:
    """Derive the key of one tenant's fingerprints; the deployment's erasure key is never changed.

    Raises:
        ValueError: The key is shorter than 16 bytes.
    """
    if len(erasure_key) < _MIN_KEY_BYTES:
        raise ValueError(f"the erasure key needs at least {_MIN_KEY_BYTES} bytes")
    return hmac.digest(erasure_key, b"attest erasure v1\x00" + tenant.encode(), hashlib.sha256)


def fingerprint(key: bytes, kind: str, value: str) -> str:
    """Return what recognises an erased value without keeping it: 64 hex digits.

    Args:
        key: `tenant_erasure_key`; a pseudonym key would not do, for it changes.
        kind: of the secret.
        value: as normalised.
    """
    return hmac.digest(key, f"{kind}\x00{value}".encode(), hashlib.sha256).hex()


def erased(kind: str) -> str:
    """Return what stands for an erased value, e.g. `[PHONE_erased]`: nothing leads back from it."""
    return f"[{PREFIXES[kind]}_{_ERASED}]"


def is_erased(match: re.Match[str]) -> bool:
    """Tell whether a match of `PSEUDONYM` stands for an erased value: no symbol, for it is none of a kind."""
    return match.group().endswith(f"_{_ERASED}]")


def pseudonym(key: bytes, kind: str, value: str) -> str:
    """Return the pseudonym of a normalised value under a tenant's key, e.g. `[PHONE_k3f2a2mq7x4tw]`."""
    message = f"{kind}\x00{value}".encode()
    while True:
        digest = hmac.digest(key, message, hashlib.sha256)
        name = base64.b32encode(digest).decode("ascii").lower()[:_LENGTH]
        if not name.isdecimal():
            return f"[{PREFIXES[kind]}_{name}]"
        message = digest


def kind_of(match: re.Match[str]) -> str:
    """Return the kind of secret behind a match of `PSEUDONYM`."""
    return _KINDS[match.group(1)]
