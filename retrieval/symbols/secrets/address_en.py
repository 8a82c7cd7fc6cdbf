"""English addresses: number, street and its type; post boxes; with suite, town, state and country where they follow.

The search goes from digit to digit; a street needs a capital and a type (Street, Rd …). Types that are common words
(Court, Drive, Park …) need more: a suite or a place behind them, or `at`, `address` before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.places_en import COUNTRIES, STATE_CODES, STATES

_CAP = "A-Z\u00c0-\u00de"
_LETTER = "A-Za-z\u00c0-\u024f"
_WORD = rf"(?:[{_CAP}][{_LETTER}'’.-]{{0,24}}|[0-9]{{1,3}}(?:st|nd|rd|th)|of|the|de|la|du|des|del|van)"
_STRONG = (
    r"(?:Street|St|Str|Road|Rd|Avenue|Ave|Av|Boulevard|Blvd|Lane|Ln|Terrace|Crescent|Parkway|Pkwy|Highway|Hwy|Turnpike"
    r"|Esplanade|Broadway|STREET|ROAD|AVENUE)"
)
_WEAK = (
    r"(?:Drive|Dr|Court|Ct|Place|Pl|Way|Square|Sq|Circle|Cir|Close|Row|Walk|Hill|Gardens|Grove|Mews|Quay|Trail"
    r"|Loop|Plaza|Park|Parade|Pike|Alley|Wharf|Yard|Path"
    r"|Ridge|Rise|Vale|View|Green|Crossing|Junction)"
)
# A lookbehind at the head would make `re` try it at every character; behind the first digit it costs nothing.
_NUMBER = r"[0-9](?<![A-Za-z0-9_.,/$€£¥#%:-][0-9])[0-9]{0,4}(?:[-/][0-9]{1,4})?[A-Za-z]?"
_NAMED = "Broadway|Piccadilly|Kingsway|Queensway|Strand|Cheapside|Eastcheap|Whitehall|Pall Mall"
# The type before the name: 12 Rue de la Paix, 25 Via Roma.
_ROMANCE = (
    r"(?:[Rr]ue|Avenue|Boulevard|Quai|Impasse|Via|Viale|Piazza|Rua|Calle|Avenida|Paseo)\s"
    rf"(?:(?:de|du|des|la|le|les|del|della|dos|da|do)\s|[dl]['’]){{0,3}}[{_CAP}][{_LETTER}'’-]{{1,24}}"
    rf"(?:\s(?:(?:de|du|des|la|del)\s)?[{_CAP}][{_LETTER}'’-]{{1,24}}){{0,2}}"
)
_STREET = re.compile(
    rf"{_NUMBER},?\s(?=[{_CAP}0-9r])(?:(?:{_WORD}\s){{1,5}}?(?:(?P<strong>{_STRONG})|{_WEAK}(?!\s(?:{_STRONG}|{_WEAK})\b))\b\.?"
    r"(?:\s(?:North|South|East|West|[NSEW]|NE|NW|SE|SW)\b\.?)?"
    rf"|(?:{_NAMED})\b|(?P<romance>{_ROMANCE}))"
)
_BOX = re.compile(
    r"(?:P\.?\s?O\.?\s?Box|Post Office Box|PO BOX|Postbox)\s[0-9]{1,6}\b"
    r"|(?:PSC|Unit|CMR)\s[0-9]{1,5},?\sBox\s[0-9]{1,5}\b|(?:USS|USNS|USNV"
    r"|USCGC)\s[A-Z][A-Za-z]{1,20}(?=,?\s{1,2}(?:APO|FPO|DPO)\s)"
)
_BEFORE = re.compile(
    r"(?:(?:Flat|Room|Rm|Unit|Suite|Apt|Apartment|Floor|Level|Tower|Block|Building|Shop|No)\.?\s?[A-Za-z0-9-]{0,6}"
    r"|[0-9]{1,3}/F|[0-9]{1,3}(?:st|nd|rd|th)\s(?:Floor|floor))(?:,\s?|\s)\Z"
)
_CALLED = re.compile(
    r"(?:\b(?:at|to|from|address|addresses|lives?|living|located|on|near|office|residence|home)\b[^\n.;]{0,12}"
    r"|[Aa]ddress:?\s?|地址[:为是]?\s?|\bat\s)\Z"
)
_UNIT = re.compile(
    r",?\s{1,3}(?:(?:Suite|Ste|Apt|Apartment|Unit|Floor|Fl|Room|Rm|Flat|Building|Bldg|Tower|Block"
    r"|Level)\b\.?\s?#?[A-Z0-9][A-Za-z0-9-]{0,6}"
    r"|#[0-9A-Z][0-9A-Za-z-]{0,6}|[0-9]{1,3}(?:st|nd|rd|th)\s[Ff]loor|[0-9]{1,3}/F)(?![A-Za-z0-9])"
)
_POSTCODE = (
    r"(?:[A-Z]{1,2}[0-9][A-Z0-9]?\s[0-9][A-Z]{2}|[A-Z][0-9][A-Z]\s?[0-9][A-Z][0-9]|[0-9]{5}-[0-9]{4}"
    r"|[0-9]{4,6})(?![0-9A-Za-z]|[.,][0-9])"
)
_TOWN = (
    rf"[{_CAP}](?:[{_LETTER}'’.-]{{1,24}})(?:\s(?:[{_CAP}][{_LETTER}'’.-]{{0,24}}|upon|on|under|de|la|of|le"
    rf"|sur)){{0,3}}"
)
_STATE = rf"(?:(?:{STATE_CODES})(?![A-Za-z.])|(?:{STATES})\b)"
_COUNTRY = rf"(?:{COUNTRIES})\b"
# Each part that may follow, the surest first.
_PARTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf",\s{{1,3}}[0-9]{{5}}\s{_TOWN}",
        rf",?\s{{1,3}}(?:{_TOWN}\s?,?\s{{1,3}})?(?:{_STATE},?\s{{1,3}})?{_POSTCODE}",
        r",?\s{1,3}(?:APO|FPO|DPO)\s(?:A[AEP])\s[0-9]{5}",
        rf",\s{{1,3}}(?:{_TOWN},\s{{1,3}})?{_STATE}",
        rf",?\s{{1,3}}(?:{_TOWN},?\s{{1,4}})?{_COUNTRY}(?:,?\s{{1,3}}{_POSTCODE})?",
        rf",\s{{1,3}}{_TOWN}(?:\s(?:District|County|City|Province|Township|Borough))",
        rf",\s{{1,3}}{_TOWN}(?=[,.;)\n\ufffc]|\s*\Z|\s(?:and|or|on|for|by|is|was|from|to|in|with)\b)",
    )
)
_NO_TOWN = re.compile(
    r",?\s{1,3}(?:However|Mr|Mrs|Ms|Dr|The|This|That|And|But|I|We|He|She|It|They|You|Tel|Phone|Mobile|Email"
    r"|E-mail|Fax|Contact|Attn|Who|When|Which|Where|If|In|On|At|For|Please|Thank|Thanks"
    r"|Mon|Tue|Wed|Thu|Fri|Sat|Sun|January|February|March|April|May|June|July|August|September|October|November"
    r"|December)(?![a-z]*[a-z]{3})\b"
)
_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}\s")
_YEAR_BEFORE = re.compile(
    r"(?:\b(?:in|since|during|of|until|by|for|year|fiscal|and|the|before|after)|[A-Z][a-z]{2,8}\.?|[0-9]{1,2},)\s\Z",
    re.I,
)
# Wall Street banks, Main Street shops: the trade, not the place.
_TRADE = re.compile(r"(?:Wall|Main|High|Fleet|Sesame)\s(?:Street|St)\b\Z")
_GOES_ON = re.compile(r"[ ](?!(?:and|or|in|on|at|is|was|near|to|for|with|by|from|has|had|will|between)\b)[a-z]")
_SENTENCE_GOES_ON = re.compile(r",|\s[a-z]")
_COUNTED = re.compile(
    r"[0-9]+[A-Za-z]?,?\s(?:Supreme|District|Circuit|Federal|Appeal|County|High|Superior|Bankruptcy|National"
    r"|Theme|Car|Hard|Disk|Flash|USB|Test|Industrial|Business|Science|Amusement|Retail|Water|Solar"
    r"|Wind)\s(?:Court|Park|Drive|Row)\b"
)


def find_english_addresses(text: str) -> Iterator[SecretFound]:
    """Yield the English addresses of a folded text; the value is the writing with single spaces."""
    done = 0
    for match in sorted(_candidates(text), key=re.Match[str].start):
        if match.start() < done:
            continue
        start = match.start()
        end = _tail_end(text, match.end())
        if match.re is _STREET and not _is_street(text, match, end):
            continue
        start = _head_start(text, start, done)
        done = end
        yield SecretFound("address", " ".join(text[start:end].split()), start, end, confidence=0.8)


def _candidates(text: str) -> Iterator[re.Match[str]]:
    yield from _STREET.finditer(text)
    if "Box" in text or "BOX" in text or "Postbox" in text or "USN" in text or "USS" in text:
        yield from _BOX.finditer(text)


def _is_street(text: str, match: re.Match[str], end: int) -> bool:
    start = match.start()
    before = text[max(0, start - 24) : start]
    if _COUNTED.match(match.group()):
        return False
    if _YEAR.match(match.group()) and end == match.end() and _YEAR_BEFORE.search(before):
        return False
    if end > match.end() or _CALLED.search(before):
        return True
    if match.group("strong") is None and match.group("romance") is None:
        return False
    return not (_TRADE.search(match.group()) and _GOES_ON.match(text, end))


def _head_start(text: str, start: int, done: int) -> int:
    for _ in range(4):
        part = _BEFORE.search(text, max(done, start - 24), start)
        if part is None or (part.start() > 0 and text[part.start() - 1].isalnum() and text[part.start() - 1].isascii()):
            return start
        start = part.start()
    return start


def _tail_end(text: str, at: int) -> int:
    for _ in range(4):
        unit = _UNIT.match(text, at)
        if unit is None:
            break
        at = unit.end()
    for _ in range(5):
        if _NO_TOWN.match(text, at):
            break
        part = next((m for m in (p.match(text, at) for p in _PARTS) if m), None)
        if part is None:
            break
        at = part.end()
    # The full stop is the one of `Rd.` where the sentence goes on.
    return at - 1 if text[at - 1] == "." and not _SENTENCE_GOES_ON.match(text, at) else at
