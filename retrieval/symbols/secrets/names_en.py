"""English names after Mr, Ms, Dr …, after a label (Contact:, Name:) and in `My name is`, `signed by`.

After an honorific one capitalised word suffices; after a label it takes two, because much else stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.roles_zh import LABELS, OFFICES, PLAIN_HONORIFICS
from retrieval.symbols.words import Words

_CAP = "A-Z\u00c0-\u00de\u0100-\u017e\u0386-\u03ab\u0410-\u042f"
_LETTER = "A-Za-z\u00c0-\u024f\u0386-\u03ff\u0400-\u045f'’-"
_WORD = rf"(?:[dDlL]['’])?[{_CAP}][{_LETTER}]{{1,24}}"
_PARTICLE = r"(?:van der|van den|van|von|de la|de|del|der|da|dos|di|bin|ibn|al|el|la|le|ten|ter)"
_NEXT = rf"(?:\s(?:{_PARTICLE}\s)?{_WORD}|\s[{_CAP}]\.?(?=\s[{_CAP}]))"
FULL = rf"{_WORD}{_NEXT}{{0,3}}"
_TITLES = ("Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "MR.", "MRS.", "MS.", "DR.", "mr.", "mrs.", "ms.")
_SODA = re.compile(r"\.? ?Pepper\b")
_LONG_TITLES = ("Miss", "Professor", "Madam", "Sir", "Dame")
_AFTER_TITLE = re.compile(rf"(?:\.\s?|\s)(?:(?:Dr|Prof)\.?\s)?((?:[A-Z]\.\s?)?{FULL})")
_AFTER_CAPITALS = re.compile(rf"\s?({FULL})")
_LABELS = (
    "contact|contact person|name|customer|client|attn|attention|account holder|cardholder|card holder|beneficiary"
    "|employee"
    "|patient|applicant|borrower|signatory|relationship manager|advisor|adviser|recipient|payee|insured|author"
)
_SIGNED = "signed|prepared|approved|reviewed|submitted|witnessed|certified"
_AFTER_LABEL = re.compile(rf"\s?[:|]\s{{0,2}}({FULL})")
_SURNAME_FIRST = re.compile(rf"\s?[:|]\s{{0,2}}({_WORD}, {_WORD})(?=\s*(?:[\n|;(]|\Z))")
_AFTER_DEAR = re.compile(rf"\s({FULL})(?=\s?[,:!\n]|\Z)")
_AFTER_NAME = re.compile(rf"(?: is|'s)\s({FULL})")
_AFTER_SIGNED = re.compile(rf"(?:(?: on behalf of)? by:?\s|\s?:\s{{0,2}})({FULL})")


def _writings(labels: str) -> frozenset[str]:
    """Return the labels in small letters, with a capital, with capitals, and all in capitals."""
    words = labels.split("|")
    return frozenset(form for word in words for form in (word, word.capitalize(), word.title(), word.upper()))


_LABEL_WORDS = _writings(_LABELS)
_SIGNED_WORDS = _writings(_SIGNED)
# 联系人:John Smith, 客户经理 Emily Zhang, Peter Novak先生
_CHINESE_LABELS = frozenset([label for label in LABELS if label[-1] in "人名"]) | OFFICES
_AFTER_CHINESE = re.compile(rf"\s?[:为是]?\s{{0,2}}({FULL})")
_BEFORE_CHINESE = re.compile(rf"({FULL})\s?\Z")
_HEADS = Words([*_TITLES, *_LONG_TITLES, "Dear", *_LABEL_WORDS, *_SIGNED_WORDS, *_CHINESE_LABELS, *PLAIN_HONORIFICS])
_MY = re.compile(r"\b[Mm]y \Z")
_NO_NAME_LABEL = re.compile(
    r"(?:[Ff]ile|[Cc]ompany|[Pp]roduct|[Pp]roject|[Ff]und|[Bb]ank|[Uu]ser|[Dd]omain|[Hh]ost|[Bb]rand|[Tt]rade"
    r"|[Ll]egal|[Bb]usiness|[Dd]ocument|[Rr]eport|[Cc]ourse|[Ee]vent|[Ss]chool|[Tt]eam"
    r"|[Ff]irm|[Cc]orporate|[Ii]ssuer|[Ee]ntity|[Ss]ecurity|[Pp]lan|[Ss]tock|[Ss]treet|[Pp]lace|[Cc]ity"
    r"|[Cc]ountry|[Dd]isplay|[Vv]ariable|[Cc]lass|[Ff]ield|[Cc]olumn|[Tt]able)\s?\Z"
)
# What begins with a capital behind an honorific or a label and is no name, or ends one.
_WORDS = (
    "The This That These Those And But Or Of In On At To For From By With As If When Where Who What Which How Why"
    " It He She We They You I My Our Your His Her Their Is Are Was Were Has Have Had Will Would May Might Can"
    " Could Should Shall Must Do Does Did Not No Yes Please Thank Thanks Dear Hello Hi Regards Sincerely Chairman"
    " Chairwoman Chair President Speaker Secretary Minister Ambassador Judge Justice Director Officer Manager"
    " Chief Executive Vice Senior Deputy Head Partner Counsel Monday Tuesday Wednesday Thursday Friday Saturday"
    " Sunday January February March April June July August September October November December Company Corp"
    " Corporation Inc Ltd Limited LLC LLP PLC Group Bank Fund Trust Holdings Partners Capital Management Services"
    " Department Team Office Committee Board Center Centre University College School Institute Association Agency"
    " Authority Ministry Commission Council Hospital Foundation Report Form Policy Agreement Contract Plan Name"
    " Address Phone Tel Telephone Mobile Email Fax Date Title Position Number Account Customer Client Support"
    " Service Sales Relations Investor Investors Public Human Resources Annual Financial General Total Net Street"
    " Road Avenue Contact Signature Signed Attn Re Subject Mr Mrs Ms Miss Dr Prof Madam Sir Not Applicable"
    " Unknown None See Note Table Who Help Desk Ops All Staff Reply Care Accounts Payable Receivable Payroll Full"
    " Part Time Windows Update System Systems Admin Administrator Finance Legal Procurement Purchasing Treasury"
    " Operations Compliance Risk Security Audit Training Program Programme Handbook Notes Guide Meeting Summit"
    " Award Desk Unit Division Branch Store Shop Warehouse Dock Hall Hotel House Grand Room Floor Trading"
    " Logistics Solutions Technologies Technology Software Very So Too Really Also Only Just New North South East"
    " West Central United National International Global Prevention Development Marketing Engineering Production"
    " Quality Safety Health Data Digital Media Project Product Members Member Employees Directors Managers"
    " Officers Suppliers Vendor Vendors Shareholders Value Future Present City County State Republic Kingdom"
    " Island River Lake Park Square Plaza Tower Building Street Court Station Port Airport University Exchange"
    " Stock Market Markets Securities Insurance Assurance Mutual Bros Brothers Sons Associates Corporate"
    " Controller Co Consulting Advisory Ventures Equity Energy Power Oil Gas Steel Motors Foods Pharma"
    " Life Grid Precision"
    " Biotech"
    " Bio Press Times News Bachelor Master Science Arts Law Business School Permit Certificate License Licence"
    " Day Week Month Year Quarter"
)
NO_NAME = frozenset(_WORDS.split())


def find_english_names(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text; the span is the name alone, without its honorific."""
    done = 0
    for word, start, at in _HEADS.find(text):
        if start < done or (word.isascii() and (_goes_on(text[start - 1 : start]) or _goes_on(text[at : at + 1]))):
            continue
        name, least = _beside(text, word, start, at, done)
        end = english_name_end(text, name.start(1), name.end(1), least) if name else None
        if name and end is not None:
            done = end
            begin = name.start(1)
            yield SecretFound("person", " ".join(text[begin:end].split()), begin, end, confidence=0.8)


