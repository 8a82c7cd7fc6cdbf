"""Web addresses: `scheme://…` and `www.…`; kept as written in the index text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.found import Found

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}\Z")
# Chinese ends an address (it is glued text) except in the name of the host.
_HOST = (
    r"(?:[^\s/?#@\ufffc]{0,128}@)?(?:\[[0-9A-Fa-f:.]{2,45}\]"
    r"|[A-Za-z0-9_\u00c0-\u024f-][A-Za-z0-9_.\u00c0-\u024f-]{0,252}"
    r"|[\u4e00-\u9fff]{1,20}\.[a-z\u4e00-\u9fff]{2,4}(?=[/:\s]))"
)
_REST = r"(?::[0-9]{1,5})?(?:[/?#][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%|{}^\\]*+)?"
_ADDRESS = re.compile(_HOST + _REST)
_WWW = re.compile(r"[wW]{3}\.(?:[A-Za-z0-9_-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9_-])" + _REST)
_PAIRS = ((")", "("), ("]", "["), ("}", "{"))
_NO_SCHEME = frozenset({"file", "data", "urn"})


def find_urls(text: str) -> Iterator[Found]:
    """Yield the web addresses of a folded text; the normal form has scheme and host in small letters."""
    done = 0
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(done, at - 16), at)
        address = _ADDRESS.match(text, at + 3)
        if scheme and address and scheme.group().lower() not in _NO_SCHEME:
            done = _end(text, address.start(), address.end())
            yield _found(text, scheme.start(), at + 3, done)
        at = text.find("://", max(at + 3, done))
    if "ww." in text or "WW." in text:
        for match in _WWW.finditer(text):
            start = match.start()
            before = text[max(0, start - 1) : start]
            if before in ("/", "@", ".", "-", "_") or (before.isascii() and before.isalnum()):
                continue
            yield _found(text, start, start, _end(text, start, match.end()))


def _found(text: str, start: int, host: int, end: int) -> Found:
    path = next((i for i in range(host, end) if text[i] in "/?#"), end)
    login = text.rfind("@", host, path) + 1 or host
    normal = f"{text[start:host].lower()}{text[host:login]}{text[login:path].lower()}{text[path:end]}"
    return Found("value", "url", normal, normal, start, end)


def _end(text: str, start: int, end: int) -> int:
    """Leave out the punctuation behind an address, and brackets that were opened before it."""
    surplus = {close: text.count(close, start, end) - text.count(open_, start, end) for close, open_ in _PAIRS}
    while end > start:
        last = text[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in ".,;:!?'*|\\":
            break
        end -= 1
    return end
