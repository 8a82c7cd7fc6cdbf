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
        """Tell that so many pages are read, skipped ones too; 0 before the first.

        The limit per page counts from one call to the next. Until all are done, page
        `pages_done + 1` is the one at work: a crash or hang then costs that page alone.
        """
        ...

    def skips(self, page_number: int) -> bool:
        """Tell whether to leave this page (1-based) unread: it brought the parser down before."""
        ...

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Hand on a document found inside, piece by piece; False when the caller does not want it.

        Raises:
            DocumentTooLargeError: too many of them, or too many bytes.
        """
        ...


class QuietSession:
    """A session that keeps nothing: for parsing in this process, without attachments."""

    def __init__(self, password: str | None = None, skip_pages: frozenset[int] = frozenset()) -> None:
        self._password = password
        self._skip_pages = skip_pages

    @property
    def password(self) -> str | None:
        """The password given, if any."""
        return self._password

    def page_done(self, pages_done: int, pages_total: int | None) -> None:
        """Take no notice."""

    def skips(self, page_number: int) -> bool:
        """Tell whether the page is one of those to leave out."""
        return page_number in self._skip_pages

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Refuse it."""
        return False


QUIET = QuietSession()
