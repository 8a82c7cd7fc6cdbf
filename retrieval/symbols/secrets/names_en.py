"""English names after Mr, Ms, Dr …, after a label (Contact:, Name:) and in `My name is`, `signed by`.

After an honorific one capitalised word suffices; after a label it takes two, because much else stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound

_CAP = "A-Z\u00c0-\u00de\u0100-\u017e\u0386-\u03ab\u0410-\u042f"
_LETTER = "A-Za-z\u00c0-\u024f\u0386-\u03ff\u0400-\u045f'’-"
_WORD = rf"[{_CAP}][{_LETTER}]{{1,24}}"
_PARTICLE = r"(?:van der|van den|van|von|de la|de|del|der|da|dos|di|bin|ibn|al|el|la|le|ten|ter)"
_NEXT = rf"(?:\s(?:{_PARTICLE}\s)?{_WORD}|\s[{_CAP}]\.?(?=\s[{_CAP}]))"
_TITLED = re.compile(
    rf"(?:M(?:r|rs|s|x)|Dr|Prof)(?:\.\s?|\s)(?:(?:Dr|Prof)\.?\s)?({_WORD}{_NEXT}{{0,3}}"
    rf"|[A-Z]\.\s?{_WORD}{_NEXT}{{0,2}})"
    rf"|(?:Miss|Professor|Madam|Sir|Dame)\s({_WORD}{_NEXT}{{0,3}})"
    rf"|(?:M(?:R|RS|S)|DR)\.\s({_WORD}{_NEXT}{{0,3}})"
    rf"|m(?:r|rs|s)\.\s({_WORD}{_NEXT}{{0,3}})"
)
_LABELLED = re.compile(
    r"(?:(?:[Cc]ontact(?:\s[Pp]erson)?|(?:(?:[Ff]ull|[Ff]irst|[Ll]ast|[Cc]ustomer|[Cc]lient|[Cc]ontact"
    r"|[Ee]mployee|[Pp]atient|[Aa]pplicant|[Bb]orrower|[Hh]older|[Mm]y)\s)?(?:N|n|NA)(?:ame|ME)"
    r"|[Cc]ustomer|[Cc]lient|[Aa]ttn|[Aa]ttention|[Aa]ccount [Hh]older|[Cc]ard ?[Hh]older|[Bb]eneficiary"
    r"|[Ee]mployee|[Pp]atient|[Aa]pplicant|[Bb]orrower|[Ss]ignatory"
    r"|[Rr]elationship [Mm]anager|[Aa]dvis[eo]r|[Rr]ecipient|[Pp]ayee|[Ii]nsured|[Ss]igned|[Aa]uthor)\s?[:|]\s{0,2}"
    r"|[Mm]y name is\s|[Mm]y name's\s|(?:[Ss]igned|[Pp]repared|[Aa]pproved|[Rr]eviewed|[Ss]ubmitted|[Ww]itnessed"
    r"|[Cc]ertified)(?: on behalf of)? by:?\s)"
    rf"({_WORD}(?:{_NEXT}){{0,3}})"
)
_SINGLE = re.compile(r"[Mm]y name(?: is|'s)\s\Z")
_NO_NAME_LABEL = re.compile(
    r"(?:[Ff]ile|[Cc]ompany|[Pp]roduct|[Pp]roject|[Ff]und|[Bb]ank|[Uu]ser|[Dd]omain|[Hh]ost|[Bb]rand|[Tt]rade"
    r"|[Ll]egal|[Bb]usiness|[Dd]ocument|[Rr]eport|[Cc]ourse|[Ee]vent|[Ss]chool|[Tt]eam"
    r"|[Ff]irm|[Cc]orporate|[Ii]ssuer|[Ee]ntity|[Ss]ecurity|[Pp]lan|[Ss]tock|[Ss]treet|[Pp]lace|[Cc]ity"
    r"|[Cc]ountry|[Dd]isplay|[Vv]ariable|[Cc]lass|[Ff]ield|[Cc]olumn|[Tt]able)\s?\Z"
)
# What begins with a capital behind an honorific or a label and is no name, or ends one.
_WORDS = (
    "The This That These Those And But Or Of In On At To For From By With As If When Where Who What Which How Why"
    " It He She We They You I My Our Your His Her Their"
    " Is Are Was Were Has Have Had Will Would May Might Can Could Should Shall Must Do Does Did Not No Yes Please"
    " Thank Thanks Dear Hello Hi Regards Sincerely"
    " Chairman Chairwoman Chair President Speaker Secretary Minister Ambassador Judge Justice Director Officer"
    " Manager Chief Executive Vice Senior Deputy Head Partner Counsel"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June July August"
    " September October November December"
    " Company Corp Corporation Inc Ltd Limited LLC LLP PLC Group Bank Fund Trust Holdings Partners Capital"
    " Management Services Department Team Office Committee Board Center Centre"
    " University College School Institute Association Agency Authority Ministry Commission Council Hospital"
    " Foundation Report Form Policy Agreement Contract Plan Name Address Phone"
    " Tel Telephone Mobile Email Fax Date Title Position Number Account Customer Client Support Service Sales"
    " Relations Investor Investors Public Human Resources Annual Financial"
    " General Total Net Street Road Avenue Contact Signature Signed Attn Re Subject Mr Mrs Ms Miss Dr Prof Madam"
    " Sir Not Applicable Unknown None See Note Table"
)
_NO_NAME = frozenset(_WORDS.split())


def find_english_names(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text; the span is the name alone, without its honorific."""
    done = 0
    for match, least in sorted([*_titled(text), *_labelled(text)], key=lambda pair: pair[0].start()):
        group = match.lastindex or 1
        start = match.start(group)
        end = _name_end(text, start, match.end(group), least)
        if end is None or start < done:
            continue
        done = end
        yield SecretFound("person", " ".join(text[start:end].split()), start, end, confidence=0.8)


def _titled(text: str) -> Iterator[tuple[re.Match[str], int]]:
    for match in _TITLED.finditer(text):
        before = text[match.start() - 1 : match.start()] if match.start() else ""
        if not (before.isascii() and (before.isalnum() or before in ("_", "'"))) or not before:
            yield match, 1


def _labelled(text: str) -> Iterator[tuple[re.Match[str], int]]:
    for match in _LABELLED.finditer(text):
        start = match.start()
        before = text[max(0, start - 12) : start]
        if before and before[-1].isascii() and (before[-1].isalnum() or before[-1] == "_"):
            continue
        if not _NO_NAME_LABEL.search(before):
            yield match, 1 if _SINGLE.search(text[start : match.start(1)]) else 2


def _name_end(text: str, start: int, end: int, least: int) -> int | None:
    """Return where the words of a name end; None where fewer than `least` are one."""
    at, words = start, 0
    for word in re.finditer(r"\S+", text[start:end]):
        plain = word.group()
        if plain.rstrip(".") in _NO_NAME or (words and "\n" in text[at : start + word.start()]):
            break
        words += plain[0].isupper() and len(plain.rstrip(".")) > 1
        if plain[0].isupper():
            at = start + word.end()
    if words < least:
        return None
    surface = text[start:at]
    for ending in ("'s", "’s", "'", "’", "-"):
        surface = surface.removesuffix(ending)
    return start + len(surface)
