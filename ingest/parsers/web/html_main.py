"""Which part of a page is its content."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.parsers.web.html_dom import texts, walk

_FURNITURE = "header, footer, aside, [role=banner], [role=contentinfo], [role=complementary]"
_CONTENT = frozenset({"article", "section", "main", "blockquote", "td", "figure"})
_MAX_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class MainContent:
    """The part to read, and what has to be said about the rest."""

    root: LexborNode | None
    notes: tuple[str, ...] = ()


def main_content(tree: LexborHTMLParser) -> MainContent:
    """Prefer `<main>`, or else the only `<article>`, where it holds most of the page's text.

    Of another page, headers, footers and side columns that are mostly links are left out
    (the tree loses them); words that are not links are never dropped for where they stand.
    """
    body = tree.body or tree.root
    if body is None:
        return MainContent(None)
    for selector, name, share in (("main, [role=main]", "main", 2), ("article", "article", 3)):
        found = tree.css(selector)
        if len(found) == 1 and text_length(found[0]) * share >= text_length(body) * (share - 1):
            return MainContent(found[0], (f"only the {name} element was read",))
    dropped = _drop_furniture(tree, text_length(body))
    return MainContent(body, (f"{dropped} headers, footers or side columns of links were left out",) if dropped else ())


def text_length(node: LexborNode) -> int:
    """Count the characters of an element's readable text, white space apart."""
    return sum(len("".join(text.split())) for text in texts(node))


def _drop_furniture(tree: LexborHTMLParser, whole: int) -> int:
    dropped = 0
    for node in tree.css(_FURNITURE)[:_MAX_CANDIDATES]:
        length = 0 if _is_inside_content(node) else text_length(node)
        if 0 < length * 2 < whole and _linked_length(node) * 2 > length:
            node.decompose()
            dropped += 1
    return dropped


def _is_inside_content(node: LexborNode) -> bool:
    """Tell whether it belongs to an article or a section, or lies in furniture that is looked at as a whole."""
    parent = node.parent
    while parent is not None:
        if parent.tag in _CONTENT or parent.tag in ("header", "footer", "aside"):
            return True
        parent = parent.parent
    return False


def _linked_length(root: LexborNode) -> int:
    length = depth = 0
    for event, node in walk(root):
        if event == "text":
            length += len("".join((node.text_content or "").split())) if depth else 0
        elif node.tag == "a":
            depth += 1 if event == "enter" else -1
    return length
