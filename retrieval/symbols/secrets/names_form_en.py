r"""English names in mail heads, minutes, sign-offs and beside a role: `From: X Y <…>`, `Regards,\nX Y`.

Two capitalised words at least, none of them a word of offices and business; a role without a colon also needs what goes
on after a name: a verb in small letters, a comma, an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.fold import MASK
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.names_en import FULL, NO_NAME
from retrieval.symbols.words import Words

_INITIALS = r"(?:[A-Z]\. ?){0,2}"
_NAME = rf"{_INITIALS}{FULL}"
_LABELS = (
    "present|attendees|attending|participants|apologies|in attendance|absent|witness|witnesses|driver|tenant"
    "|landlord|agent|caller|guest|supervisor|line manager|manager|director|chair"
    "|chairman|chairwoman|secretary|treasurer|ceo|cfo|coo|cto|cio|president|partner|counsel|attorney|solicitor"
    "|notary|auditor|trustee|executor|plaintiff|defendant|claimant|respondent|doctor|physician|nurse"
    "|teacher|student|parent|guardian|next of kin|emergency contact|sender|bill to|sold to|ship to|deliver to"
    "|prepared for|checked by|prepared by|approved by|reviewed by|reported by|sold by|requested by|authorised by"
    "|authorized by|issued by|received by|signed|signature|head of risk|head of sales|head of treasury|reviewer"
    "|approver|requester|assignee|reporter|interviewer|interviewee|candidate|policyholder|policy holder"
    "|account manager|case manager|project manager|case officer|loan officer|minutes taken by|minute taker"
    "|on behalf of|full name|print name"
)
_ROLES = (
    "chief executive officer|chief financial officer|chief operating officer|chief executive|finance director"
    "|managing director|executive director|sales director|director|chairman|chairwoman|chairperson"
    "|account manager|relationship manager|project manager|line manager|branch manager|general manager"
    "|case manager|loan officer|case officer|attorney|solicitor|barrister|counsel|auditor|trustee|borrower"
    "|tenant|landlord|plaintiff|defendant|claimant|nurse|captain|sergeant|detective"
    "|inspector|guest|witness|agent|founder|co-founder|treasurer|secretary|president|vice president|spokesman"
    "|spokeswoman|spokesperson|analyst|colleague|assistant|technician|engineer|driver|ceo|cfo|coo|cto"
)
_CALLS = ("this is", "I am", "I'm", "speaking with", "spoke to", "spoke with", "I,", "name is", "name's")
_CLOSINGS = (
    "regards|best|sincerely|thanks|cheers|best wishes|yours truly|yours faithfully|many thanks|respectfully|thank you"
)
_MAIL = ("From", "To", "Cc", "CC", "Bcc", "From:", "Sender")


def _writings(words: str) -> frozenset[str]:
    return frozenset(f for w in words.split("|") for f in (w, w.capitalize(), w.title(), w.upper()))


_LABEL_WORDS, _ROLE_WORDS, _CLOSING_WORDS = _writings(_LABELS), _writings(_ROLES), _writings(_CLOSINGS)
_HEADS = Words([*_LABEL_WORDS, *_ROLE_WORDS, *_CLOSING_WORDS, *_CALLS, *_MAIL, "Head of"])
_AFTER_LABEL = re.compile(rf"\s?:[^\S\n]{{0,3}}\n?[^\S\n]{{0,3}}({_NAME})")
_AFTER_HEAD_OF = re.compile(rf" [A-Z][A-Za-z &]{{1,24}}:\s?({_NAME})")
_AFTER_KNOWN = re.compile(rf"\s?:\s{{0,3}}{re.escape(MASK)}{{2,40}}")  # found before, and hidden from here
_LISTED = re.compile(rf"(?:, | and |, and |; | & )({_NAME})")
_AFTER_ROLE = re.compile(rf"(,)?\s({_NAME})")
_AFTER_CALL = re.compile(rf"\s({_NAME})")
_AFTER_CLOSING = re.compile(rf",?[^\S\n]*\n\s{{0,4}}({_NAME})(?=[^\S\n]*(?:\n|,|\||\Z))")
_AFTER_MAIL = re.compile(rf":?\s({_NAME})(?= ?[<\[({MASK}]|\n(?:To|Cc|CC|Sent|Date|Subject|Re|From)\b)")
_PERSON_GOES_ON = re.compile(
    r"[,.;:)(!?]|\Z|\n|['’]s\b|\s(?:said|will|would|is|had|and|who|to|from|at|in|of|on|for|with|about|by"
    r"|(?:[a-z]{2,}(?:ed|s))\b)"
)
_CALL_GOES_ON = re.compile(r"[,.;!?]|\Z|\n|\s(?:from|calling|speaking|here|at|with|about|again|of|and|on)\b")
_KNOWN_LISTED = re.compile(rf"(?:(?:, | and |, and |; | & ){re.escape(MASK)}{{2,40}}){{0,9}}")
# A word has an end: a run of capitals without a space is not read again from each of them.
_TWO_CAPITALS = re.compile(r"[A-Z\u00c0-\u024f][\w.'’-]{0,60}+\s[A-Z\u00c0-\u024f]")
_MOST = 20


def find_english_names_in_forms(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text; the span is the name alone."""
    if not _TWO_CAPITALS.search(text):
        return
    done = 0
    for word, start, at in _HEADS.find(text):
        if start < done or _is_word(text[start - 1 : start]) or _is_word(text[at : at + 1]):
            continue
        for begin, end in _beside(text, word, at):
            done = end
            yield SecretFound("person", " ".join(text[begin:end].split()), begin, end, confidence=0.7)