def _beside(text: str, word: str, start: int, at: int, done: int) -> tuple[re.Match[str] | None, int]:
    """Return what may be a name beside a word, and how many words it must have."""
    if word == "Dear":
        return _AFTER_DEAR.match(text, at), 2
    if word in _TITLES:
        if word in ("Dr", "DR.") and _SODA.match(text, at):
            return None, 1
        return (_AFTER_CAPITALS if word[-1] == "." else _AFTER_TITLE).match(text, at), 1
    if word in _LONG_TITLES:
        return _AFTER_TITLE.match(text, at) if text[at : at + 1] == " " else None, 1
    if word in PLAIN_HONORIFICS:
        return _BEFORE_CHINESE.search(text, max(done, start - 60), start), 1
    if word in _CHINESE_LABELS:
        return _AFTER_CHINESE.match(text, at), 2
    before = text[max(0, start - 14) : start]
    if word in _SIGNED_WORDS:
        return _AFTER_SIGNED.match(text, at), 2
    if word in ("name", "Name") and _MY.search(before):
        return _AFTER_NAME.match(text, at), 1
    if _NO_NAME_LABEL.search(before):
        return None, 2
    return _SURNAME_FIRST.match(text, at) or _AFTER_LABEL.match(text, at), 2


def _goes_on(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def english_name_end(text: str, start: int, end: int, least: int) -> int | None:
    """Return where the words of a name end; None where fewer than `least` are one."""
    at, words = start, 0
    for word in re.finditer(r"\S+", text[start:end]):
        plain = word.group()
        if plain.rstrip(".,") in NO_NAME or (words and "\n" in text[at : start + word.start()]):
            break
        is_name = plain[0].isupper() or plain[1:2] in ("'", "’")
        words += is_name and len(plain.rstrip(".")) > 1
        if is_name:
            at = start + word.end()
    surface = text[start:at]
    if words < least:
        return None
    for ending in ("'s", "’s", "'", "’", "-"):
        surface = surface.removesuffix(ending)
    return start + len(surface)
