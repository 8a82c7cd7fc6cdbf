"""Comments on slides, of the classic and of the threaded kind, as marked paragraphs."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.parsers.office.drawing_text import Element, body_text
from ingest.parsers.office.office_comments import marked_comment

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_P188 = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
COMMENT_RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments",
    "http://schemas.microsoft.com/office/2018/10/relationships/comments",
)
AUTHOR_RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/commentAuthors",
    "http://schemas.microsoft.com/office/2018/10/relationships/authors",
)


def author_names(root: Element) -> dict[str, str]:
    """Return names by id from either kind of author list."""
    found = [*root.iter(f"{_P}cmAuthor"), *root.iter(f"{_P188}author")]
    return {str(author.get("id")): " ".join(str(author.get("name") or "").split()) for author in found}


def comment_texts(root: Element, authors: dict[str, str]) -> Iterator[str]:
    """Yield `Comment by NAME (date): …` for each comment and reply in order."""
    for comment in root.iter(f"{_P}cm", f"{_P188}cm", f"{_P188}reply"):
        text = comment.findtext(f"{_P}text") or body_text(comment.find(f"{_P188}txBody"), " ")
        name = authors.get(str(comment.get("authorId")), "")
        if text.strip():
            yield marked_comment(name, text, str(comment.get("dt") or comment.get("created") or ""))
