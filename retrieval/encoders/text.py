"""Text as every model takes it."""

from __future__ import annotations


def readable(text: str) -> str:
    """Replace what tokenizers written in C and Rust refuse or misread.

    NUL would end the text in C; a lone surrogate has no UTF-8 form.
    """
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
