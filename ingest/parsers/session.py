"""What a parser is given beside the file: a password, and where its pages and attachments go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class ParseSession(Protocol):
    """One document's parse, seen from the parser."""

    @property
    def password(self) -> str | None:
        """Opens an encrypted document; None where the uploader gave none."""
        ...

    def page_done(self, pages_done: int, pages_total: int | None) -> None:
        """Tell that so many pages are read. The limit per page counts from one call to the next."""
        ...

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Hand on a document found inside, piece by piece; False when the caller does not want it."""
        ...


class QuietSession:
    """A session that keeps nothing: for parsing in this process, without attachments."""

    def __init__(self, password: str | None = None) -> None:
        self._password = password

    @property
    def password(self) -> str | None:
        """The password given, if any."""
        return self._password

    def page_done(self, pages_done: int, pages_total: int | None) -> None:
        """Take no notice."""

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Refuse it."""
        return False


QUIET = QuietSession()
