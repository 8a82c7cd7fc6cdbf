"""Which part of a page is its content."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.parsers.html_dom import texts


@dataclass(frozen=True, slots=True)
class MainContent:
    """The part to read, and what has to be said about the rest."""

    root: LexborNode | None
    notes: tuple[str, ...] = ()


def main_content(tree: LexborHTMLParser) -> MainContent:
    """Prefer `<main>` where it holds most of the page's text; a page without one is read whole."""
    body = tree.body or tree.root
    if body is None:
        return MainContent(None)
    candidates = tree.css("main, [role=main]")
    if len(candidates) == 1 and text_length(candidates[0]) * 2 >= text_length(body):
        return MainContent(candidates[0], ("only the main element was read",))
    return MainContent(body)


def text_length(node: LexborNode) -> int:
    """Count the characters of an element's readable text."""
    return sum(len(text) for text in texts(node))
