"""Streamed text without the white space around it."""

from __future__ import annotations


class TrimmedText:
    """Takes text piece by piece and gives it back without what is blank at its two ends; holds only blanks."""

    def __init__(self) -> None:
        self.begun = False
        """True once there was a visible character."""
        self._blank = ""

    def feed(self, text: str) -> str:
        """Return the text that is certain: blanks wait for the visible character that follows them."""
        visible = text.rstrip() if self.begun else text.strip()
        if not visible:
            self._blank += text if self.begun else ""
            return ""
        shown = self._blank + visible
        self.begun = True
        self._blank = text[len(text.rstrip()) :]
        return shown
