"""Office formulas (OMML) as linear text: `x=(-b±√(b^2-4ac))/2a`, as a person would type them.

ECMA-376 part 1, 22.1. Symbols stay the characters they are; only the layout becomes signs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
_DRAWING_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_DELETED = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}del"
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
"""Function application, invisible times and the like: signs for programs."""
_MAX_DEPTH = 60
"""Layouts nested deeper than this give their characters alone."""


def math_text(element: Any, depth: int = 0) -> str:
    """Return the linear form of a formula or a part of one; empty for none."""
    if element is None:
        return ""
    if depth > _MAX_DEPTH:
        return "".join(text.text or "" for text in element.iter(f"{MATH}t"))
    text, after = "", ""
    for child in element:
        if not isinstance(child.tag, str) or child.tag == _DELETED:
            continue
        name = child.tag.removeprefix(MATH)
        part = _child_text(child, name, depth + 1)
        # `1/z dz`, not `1/zdz`; and formulas in a row are apart.
        parted = (after == "f" and part[:1].isalnum()) or after == "oMath"
        text += f" {part}" if parted else part
        after = name if part else after
    return text


def _child_text(child: Any, name: str, depth: int) -> str:
    if child.tag in (f"{MATH}t", _WORD_TEXT, _DRAWING_TEXT):
        return (child.text or "").translate(_INVISIBLE)
    layout = _LAYOUTS.get(name)
    if layout is not None:
        return layout(child, depth)
    return "" if name.endswith("Pr") else math_text(child, depth)


def _part(element: Any, name: str, depth: int) -> str:
    return math_text(element.find(f"{MATH}{name}"), depth).strip()


def _group(text: str) -> str:
    """Put parentheses around what is more than one letter, number or name."""
    whole = text.isalnum() or len(text) <= 1 or _is_enclosed(text)
    return text if whole else f"({text})"


def _is_enclosed(text: str) -> bool:
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and index < len(text) - 1:
            return False
    return True


def _property(element: Any, block: str, name: str, default: str) -> str:
    found = element.find(f"{MATH}{block}/{MATH}{name}")
    return default if found is None else str(found.get(f"{MATH}val") or "")


def _fraction(element: Any, depth: int) -> str:
    top, bottom = _part(element, "num", depth), _part(element, "den", depth)
    if _property(element, "fPr", "type", "bar") == "noBar":
        return f"({top} ¦ {bottom})"
    return f"{_group(top)}/{_group(bottom)}"


def _radical(element: Any, depth: int) -> str:
    degree = _part(element, "deg", depth)
    root = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(degree, f"root[{degree}]")
    return root + f"({_part(element, 'e', depth)})"


def _scripted(element: Any, depth: int) -> str:
    base, below, above = (_part(element, name, depth) for name in ("e", "sub", "sup"))
    text = _group(base) if base else ""
    return text + (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")


def _prescript(element: Any, depth: int) -> str:
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    return f"_{_group(below)}^{_group(above)} {_part(element, 'e', depth)}"


def _n_ary(element: Any, depth: int) -> str:
    sign = _property(element, "naryPr", "chr", "∫")
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    text = sign + (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")
    return f"{text} {_part(element, 'e', depth)}"


def _delimited(element: Any, depth: int) -> str:
    start = _property(element, "dPr", "begChr", "(")
    end = _property(element, "dPr", "endChr", ")")
    between = _property(element, "dPr", "sepChr", "|")
    return start + between.join(math_text(part, depth).strip() for part in element.iterfind(f"{MATH}e")) + end


def _function(element: Any, depth: int) -> str:
    name, argument = _part(element, "fName", depth), _part(element, "e", depth)
    return f"{name} {argument}" if argument[:1].isalnum() else name + argument


def _limit(sign: str) -> Callable[[Any, int], str]:
    return lambda element, depth: f"{_part(element, 'e', depth)}{sign}{_group(_part(element, 'lim', depth))}"


def _accent(element: Any, depth: int) -> str:
    return _part(element, "e", depth) + _property(element, "accPr", "chr", "\u0302")


def _matrix(element: Any, depth: int) -> str:
    rows = (
        ", ".join(math_text(cell, depth).strip() for cell in row.iterfind(f"{MATH}e"))
        for row in element.iterfind(f"{MATH}mr")
    )
    return f"[{'; '.join(rows)}]"


def _equations(element: Any, depth: int) -> str:
    return "\n".join(math_text(part, depth).strip() for part in element.iterfind(f"{MATH}e"))


_LAYOUTS: dict[str, Callable[[Any, int], str]] = {
    "f": _fraction,
    "rad": _radical,
    "sSub": _scripted,
    "sSup": _scripted,
    "sSubSup": _scripted,
    "sPre": _prescript,
    "nary": _n_ary,
    "d": _delimited,
    "func": _function,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
    "acc": _accent,
    "m": _matrix,
    "eqArr": _equations,
}
