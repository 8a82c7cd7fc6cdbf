"""What a slide's placeholders take from layout and master: where they stand, and their bullets.

ECMA-376 part 1, 19.3.1.36 and 21.1.2.4: a property that a shape leaves out is its
layout placeholder's, then its master placeholder's, then that of the master's text styles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.parsers.office.docx_numbering import format_number
from ingest.parsers.office.drawing_text import A, Element
from ingest.parsers.office.reading_order import Rectangle

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
TITLES = frozenset({"title", "ctrTitle"})
_MASTER_TYPE = {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}
_AUTO_FORMATS = (
    ("arabic", "decimal"),
    ("alphaLc", "lowerLetter"),
    ("alphaUc", "upperLetter"),
    ("romanLc", "lowerRoman"),
    ("romanUc", "upperRoman"),
    ("ea1Chs", "chineseCounting"),
    ("ea1Cht", "taiwaneseCounting"),
    ("ea1Jpn", "japaneseCounting"),
    ("circleNum", "decimalEnclosedCircle"),
)
_NAMELESS = ("nvSpPr", "nvPicPr", "nvGraphicFramePr", "nvCxnSpPr", "nvGrpSpPr")


def placeholder(shape: Element) -> Element | None:
    """Return the `p:ph` of a shape; None where it is no placeholder."""
    for name in _NAMELESS:
        found = shape.find(f"{P}{name}/{P}nvPr/{P}ph")
        if found is not None:
            return found
    return None


def placeholder_type(shape: Element) -> str | None:
    """Return the type of placeholder a shape is, `obj` where it names none; None for other shapes."""
    found = placeholder(shape)
    return None if found is None else str(found.get("type") or "obj")


@dataclass
class Inheritance:
    """Looks shapes of one layout up; made once per layout."""

    layout: dict[str, Element] = field(default_factory=dict[str, Element])
    """Placeholders of the layout by their index."""
    master: dict[str, Element] = field(default_factory=dict[str, Element])
    """Placeholders of the master by their type."""
    styles: Element | None = None

    @classmethod
    def of(cls, layout: Element, master: Element) -> Inheritance:
        """Read the placeholders of a layout and its master."""
        inheritance = cls(styles=master.find(f"{P}txStyles"))
        for shape in layout.iter(f"{P}sp", f"{P}pic", f"{P}graphicFrame"):
            found = placeholder(shape)
            if found is not None:
                inheritance.layout.setdefault(_index(found), shape)
        for shape in master.iter(f"{P}sp"):
            found = placeholder(shape)
            if found is not None:
                inheritance.master.setdefault(str(found.get("type") or "body"), shape)
        return inheritance

    def box(self, shape: Element) -> Rectangle | None:
        """Return where a shape stands; None where neither it nor what it inherits from says so."""
        for one in self._chain(shape):
            transform = one.find(f"{P}spPr/{A}xfrm")
            if transform is None:
                transform = one.find(f"{P}xfrm")
            if transform is None:
                transform = one.find(f"{P}grpSpPr/{A}xfrm")
            offset = None if transform is None else transform.find(f"{A}off")
            extent = None if transform is None else transform.find(f"{A}ext")
            if offset is not None and extent is not None:
                left, top = _number(offset.get("x")), _number(offset.get("y"))
                return left, top, left + _number(extent.get("cx")), top + _number(extent.get("cy"))
        return None

    def bullet(self, shape: Element, paragraph: Element, level: int) -> Element | None:
        """Return the bullet element (`a:buChar`, `a:buAutoNum`, `a:buBlip`) of a paragraph; None without a bullet."""
        for properties in self._paragraph_chain(shape, paragraph, level):
            for child in properties:
                if child.tag == f"{A}buNone":
                    return None
                if child.tag in (f"{A}buChar", f"{A}buAutoNum", f"{A}buBlip"):
                    return child
        return None

    def _paragraph_chain(self, shape: Element, paragraph: Element, level: int) -> Iterator[Element]:
        name = f"{A}lvl{level + 1}pPr"
        own = paragraph.find(f"{A}pPr")
        if own is not None:
            yield own
        for one in self._chain(shape):
            style = one.find(f"{P}txBody/{A}lstStyle/{name}")
            if style is not None:
                yield style
        if self.styles is not None:
            kind = placeholder_type(shape)
            styles = "otherStyle" if kind is None else "titleStyle" if kind in TITLES else "bodyStyle"
            style = self.styles.find(f"{P}{styles}/{name}")
            if style is not None:
                yield style

    def _chain(self, shape: Element) -> Iterator[Element]:
        yield shape
        found = placeholder(shape)
        if found is None:
            return
        inherited = self.layout.get(_index(found))
        if inherited is not None:
            yield inherited
            found = placeholder(inherited)
        kind = "" if found is None else str(found.get("type") or "")
        general = self.master.get(kind)
        if general is None:
            general = self.master.get(_MASTER_TYPE.get(kind, ""))
        if general is not None:
            yield general


class AutoNumbers:
    """Counts the automatic numbers of one text body."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[str, int]] = {}

    def marker(self, bullet: Element | None, level: int) -> str:
        """Count one paragraph; return `-` for bullets, a number such as `2.`, empty without a bullet."""
        for deeper in [one for one in self._counts if one > level]:
            del self._counts[deeper]
        if bullet is None or bullet.tag != f"{A}buAutoNum":
            self._counts.pop(level, None)
            return "" if bullet is None else "-"
        kind = str(bullet.get("type") or "arabicPeriod")
        former, count = self._counts.get(level, ("", 0))
        count = count + 1 if former == kind else max(1, min(_number(bullet.get("startAt") or "1"), 32767))
        self._counts[level] = (kind, count)
        number = format_number(count, next((name for start, name in _AUTO_FORMATS if kind.startswith(start)), ""))
        if kind.endswith("ParenBoth"):
            return f"({number})"
        if kind.endswith("ParenR"):
            return f"{number})"
        if kind.startswith("ea1") and kind.endswith("Period"):
            return f"{number}、"
        return number if kind.endswith("Plain") else f"{number}."


def _index(found: Element) -> str:
    """Title placeholders carry no index; others are told apart by it."""
    kind = str(found.get("type") or "")
    return "title" if kind in TITLES else str(found.get("idx") or f"type:{kind}")


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0
