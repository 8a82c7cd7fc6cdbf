"""Inline markup of the gold set, check digits, and the small machinery both generators share.

Standard library only, and nothing of the product: the gold set must not know the rules it measures.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal

CLASS_OF = {
    **dict.fromkeys(
        (
            "amount",
            "percent",
            "percent_points",
            "ratio",
            "quantity",
            "date",
            "period",
            "time",
            "duration",
            "url",
            "ip_address",
        ),
        "value",
    ),
    **dict.fromkeys(("customer_risk", "fund_risk", "credit_rating", "deposit_line", "entity"), "code"),
    **dict.fromkeys(
        (
            "mobile",
            "phone",
            "id_card",
            "passport",
            "travel_permit",
            "social_security",
            "email",
            "bank_card",
            "iban",
            "credit_code",
            "plate",
            "address",
            "api_key",
            "person",
        ),
        "secret",
    ),
}
QUALIFIERS = ("about", "at_least", "at_most", "more_than", "less_than")

_MARK = re.compile(r"⟦([^⟦⟧]*)⟧", re.S)
_SLOT = re.compile(r"\{(\w+)\}")


def mark(kind: str, normal: str, surface: str, qualifier: str = "") -> str:
    """Write one symbol in markup."""
    tail = f"|{qualifier}" if qualifier else ""
    return f"⟦{kind}|{normal}|{surface}{tail}⟧"


def parse(marked: str) -> tuple[str, list[dict[str, object]]]:
    """Part marked text into plain text and its symbols, with character offsets.

    Raises:
        ValueError: The markup is broken or names an unknown kind or qualifier.
    """
    plain: list[str] = []
    symbols: list[dict[str, object]] = []
    length = 0
    last = 0
    for found in _MARK.finditer(marked):
        before = marked[last : found.start()]
        plain.append(before)
        length += len(before)
        parts = found[1].split("|")
        if len(parts) not in (3, 4) or parts[0] not in CLASS_OF or not parts[1] or not parts[2]:
            raise ValueError(f"broken markup: {found[0]}")
        kind, normal, surface = parts[:3]
        symbol: dict[str, object] = {
            "cls": CLASS_OF[kind],
            "kind": kind,
            "normal": normal,
            "start": length,
            "end": length + len(surface),
        }
        if len(parts) == 4:
            if parts[3] not in QUALIFIERS:
                raise ValueError(f"unknown qualifier: {found[0]}")
            symbol["qualifier"] = parts[3]
        symbols.append(symbol)
        plain.append(surface)
        length += len(surface)
        last = found.end()
    plain.append(marked[last:])
    text = "".join(plain)
    if "⟦" in text or "⟧" in text or _SLOT.search(text):
        raise ValueError(f"left-over markup: {text}")
    return text, symbols


class Rounds:
    """Gives each named writing its turn, so that every one appears about equally often."""

    def __init__(self, pools: dict[str, Sequence[Callable[[], str] | str]], rng: random.Random) -> None:
        self._pools = pools
        self._rng = rng
        self._queues: dict[str, list[Callable[[], str] | str]] = {}

    def next(self, name: str) -> str:
        """The next writing of a pool; a round ends before the next begins."""
        queue = self._queues.get(name)
        if not queue:
            queue = list(self._pools[name])
            self._rng.shuffle(queue)
            self._queues[name] = queue
        writing = queue.pop()
        return writing if isinstance(writing, str) else writing()

    def fill(self, template: str, lang: str) -> str:
        """Fill the slots: `{phone}` takes the pool `phone_zh` or `phone_en` where there is one, else `phone`."""

        def value(found: re.Match[str]) -> str:
            name = f"{found[1]}_{lang}"
            return self.next(name if name in self._pools else found[1])

        return _SLOT.sub(value, template)


def dump(split: str, lines: Iterable[tuple[str, str, str | None, str | None]]) -> str:
    """Turn (language, marked text, base date, note) into JSON lines; a text that came before is left out."""
    seen: set[str] = set()
    rows: list[str] = []
    for lang, marked, base, note in lines:
        text, symbols = parse(marked)
        if text in seen:
            continue
        seen.add(text)
        row: dict[str, object] = {"id": f"{split}-{len(rows) + 1:04d}", "lang": lang, "text": text}
        if base:
            row["base_date"] = base
        row["symbols"] = symbols
        if note:
            row["note"] = note
        rows.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(rows) + "\n"


def plain_decimal(value: Decimal) -> str:
    """Write a decimal without exponent and without idle zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def wide(text: str) -> str:
    """Write printable ASCII in full width."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else "\u3000" if c == " " else c for c in text)


def grouped(text: str, size: int, gap: str) -> str:
    """Break a text into groups from the left."""
    return gap.join(text[i : i + size] for i in range(0, len(text), size))


def digits(rng: random.Random, count: int) -> str:
    """Random digits."""
    return "".join(rng.choice("0123456789") for _ in range(count))


def luhn_digit(body: str) -> str:
    """The check digit that makes a payment card number right."""
    total = 0
    for i, c in enumerate(reversed(body)):
        d = int(c) * (2 if i % 2 == 0 else 1)
        total += d - 9 if d > 9 else d
    return str(-total % 10)


def id_check(body: str) -> str:
    """The check character of a mainland identity card (ISO 7064, MOD 11-2)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(c) * w for c, w in zip(body, weights, strict=True)) % 11]


OLD_REGIONS = ("110101", "110105", "110108", "310101", "310104", "120101")


def id_card(rng: random.Random, regions: Sequence[str], *, x: bool | None = None) -> str:
    """An invented identity card number whose region, date and check character are right."""
    while True:
        region = rng.choice(regions)
        # Many district codes are younger than their people; where one is old enough, older people have it.
        first = date(1955, 1, 1) if region in OLD_REGIONS else date(1993, 1, 1)
        born = first + timedelta(days=rng.randrange((date(2005, 1, 1) - first).days))
        body = f"{region}{born:%Y%m%d}{rng.randrange(1, 999):03d}"
        check = id_check(body)
        if x is None or (check == "X") == x:
            return body + check


def short_id(full: str) -> str:
    """The 15-digit writing of an identity card of the twentieth century."""
    return full[:6] + full[8:17]


_CODE = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def credit_code(rng: random.Random, regions: Sequence[str], kinds: Sequence[str] = ("91",)) -> str:
    """An invented unified social credit code (GB 32100), its organisation code (GB 11714) checked as well."""
    while True:
        org = "".join(rng.choice(_CODE) for _ in range(8)) if rng.random() < 0.7 else digits(rng, 8)
        values = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        total = sum(values.index(c) * w for c, w in zip(org, (3, 7, 9, 10, 5, 8, 4, 2), strict=True))
        check = 11 - total % 11
        org += {10: "X", 11: "0"}.get(check, str(check))
        body = rng.choice(kinds) + rng.choice(regions) + org
        total = sum(_CODE.index(c) * pow(3, i, 31) for i, c in enumerate(body))
        code = body + _CODE[-total % 31]
        if sum(c.isdigit() for c in code) < 18:
            return code


def iban(country: str, bban: str) -> str:
    """An IBAN with its check digits."""
    turned = "".join(str(int(c, 36)) for c in bban + country + "00")
    return f"{country}{98 - int(turned) % 97:02d}{bban}"
