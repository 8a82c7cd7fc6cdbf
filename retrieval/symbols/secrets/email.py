"""E-mail addresses, also written `name [at] example.com` or `name(at)example(dot)com`, and with domains beyond ASCII.

The search goes from sign to sign and looks at no more than 64 characters before each, so its time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.fold import JOINER
from retrieval.symbols.secrets.found import SecretFound

_LETTERS = "\u00c0-\u1fff"  # of alphabets: Latin, Greek, Cyrillic, Arabic, those of India …
_LATIN = f"A-Za-z0-9{_LETTERS}{JOINER}"
_LOCAL_CHARS = frozenset(
    f"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+'-{JOINER}"
    + "".join(filter(str.isalpha, map(chr, range(0xC0, 0x2000))))
)
_LONGEST_LOCAL = 64  # RFC 5321
# Chinese before the sign is the name only where nothing else stands before it: 请联系zhang@… is glued text.
_CHINESE_LOCAL = re.compile(r"(?:^|[\s:;,，、。<(\[])([\u4e00-\u9fff]{1,6}[A-Za-z0-9._-]{0,20})\Z")

_SIGN = re.compile(r"@|[\[({<]\s?(?:at|AT|At|@)\s?[\])}>]|A(?<=[A-Za-z0-9] A)T(?= [A-Za-z0-9-]{1,40} DOT [A-Za-z])")
_SIGNS = ("@", "at]", "at)", "at}", "at>", "AT]", "AT)", "At]", "At)", "at ]", "at )", " AT ")
_DOT = r"(?:\.|\s?[\[({<]\s?(?:dot|DOT|点|\.)\s?[\])}>]\s?|\sDOT\s)"
_LABEL = rf"[{_LATIN}](?:[{_LATIN}-]{{0,61}}[{_LATIN}])?"
_DOMAIN = re.compile(
    rf"(?:{_LABEL}{_DOT}){{1,8}}"
    rf"(?:xn--[a-z0-9]{{2,30}}(?![A-Za-z0-9])|{JOINER}{{0,8}}[A-Za-z](?:{JOINER}{{0,8}}[A-Za-z]){{1,23}}(?![A-Za-z0-9])"
    rf"|[{_LETTERS}]{{2,24}})"
)
_CHINESE_DOMAIN = re.compile(
    rf"(?:[{_LATIN}\u4e00-\u9fff-]{{1,30}}\.){{1,3}}(?:中国|公司|网络|网址|网店|在线|中文网|集团|商城|政务|公益"
    rf"|香港|台湾|新加坡)"
)
_DOTS = re.compile(_DOT)
_SPACE = re.compile(r"\s?\Z")

# What ends like a domain but names a file (icon@2x.png) or a release (react@18.2.0.beta).
_FILE_TYPE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|pdf|docx?|xlsx?|html?|css|js|jsx|tsx?|json|ya?ml|toml|txt|md)\Z", re.I
)
_COMMON_END = re.compile(r"\.(?:com|net|org|edu|gov|info|biz|[a-z]{2})\Z", re.I)
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.")
# The scp form of a path: git@github.com:team/project.git, deploy@host.example.com:/var/www.
_REMOTE_PATH = re.compile(r":(?:[~/]|[A-Za-z0-9_.-]+/)")
_REMOTE_COMMAND = re.compile(r"(?:\b(?:ssh|scp|sftp|rsync|ssh-copy-id)\s(?:-\S+\s){0,3}|//)\Z")
# li.na @ example.com where nothing but the name stands before the sign; 5 apples @ example.com is prose.
_ALONE = re.compile(r"(?:\A|[\n:;,，。、；(（<\[|\u4e00-\u9fff])[ ]?[A-Za-z][A-Za-z0-9._%+-]{0,40} \Z")
_MAIL_LABEL = re.compile(r"(?:e-?mail|mail|邮箱|邮件|邮址)\s?[:为是]?\s?[A-Za-z0-9._%+-]{1,64}\s?\Z", re.I)


def find_emails(text: str) -> Iterator[SecretFound]:
    """Yield the e-mail addresses of a folded text; the value is the plain writing in small letters."""
    if not any(sign in text for sign in _SIGNS):
        return
    done = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < done:
            continue
        domain = _domain_after(text, sign)
        if domain is None:
            continue
        start = _local_start(text, sign, done)
        if start is None or _is_remote_path(text, start, domain):
            continue
        local = text[start : sign.start()].rstrip().replace(JOINER, "")
        done = domain.start() + len(domain.group().rstrip(JOINER))
        name = _DOTS.sub(".", domain.group().replace(JOINER, ""))
        yield SecretFound("email", f"{local}@{name}".lower(), start, done)


def _domain_after(text: str, sign: re.Match[str]) -> re.Match[str] | None:
    at = sign.end()
    if text[at : at + 1] in (" ", "\n"):
        # A line end may have torn the address behind the sign; a lone @ between words is prose without a label.
        if sign.group() == "@" and not (_is_glued(text, sign.start()) or _is_labelled(text, sign.start())):
            return None
        at += 1
    domain = _DOMAIN.match(text, at)
    if domain is None:
        domain = _CHINESE_DOMAIN.match(text, at)
    if domain is None or _RELEASE.match(domain.group()):
        return None
    file_type = _FILE_TYPE.search(domain.group())
    if file_type is None:
        return domain
    # ann@example.com.txt is a file with an address in its name, icon@2x.min.js is none.
    inner = _DOMAIN.fullmatch(text, at, at + file_type.start())
    return inner if inner and (_COMMON_END.search(inner.group()) or not inner.group()[0].isdigit()) else None


def _is_glued(text: str, at: int) -> bool:
    return text[at - 1 : at] in _LOCAL_CHARS and at > 0


def _is_labelled(text: str, at: int) -> bool:
    if _MAIL_LABEL.search(text, max(0, at - 80), at) is not None:
        return True
    domain = _DOMAIN.match(text, at + 2) if text.startswith(" @ ", at - 1) else None
    is_host = domain is not None and _COMMON_END.search(domain.group()) and not domain.group().startswith("www.")
    return bool(is_host) and _ALONE.search(text[max(0, at - 48) : at]) is not None


def _local_start(text: str, sign: re.Match[str], done: int) -> int | None:
    """Return where the name before the sign begins; None where there is none."""
    end = sign.start()
    if text[end - 1 : end] == " " and (sign.group() != "@" or _is_labelled(text, end)):
        end -= 1
    start = end
    while start > max(done, end - _LONGEST_LOCAL) and text[start - 1] in _LOCAL_CHARS:
        start -= 1
    while start < end and not text[start].isalnum():
        start += 1
    before = text[max(done, start - 28) : end]
    chinese = _CHINESE_LOCAL.search(before) if start > done and _is_chinese(text[start - 1]) else None
    if chinese and start == end:
        return end - len(chinese.group(1))
    return start if start < end else None


def _is_chinese(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def _is_remote_path(text: str, start: int, domain: re.Match[str]) -> bool:
    return (
        _REMOTE_PATH.match(text, domain.end()) is not None
        or _REMOTE_COMMAND.search(text[max(0, start - 30) : start]) is not None
    )
