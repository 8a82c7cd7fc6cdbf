"""Keys and tokens of machines: known beginnings, private key blocks, passwords in URLs, and what stands after a label.

What follows a label counts only where it looks drawn at random: words, file names, UUIDs and hashes of files do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.words import Words

_WORD = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9_])"
# What issuers write at the head of their keys → the whole key. The head is looked for first: that is a memory search.
_HEADS: dict[str, re.Pattern[str]] = {
    head.lower(): re.compile(_WORD + pattern)
    for head, pattern in {
        "sk-": r"sk-(?:[a-z]{2,8}[0-9]{0,2}-){0,4}(?=[A-Za-z_-]{0,250}[0-9])[A-Za-z0-9_-]{16,250}",
        "AKIA": rf"AKIA[A-Z0-9]{{16}}{_END}",
        "ASIA": rf"ASIA[A-Z0-9]{{16}}{_END}",
        "LTAI": rf"LTAI(?=[A-Za-z]{{0,26}}[0-9])[A-Za-z0-9]{{12,26}}{_END}",
        "AKID": rf"AKID(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{13,40}}{_END}",
        "ghp_": rf"ghp_[A-Za-z0-9]{{20,255}}{_END}",
        "gho_": rf"gho_[A-Za-z0-9]{{20,255}}{_END}",
        "ghu_": rf"ghu_[A-Za-z0-9]{{20,255}}{_END}",
        "ghs_": rf"ghs_[A-Za-z0-9]{{20,255}}{_END}",
        "ghr_": rf"ghr_[A-Za-z0-9]{{20,255}}{_END}",
        "github_pat_": r"github_pat_[A-Za-z0-9_]{20,255}",
        "glpat-": r"glpat-[A-Za-z0-9_-]{20,60}",
        "xox": r"xox[abeoprs]-(?=[A-Za-z-]{0,250}[0-9])[A-Za-z0-9-]{10,250}",
        "xapp-": r"xapp-[0-9]-[A-Za-z0-9-]{10,250}",
        "AIza": rf"AIza[A-Za-z0-9_-]{{30,40}}{_END}",
        **{
            f"{letter}k_{mode}_": rf"{letter}k_{mode}_[A-Za-z0-9]{{16,250}}"
            for letter in "rsp"
            for mode in ("live", "test")
        },
        "whsec_": r"whsec_[A-Za-z0-9+/]{20,100}={0,2}",
        "eyJ": r"eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}",
        "hf_": rf"hf_[A-Za-z0-9]{{30,40}}{_END}",
        "npm_": rf"npm_[A-Za-z0-9]{{36}}{_END}",
        "pypi-": r"pypi-[A-Za-z0-9_-]{50,250}",
        "SG.": r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
        "ya29.": r"ya29\.[A-Za-z0-9_-]{20,250}",
        "dop_v1_": rf"dop_v1_[a-f0-9]{{64}}{_END}",
    }.items()
}
_BEARER = re.compile(r"(?<![A-Za-z])[Bb]earer\s{1,2}(?=[A-Za-z._~+/-]{0,4000}[0-9])([A-Za-z0-9._~+/-]{16,4000}={0,2})")
_BASIC = re.compile(r"basic\s{1,2}([A-Za-z0-9+/]{8,1000}={0,2})(?![A-Za-z0-9])", re.I)
_BEFORE_BASIC = re.compile(r"authorization[\"']?\s?[:=]\s?[\"']?\Z", re.I)
_LOGIN = re.compile(r"[ =]?[\"']?[^\s:\"'\ufffc]{1,64}:([^\s\"'\ufffc]{3,128})")
"""What follows -u or --user of curl; the password alone is secret."""
_CURL_REACH = 300
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_PEM = 20_000
# A block that was cut in two keeps its head: what looks like its body goes with it.
_PEM_HEAD = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\\n]*[A-Za-z0-9+/=]{16,})*"
)
_USERINFO = re.compile(r"[^\s/@:?#\ufffc]{0,64}:([^\s/@\ufffc]{1,128})@(?=[A-Za-z0-9\[])")

_SECRET_LABELS = ("key", "secret", "token", "credential", "密钥", "秘钥", "私钥", "令牌", "凭证", "凭据")
_PASSWORD_LABELS = ("password", "passwd", "passphrase", "pwd", "密码", "口令")
_AFTER_LABEL = re.compile(
    r"s?(?:[ _-]?(?:id|value|string|[0-9]{1,2}))?[)\]\"'`”’」]{0,2}\s{0,2}(?:(?:[=:为是|])|(?<=\s)is\s)>?["
    r" \t]{0,3}\\?[\"'`“‘「]?"
    r"([A-Za-z0-9+/_.~!@#$%^&*-]{8,512}={0,2})",
    re.I,
)
_WORDS = Words([
    *_HEADS,
    *_SECRET_LABELS,
    *_PASSWORD_LABELS,
    "bearer",
    "basic ",
    " -u ",
    " --user",
    "://",
    "-----begin ",
])
# A key that is no secret: of a table, a cache, a product …
_OPEN_KEY = re.compile(
    r"(?:public|primary|foreign|partition|sort|cache|registry|product|unique|composite|object|row|group|index"
    r"|issue|jira"
    r"|translation|message|lookup|bucket|s3|routing|idempotency|cancellation|csrf)"
    r"[ _-]?(?:key|token)\Z",
    re.I,
)
_NEXT_PARAMETER = re.compile(r"&(?:amp;)?[A-Za-z_][A-Za-z0-9_.-]*=|&\Z")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\Z")
_PARTS = re.compile(r"[-_./+=]+")
_LEAST_RANDOM = 20
# Letters alone are drawn where their case changes all the time: theKeyOfTheHouse has longer runs.
_WORDS_OF_LETTERS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_WORD_LENGTH = 3.2
_LEAST_BITS = 3.0  # per character; English words joined by hyphens reach 3.5, but have no digits among the letters


def find_api_keys(text: str) -> Iterator[SecretFound]:
    """Yield the keys, tokens and passwords of a folded text; the value is the writing itself."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted(_candidates(text), key=lambda span: (span[0], -span[1])):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
            yield SecretFound("api_key", text[start:end], start, end)


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    small = text.lower()
    for word, start, end in _WORDS.find(small if len(small) == len(text) else text):
        if word in _HEADS:
            key = _HEADS[word].match(text, start)
            if key:
                yield start, key.end() - (key.group()[-1] in "-_")
        elif word == "bearer":
            token = _BEARER.match(text, start)
            if token:
                yield token.span(1)
        elif word == "basic ":
            login = _BASIC.match(text, start)
            if login and _BEFORE_BASIC.search(text, max(0, start - 20), start):
                yield login.span(1)
        elif word in (" -u ", " --user"):
            login = _LOGIN.match(text, end)
            if login and text.rfind("curl", max(0, start - _CURL_REACH), start) > -1:
                yield login.span(1)
        elif word == "://":
            password = _USERINFO.match(text, end)
            if password:
                yield password.span(1)
        elif word == "-----begin ":
            yield from _block(text, start, end)
        else:
            yield from _after_label(text, word, start, end)