def _beside(text: str, word: str, at: int) -> Iterator[tuple[int, int]]:
    if word in _CLOSING_WORDS:
        yield from _one(text, _AFTER_CLOSING.match(text, at), most=3)
    elif word in _MAIL:
        yield from _one(text, _AFTER_MAIL.match(text, at))
    elif word in _CALLS:
        found = _AFTER_CALL.match(text, at)
        if found and _CALL_GOES_ON.match(text, found.end(1)):
            yield from _one(text, found)
    elif word == "Head of":
        yield from _one(text, _AFTER_HEAD_OF.match(text, at))
    else:
        label = _AFTER_LABEL.match(text, at) if word in _LABEL_WORDS else None
        if label is None and word in _LABEL_WORDS and (known := _AFTER_KNOWN.match(text, at)):
            label = _LISTED.match(text, known.end())
        if label:
            yield from _list(text, label)
        elif word in _ROLE_WORDS:
            found = _AFTER_ROLE.match(text, at)
            if found and _PERSON_GOES_ON.match(text, found.end(2)) and (not found[1] or text[found.end(2)] == ","):
                yield from _one(text, found, group=2)


def _list(text: str, label: re.Match[str]) -> Iterator[tuple[int, int]]:
    found: re.Match[str] | None = label
    for _ in range(_MOST):
        spans = list(_one(text, found)) if found else []
        if not spans:
            return
        yield from spans
        known = _KNOWN_LISTED.match(text, spans[0][1])
        found = _LISTED.match(text, known.end() if known else spans[0][1])


def _one(text: str, found: re.Match[str] | None, *, group: int = 1, most: int = 4) -> Iterator[tuple[int, int]]:
    """Yield the span of a name whose every word may be one."""
    if found is None:
        return
    start, end = found.span(group)
    name = text[start:end].split("\n")[0]
    words = name.split()
    if 2 <= len(words) <= most and not any(w.rstrip(".,'’") in NO_NAME or (w.isupper() and len(w) > 3) for w in words):
        yield start, start + len(name.removesuffix("'s").removesuffix("’s").rstrip("'’-"))


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
