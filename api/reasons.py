"""What counts as a reason for seeing or erasing secrets."""

from __future__ import annotations

from ingest.naming import without_unseen


def says_something(reason: str) -> str:
    """Return a reason in which somebody can read a letter or a digit.

    Raises:
        ValueError: there is none; blanks, marks and characters that nobody sees are no reason.
    """
    if not any(char.isalnum() for char in without_unseen(reason)):
        raise ValueError("say why, in words; it is logged")
    return reason