def _block(text: str, start: int, head_end: int) -> Iterator[tuple[int, int]]:
    head = _PEM_HEAD.match(text, start)
    if head is None:
        return
    limit = text.find("-----BEGIN ", head_end, head_end + _LONGEST_PEM)
    end = text.find("-----END ", head_end, head_end + _LONGEST_PEM if limit < 0 else limit)
    foot = _PEM_END.match(text, end) if end >= 0 else None
    yield start, foot.end() if foot else head.end()


def _after_label(text: str, word: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    match = _AFTER_LABEL.match(text, end)
    if match is None or _OPEN_KEY.search(text, max(0, start - 24), end):
        return
    value = _NEXT_PARAMETER.split(match.group(1), maxsplit=1)[0].rstrip(".")
    at = match.start(1)
    if _looks_random(value) or (word in _PASSWORD_LABELS and _is_password(value)):
        yield at, at + len(value)


def _looks_random(value: str) -> bool:
    if len(value) < _LEAST_RANDOM or _UUID.fullmatch(value) or _FILE_NAME.search(value) or "://" in value:
        return False
    if any(c in "!@#$%^&*~" for c in value):
        return _is_password(value)
    if not any(c.isalpha() for c in value) or _bits(value) < _LEAST_BITS:
        return False
    if not any(c.isdigit() for c in value):
        return len(value) < _WORD_LENGTH * len(_WORDS_OF_LETTERS.findall(value))
    # annual_report_2024_v2: every part is a word, a number, or a word with a short number.
    parts = [part for part in _PARTS.split(value) if part]
    return any(not re.fullmatch(r"[A-Z]?[a-z]*[0-9]{0,4}|[A-Z]+[0-9]{0,4}", part) for part in parts)


def _is_password(value: str) -> bool:
    """Tell whether a value has a digit and two of small letters, capitals and signs."""
    kinds = (
        any(c.islower() for c in value),
        any(c.isupper() for c in value),
        any(not c.isalnum() for c in value),
    )
    return any(c.isdigit() for c in value) and sum(kinds) >= 2 and not _FILE_NAME.search(value) and "://" not in value


def _bits(value: str) -> float:
    """Return the Shannon entropy of the characters, bits per character."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())
