"""An HTML tree and its walk: with a stack, never by recursion, because nesting depth is the author's choice.

One walk serves blocks, table cells and text counts, so that all of them leave out the same elements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.errors import CorruptDocumentError

# fmt: off
SKIPPED = frozenset({
    "script", "style", "nav", "noscript", "noframes", "template", "svg", "head", "title", "iframe", "object", "embed",
    "canvas", "audio", "video", "button", "select", "textarea", "input", "dialog", "datalist", "annotation",
    "annotation-xml", "rt", "rp",
})
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
    "legend", "li", "main", "menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})
_MAY_STAY_OPEN = frozenset({
    "p", "li", "dt", "dd", "td", "th", "tr", "option", "br", "img", "hr", "input", "meta", "link",
})
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})
# fmt: on
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CELLS = frozenset({"td", "th"})
_TAGS = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_MAX_DEPTH = 5000
_MAX_ALTERNATIVE = 1000
"""Characters of a picture's description that are kept."""
_SIGNS = frozenset("-+\u2212")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_XHTML = re.compile(r"\s*<\?xml|xmlns\s*=\s*[\"']http://www\.w3\.org/1999/xhtml", re.I)
_EMPTY_ELEMENT = re.compile(r"<([A-Za-z][\w:-]*)(\s[^<>]*)?/>")

Event = tuple[Literal["enter", "leave", "text"], LexborNode]


def read_tree(markup: str, display_name: str) -> LexborHTMLParser:
    """Parse a page or a fragment.

    Raises:
        CorruptDocumentError: more elements left open than any page has, or no tree could be built.
    """
    _refuse_deep_nesting(markup, display_name)
    if _XHTML.search(markup[:2000]):
        markup = _EMPTY_ELEMENT.sub(_close, markup)
    try:
        return LexborHTMLParser(markup)
    except (ValueError, RuntimeError) as exc:
        raise CorruptDocumentError(f"{display_name}: the HTML cannot be parsed") from exc


def _close(match: re.Match[str]) -> str:
    """XHTML may write any element as `<a/>`; read as HTML, such a `title` swallows the page."""
    name = match.group(1)
    return match.group() if name.lower() in _VOID else f"<{name}{match.group(2) or ''}></{name}>"


def _refuse_deep_nesting(markup: str, display_name: str) -> None:
    """Lexbor's time grows with the square of the nesting depth: 100,000 open elements took it six minutes."""
    depth: Counter[str] = Counter()
    for match in _TAGS.finditer(markup):
        closing, name = match.groups()
        tag = name.lower()
        if tag in _MAY_STAY_OPEN:
            continue
        depth[tag] += -1 if closing else 1
        if depth[tag] > _MAX_DEPTH:
            raise CorruptDocumentError(f"{display_name}: more than {_MAX_DEPTH} <{tag}> elements are left open")


def walk(root: LexborNode) -> Iterator[Event]:
    """Yield the readable part of a tree in document order; skipped and hidden elements are not entered."""
    stack: list[Event] = [("enter", root)]
    while stack:
        event, node = stack.pop()
        if event == "leave":
            yield event, node
        elif node.is_text_node:
            yield "text", node
        elif node.is_element_node and not is_skipped(node):
            yield "enter", node
            stack.append(("leave", node))
            children: list[Event] = [("enter", child) for child in node.iter(include_text=True)]
            stack.extend(reversed(children))


def is_skipped(node: LexborNode) -> bool:
    """Tell whether an element is no text of the page: scripts, navigation, form controls, hidden elements."""
    if node.tag in SKIPPED:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or (attributes.get("style") is not None and _HIDDEN.search(attributes["style"] or "") is not None)
    )


def texts(root: LexborNode) -> Iterator[str]:
    """Yield the text nodes of the readable part."""
    for event, node in walk(root):
        if event == "text":
            yield node.text_content or ""


def inline_mark(node: LexborNode, before: str) -> str:
    """Return what an element that begins here adds to the text around it.

    A raised figure keeps its distance: 10⁶ is not 106, a note's number no part of the word before it.

    Args:
        node: the element.
        before: the text that stands before it.
    """
    tag = node.tag
    if tag == "br":
        return "\n"
    if tag == "img":
        alternative = (node.attributes.get("alt") or "").strip()
        is_text = alternative and not alternative.startswith("data:")
        return f" {alternative[:_MAX_ALTERNATIVE]} " if is_text else ""
    if tag == "sup" and before[-1:].isalnum():
        raised = next(texts(node), "").strip()
        if raised[:1].isdigit() or (raised[:1] in _SIGNS and raised[1:2].isdigit()):
            return " " if node.css_first("a") is not None else "^"
    return ""
