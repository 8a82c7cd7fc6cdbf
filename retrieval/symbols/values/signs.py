"""What stands right before a number, and whether it stands alone in its cell."""

from __future__ import annotations

# What ends the first figure of a range: a dash after it is no minus.
_ENDINGS = frozenset("–—元万亿年月日")
_UNIT_ENDINGS = frozenset("时分秒点米里吨克斤顷亩升度瓦人名位户家股份件台辆笔次只页倍成‰℃")


def is_sign(text: str, at: int) -> bool:
    """Tell whether the dash at position `at` can be a minus sign rather than a range, a hyphen or a dash."""
    if at < 0 or text[at] not in "-–":
        return False
    before = text[at - 1] if at else " "
    if text[at] == "–" and not before.isspace():
        return False
    if (before.isascii() and (before.isalnum() or before in "_%)-")) or before in _ENDINGS:
        return False
    # 276米-285米, but 温度-18℃: a unit ends a figure only behind digits.
    return before not in _UNIT_ENDINGS or not any(char.isdecimal() for char in text[max(0, at - 4) : at - 1])


def sign_before(text: str, start: int) -> tuple[int, bool]:
    """Return (start, negative) of a number at `start`, its plus or minus sign taken in."""
    before = text[start - 1 : start]
    if before == " " and text[start - 2 : start - 1] in ("s", "S"):
        return _minus_before(text, start)
    if not before or before not in "+-–负":
        return start, False
    if before == "+":  # T+3 is a day of settlement
        joined = text[start - 2 : start - 1]
        return (start, False) if joined.isascii() and joined.isalnum() else (start - 1, False)
    if before == "负":
        return (start - 1, True) if text[start - 2 : start - 1] not in ("担", "肩", "胜", "正") else (start, False)
    return (start - 1, True) if is_sign(text, start - 1) else (start, False)


_MINUS = "minus "
_ROOM = " (|:;,\n\t"


def _minus_before(text: str, start: int) -> tuple[int, bool]:
    """Read the word; `plus or minus 2%` has no sign, and after a figure it takes one away (`5% minus 2%`)."""
    at = start - len(_MINUS)
    if at < 0 or text[at:start].lower() != _MINUS or (at and text[at - 1] not in _ROOM):
        return start, False
    earlier = text[max(0, at - 4) : at].rstrip()
    is_other = earlier.lower().endswith((" or", "and", "/")) or earlier[-1:].isdecimal() or earlier[-1:] in ("%", "‰")
    return (start, False) if is_other else (at, True)


def in_cell(text: str, start: int, end: int) -> bool:
    """Tell whether the span fills a table cell or a line by itself."""
    left, right = text[max(0, start - 3) : start], text[end : end + 3]
    return (not left.strip(" ") or left.rstrip(" ")[-1] in "|\t\n") and (
        not right.strip(" ") or right.lstrip(" ")[0] in "|\t\r\n"
    )
