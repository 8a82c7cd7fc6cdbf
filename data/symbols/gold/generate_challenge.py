"""Write the challenge split: `python generate_challenge.py > challenge.jsonl`.

The sentences stand in `challenge_zh.txt` and `challenge_en.txt`, one a line. Always the same bytes.

Markup: `«kind|surface»` where the normal form follows from the writing, `«kind|normal|surface»` else, a qualifier
in a fourth place. `?` in an identity card, card, IBAN or credit code stands for its check digit; `«!kind|…?»` writes
one whose check digit is wrong as plain text. `@2024-08-15 ` before a sentence is its base date, `-` a hard negative;
a backslash with n or t is a line end or a tab.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from markup import dump, id_check, luhn_digit, mark

SHORT = {
    "am": "amount", "pc": "percent", "pp": "percent_points", "ra": "ratio", "qt": "quantity", "dt": "date",
    "pd": "period", "tm": "time", "du": "duration", "url": "url", "ip": "ip_address",
    "mob": "mobile", "ph": "phone", "id": "id_card", "pas": "passport", "tp": "travel_permit",
    "ss": "social_security", "em": "email", "bc": "bank_card", "ib": "iban", "cc": "credit_code", "pl": "plate",
    "ad": "address", "key": "api_key", "pn": "person",
    "cr": "customer_risk", "fr": "fund_risk", "rt": "credit_rating", "dl": "deposit_line", "en": "entity",
}  # fmt: skip
_MARK = re.compile(r"«([^«»]*)»", re.S)
_CODE = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_ALL = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _bare(text: str) -> str:
    return re.sub(r"[\s\-–—‐.·()]", "", unicodedata.normalize("NFKC", text)).upper()


def _checked(kind: str, surface: str, shift: int) -> str:
    """Put check digits where `?` stands; `shift` other than 0 makes the last one wrong."""
    if "?" not in surface or kind not in ("bank_card", "id_card", "iban", "credit_code"):
        return surface
    bare = _bare(surface)
    if kind == "bank_card":
        right = luhn_digit(bare[:-1])
        return surface.replace("?", str((int(right) + shift) % 10))
    if kind == "id_card":
        right = id_check(bare[:-1])
        return surface.replace("?", right if not shift else str(("0123456789X".index(right) + shift) % 10))
    if kind == "iban":
        turned = "".join(str(int(c, 36)) for c in bare[4:] + bare[:2] + "00")
        both = f"{(98 - int(turned) % 97 + shift) % 100:02d}"
        return surface.replace("?", both[0], 1).replace("?", both[1], 1)
    org = bare[8:16]
    check = 11 - sum(_ALL.index(c) * w for c, w in zip(org, (3, 7, 9, 10, 5, 8, 4, 2), strict=True)) % 11
    first = {10: "X", 11: "0"}.get(check, str(check))
    body = bare[:16] + first
    total = sum(_CODE.index(c) * pow(3, i, 31) for i, c in enumerate(body))
    return surface.replace("?", first, 1).replace("?", _CODE[(-total + shift) % 31], 1)


def _normal(kind: str, surface: str) -> str:
    """The normal form that follows from the writing."""
    half = unicodedata.normalize("NFKC", surface)
    if kind == "mobile":
        return _bare(half)[-11:]
    if kind == "phone":
        number = "".join(c for c in half if c.isdigit())
        if half.startswith(("+", "(+")):
            return "+" + number.replace("8600", "86")
        return "+86" + (number[1:] if number.startswith("0") else number)
    if kind == "id_card" and len(_bare(half)) == 15:
        body = _bare(half)[:6] + "19" + _bare(half)[6:]
        return body + id_check(body)
    if kind in ("id_card", "bank_card", "iban", "credit_code", "plate", "passport", "travel_permit", "social_security"):
        return _bare(half)
    if kind == "email":
        return re.sub(r"\s*[\[(]\s*at\s*[\])]\s*", "@", half.lower()).replace(" ", "")
    if kind == "percent" and "." in half:
        return half.rstrip("% ").rstrip("0").rstrip(".") + "%"
    if kind == "percent":
        return half.replace(" ", "").replace("+", "").replace(",", "")
    return half


def expand(line: str) -> str:
    """Write one sentence in the markup both other splits use."""

    def symbol(found: re.Match[str]) -> str:
        parts = found[1].split("|")
        wrong = parts[0].startswith("!")
        kind = SHORT[parts[0].lstrip("!")]
        surface = parts[1] if len(parts) == 2 else parts[2]
        surface = _checked(kind, surface, 3 if wrong else 0)
        if wrong:
            return surface
        normal = (parts[1] if len(parts) > 2 else "") or _normal(kind, surface)
        return mark(kind, normal, surface, parts[3] if len(parts) > 3 else "")

    return _MARK.sub(symbol, line.replace("\\n", "\n").replace("\\t", "\t"))


def sentences(path: Path, lang: str) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Read a file of sentences, one a line; lines that begin with `#` are remarks."""
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        note = base = None
        if line.startswith("-"):
            note, line = "hard negative", line[1:].strip()
        if found := re.match(r"@(\d{4}-\d\d-\d\d) ", line):
            base, line = found[1], line[found.end() :]
        try:
            yield lang, expand(line), base, note
        except (KeyError, ValueError, IndexError) as e:
            raise SystemExit(f"{path.name}: {e!r}: {line}") from e


def main() -> str:
    """The whole split as JSON lines."""
    here = Path(__file__).parent
    return dump("challenge", (row for lang in ("zh", "en") for row in sentences(here / f"challenge_{lang}.txt", lang)))


if __name__ == "__main__":
    sys.stdout.write(main())
