"""E-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound

_DOMAIN = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}")
_LOCAL_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+'-")


def find_emails(text: str) -> Iterator[SecretFound]:
    """Find e-mail addresses."""
    done = 0
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        start = at
        while domain and start > max(done, at - 64) and text[start - 1] in _LOCAL_CHARS:
            start -= 1
        while start < at and not text[start].isalnum():
            start += 1
        if domain and start < at:
            done = domain.end()
            yield SecretFound("email", text[start:done].lower(), start, done)
        at = text.find("@", max(at + 1, done))
