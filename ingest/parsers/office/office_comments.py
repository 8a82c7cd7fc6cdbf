"""How a reader's comment stands in the text, the same for all Office formats."""

from __future__ import annotations

import re


def marked_comment(name: str, text: str, at: str = "") -> str:
    """Return a comment marked so that it is not taken for the document's own words.

    `at` is an ISO time, of which the date is kept.
    """
    date = at[:10] if re.match(r"\d{4}-\d\d-\d\d", at) else ""
    who = (f" by {name}" if name else "") + (f" ({date})" if date else "")
    return f"Comment{who}: {' '.join(text.split())}"
